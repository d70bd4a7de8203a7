#include "scan/files.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::scan {
namespace {

using experiments::CodeResult;

Scan scan_with(const std::vector<experiments::CodeCheck>& checks) {
    Scan scan;
    Record record{.id = "clock", .status = Status::done};
    record.outcome.code_checks = checks;
    scan.records.push_back(record);
    return scan;
}

TEST(ScanFilesTest, CodeChecksAreKept) {
    const std::vector<experiments::CodeCheck> checks{
        {"spin", CodeResult::passed, "a loop that reads the clock", "1 of 1 loops", ""},
        {"chain", CodeResult::failed, "128 x FADD", "nothing", "  0000  EXIT\n"},
        {"chase", CodeResult::unavailable, "8 x LDG", "the device has no machine code", ""},
    };
    const auto read = scan_from_json(to_json(scan_with(checks)), "scan.json").records.at(0).outcome.code_checks;
    ASSERT_EQ(read.size(), checks.size());
    for (std::size_t i = 0; i < checks.size(); ++i) {
        EXPECT_EQ(read[i].kernel, checks[i].kernel);
        EXPECT_EQ(read[i].result, checks[i].result);
        EXPECT_EQ(read[i].expected, checks[i].expected);
        EXPECT_EQ(read[i].found, checks[i].found);
        EXPECT_EQ(read[i].listing, checks[i].listing);
    }
}

TEST(ScanFilesTest, AResultThatIsNoneIsRefused) {
    auto text = to_json(scan_with({{"spin", CodeResult::passed, "", "", ""}}));
    text.replace(text.find("\"passed\""), 8, "\"perhaps\"");
    try {
        static_cast<void>(scan_from_json(text, "scan.json"));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr("scan.json: result"), ::testing::HasSubstr("perhaps"),
                                                   ::testing::HasSubstr("passed, failed or unavailable")));
    }
}

}  // namespace
}  // namespace gputomo::scan
