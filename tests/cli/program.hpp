// Runs the gputomo executable as a user does.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace gputomo::cli::testing {

struct How {
    std::string interrupt_at;  ///< the signal is sent as soon as stderr has this text
    std::string out;           ///< where stdout goes; empty for Ran::out
    int signal = SIGINT;
    std::size_t file_limit = 0;  ///< most bytes that a file can have, as if the disk were full; 0: no limit
};

struct Ran {
    int code = -1;  ///< 128 + signal where one ended it
    std::string out;
    std::string err;
};

/// A test with a folder of its own, in which the program runs.
class ProgramTest : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    /// Runs the program and waits for its end.
    [[nodiscard]] Ran run(std::vector<std::string> arguments, const How& how = {}) const;

    /// The absolute path of a file of the source tree.
    [[nodiscard]] static std::string source(const std::string& path) {
        return std::string(GPUTOMO_SOURCE_DIR) + "/" + path;
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
    void write(const std::string& name, const std::string& content) const;
    [[nodiscard]] std::string read(const std::string& name) const;
    [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

private:
    std::filesystem::path folder_;
};

}  // namespace gputomo::cli::testing
