#include "cli/inputs/machine_code.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
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

/// Runs a program with its output in a file; returns its exit status.
int run_program(const std::vector<std::string>& command, const std::filesystem::path& output) {
    std::vector<char*> arguments;
    for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child < 0) throw Error(fmt::format("{}: cannot be started: {}", command.front(), std::strerror(errno)));
    if (child == 0) {
        const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0)
            execv(arguments.front(), arguments.data());
        _exit(127);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw Error(fmt::format("{}: {}", command.front(), std::strerror(errno)));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

std::string compile_ptx(const std::string& file, int sm) {
    const std::string compiler = compiler_on_path();
    if (compiler.empty())
        throw InputError(
            fmt::format("--code sass: {} is PTX, and there is no ptxas on the PATH to compile it. Give a "
                        "cubin for sm_{}, install the CUDA toolkit, or use --code ptx",
                        file, sm));
    const TemporaryFolder folder;
    const auto cubin = folder.path() / "code.cubin", messages = folder.path() / "messages";
    if (run_program({compiler, fmt::format("-arch=sm_{}", sm), file, "-o", cubin.string()}, messages) != 0)
        throw InputError(fmt::format("{}: {} refuses it:\n{}", file, compiler, read_file(messages, "messages")));
    return read_file(cubin, "a cubin");
}

}  // namespace gputomo::cli
