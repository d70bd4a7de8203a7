#include "cli/inputs/machine_code.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

namespace gputomo::cli {
namespace {

/// A folder of its own that goes with the object.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "gputomo-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr)
            throw Error(fmt::format("{}: cannot be made: {}", pattern, std::strerror(errno)));
        path_ = pattern;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

std::string compiler_on_path() {
    const char* const path = std::getenv("PATH");
    std::stringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const auto file = std::filesystem::path(folder.empty() ? "." : folder) / "ptxas";
        if (access(file.c_str(), X_OK) == 0) return file.string();
    }
    return {};
}

struct Ended {
    int status = 0;      ///< 128 where a signal ended the program
    std::string output;  ///< what it printed, also as errors
};

std::string all_from(int handle) {
    std::string text;
    std::array<char, 4096> part{};
    for (;;) {
        const auto size = read(handle, part.data(), part.size());
        if (size > 0) text.append(part.data(), static_cast<std::size_t>(size));
        if (size == 0 || (size < 0 && errno != EINTR)) return text;
    }
}

Ended run_program(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Error(fmt::format("{}: cannot be started: {}", command.front(), std::strerror(errno)));
    const pid_t child = fork();
    const int error = errno;
    if (child == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0 && dup2(ends[1], STDERR_FILENO) >= 0)
            execv(arguments.front(), arguments.data());
        _exit(127);
    }
    close(ends[1]);
    Ended ended{.output = child > 0 ? all_from(ends[0]) : std::string()};
    close(ends[0]);
    if (child < 0) throw Error(fmt::format("{}: cannot be started: {}", command.front(), std::strerror(error)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw Error(fmt::format("{}: {}", command.front(), std::strerror(errno)));
    ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    return ended;
}

}  // namespace

std::string compile_ptx(const std::string& file, int sm, const std::string& what, const std::string& otherwise) {
    const std::string compiler = compiler_on_path();
    if (compiler.empty())
        throw InputError(
            fmt::format("{}: {} is PTX, and there is no ptxas on the PATH to compile it: {}", what, file, otherwise));
    const TemporaryFolder folder;
    const auto cubin = folder.path() / "code.cubin";
    const auto ended = run_program({compiler, fmt::format("-arch=sm_{}", sm), file, "-o", cubin.string()});
    if (ended.status != 0) throw InputError(fmt::format("{}: {} refuses it:\n{}", file, compiler, ended.output));
    return read_file(cubin, "a cubin");
}

}  // namespace gputomo::cli
