#include "files/growing_file.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace gputomo::files {
namespace {

std::filesystem::path growing_path(const std::string& name) {
    return std::filesystem::path(testing::TempDir()) / ("growing-" + name);
}

TEST(GrowingFile, IsThereWhenItIsWhole) {
    const auto file = growing_path("whole");
    GrowingFile growing(file);
    growing.stream() << "all of it";
    growing.finish();
    EXPECT_EQ(read_file(file.string(), "a file"), "all of it");
    std::filesystem::remove(file);
}

TEST(GrowingFile, IsRemovedWhereWritingItEndsEarly) {
    const auto file = growing_path("cut");
    {
        GrowingFile growing(file);
        growing.stream() << "a part";
    }
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(GrowingFile, SaysThatItCouldNotBeWritten) {
    GrowingFile full("/dev/full");
    full.stream() << std::string(100'000, 'x');
    try {
        full.finish();
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("/dev/full: could not be written"));
    }
    EXPECT_THROW(GrowingFile(growing_path("none") / "file").finish(), Error);
}

}  // namespace
}  // namespace gputomo::files
