#include "results/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>

namespace gputomo::results {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Trace two_columns() {
    Trace trace{.name = "caches/near", .experiment = "caches"};
    trace.columns = {{"size", "bytes"}, {"latency", "cycles"}};
    return trace;
}

TEST(Trace, AddsEachNumberOfARowToItsColumn) {
    auto trace = two_columns();
    trace.add_row(std::uint64_t{1024}, 32.5);
    trace.add_row(2048, 33);
    trace.add_row(std::array{4096.0, 34.0});
    EXPECT_THAT(trace.columns[0].values, ElementsAre(1024, 2048, 4096));
    EXPECT_THAT(trace.columns[1].values, ElementsAre(32.5, 33, 34));
}

TEST(Trace, RefusesARowOfAnotherLengthAndStaysAsItWas) {
    auto trace = two_columns();
    EXPECT_THAT([&] { trace.add_row(1024); },
                ThrowsMessage<std::logic_error>(AllOf(HasSubstr("caches/near"), HasSubstr("1"), HasSubstr("2"))));
    EXPECT_THROW(trace.add_row(1, 2, 3), std::logic_error);
    EXPECT_TRUE(trace.columns[0].values.empty());
}

TEST(Trace, FindsAColumnByItsName) {
    const auto trace = two_columns();
    EXPECT_EQ(trace.column("latency"), &trace.columns[1]);
    EXPECT_EQ(trace.column("lateness"), nullptr);
}

}  // namespace
}  // namespace gputomo::results
