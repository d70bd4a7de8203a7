#include "cli/terminal/ending.hpp"

#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <typeinfo>
#include <vector>

namespace gputomo::cli {
namespace {

using scan::Status;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

scan::Scan ended(const std::vector<Status>& statuses) {
    scan::Scan scan;
    for (const auto status : statuses) {
        auto& record = scan.records.emplace_back();
        record.id = std::string("e") + std::to_string(scan.records.size());
        record.status = status;
        if (status != Status::done) record.error = "why";
    }
    return scan;
}

/// The error is of this very type: exit codes follow from it, and DeviceError is an Error too.
template <class E>
void expect_throw(const std::vector<Status>& statuses, const char* id) {
    try {
        throw_unless_done(ended(statuses), "stopped");
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(typeid(error), typeid(E)) << error.what();
        EXPECT_THAT(error.what(), AllOf(HasSubstr(id), HasSubstr("why")));
    }
}

TEST(Ending, AFinishedScanThrowsNothing) {
    EXPECT_NO_THROW(throw_unless_done(ended({}), ""));
    EXPECT_NO_THROW(throw_unless_done(ended({Status::done, Status::done}), ""));
}

TEST(Ending, TheFirstFailureDecidesTheError) {
    expect_throw<TimeLimitError>({Status::done, Status::timed_out, Status::skipped, Status::device_failed}, "e2");
    expect_throw<DeviceError>({Status::device_failed, Status::timed_out}, "e1");
}

TEST(Ending, AFailedExperimentIsNoDeviceFailure) {
    expect_throw<Error>({Status::failed, Status::device_failed}, "e1");
    expect_throw<Error>({Status::failed}, "e1");
}

TEST(Ending, AnInterruptTakesPrecedenceOverAFailure) {
    EXPECT_THAT(
        [] {
            throw_unless_done(ended({Status::device_failed, Status::interrupted}), "stopped");
        },
        ThrowsMessage<Interrupted>(HasSubstr("stopped")));
}

}  // namespace
}  // namespace gputomo::cli
