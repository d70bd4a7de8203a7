// Kernels chosen by name.
#include "capture/name_filter.hpp"

#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::capture {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(NameFilter, MatchesAnExpressionAnywhereInAName) {
    const NameFilter filter("--kernel", "gemm|^(scan|sort)_[0-9]+$");
    EXPECT_TRUE(filter.matches("ampere_sgemm_128x64_tn"));
    EXPECT_TRUE(filter.matches("sort_12"));
    EXPECT_FALSE(filter.matches("radix_sort_12"));
    EXPECT_FALSE(filter.matches("sort_"));
    EXPECT_FALSE(filter.matches(""));
}

TEST(NameFilter, MatchesAllNamesWithAnEmptyExpression) {
    const NameFilter filter("--kernel", "");
    EXPECT_TRUE(filter.matches("sort_12"));
    EXPECT_TRUE(filter.matches(""));
}

TEST(NameFilter, NamesTheOptionAndTheExpressionThatIsNone) {
    try {
        const NameFilter filter("--kernel", "gemm(");
        FAIL() << "expected an error";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(),
                    AllOf(StartsWith("--kernel gemm(: "), HasSubstr("expected a POSIX extended regular expression")));
    }
}

}  // namespace
}  // namespace gputomo::capture
