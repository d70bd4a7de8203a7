#include "cli/inputs/machine_code.hpp"

#include "capture/decompress.hpp"
#include "capture/fatbin.hpp"
#include "files/output_file.hpp"
#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>

#include <elf.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

using capture::FatbinMember;

constexpr std::size_t kLargestCode = std::size_t{64} << 20;

/// A program or library begins as a cubin does: both are ELF. What it says of its machine is at byte 18 (elf(5)).
void refuse_host_program(std::string_view content, const std::string& file) {
    if (!sass::is_cubin(content) || content.size() < sizeof(Elf64_Ehdr)) return;
    Elf64_Ehdr header{};
    std::memcpy(&header, content.data(), sizeof(header));
    if (header.e_machine == EM_CUDA || header.e_machine == EM_NONE) return;
    throw InputError(fmt::format(
        "{}: is a program or library for a CPU; expected a PTX file, a cubin or a fatbin. `gputomo capture` "
        "records the kernels that a program launches, and `cuobjdump -xelf all` extracts cubins",
        file));
}

/// Machine code where it can be executed, or else the newest PTX: simulated GPUs execute PTX for any target.
std::optional<FatbinMember> best_member(std::span<const FatbinMember> all, int sm, bool takes_machine_code) {
    constexpr int kAnyTarget = std::numeric_limits<int>::max();
    for (const auto& member : capture::candidates(all, sm))
        if (takes_machine_code && member.kind == FatbinMember::Kind::cubin) return member;
    for (const auto& member : capture::candidates(all, kAnyTarget))
        if (member.kind == FatbinMember::Kind::ptx) return member;
    return std::nullopt;
}

/// PTX in a fatbin ends with a NUL.
std::string code_of(const FatbinMember& member) {
    auto code = capture::payload(member);
    if (member.kind == FatbinMember::Kind::ptx) code.resize(std::min(code.size(), code.find('\0')));
    return code;
}

/// "machine code for sm_80 and sm_90a, and PTX for sm_90", for messages.
std::string contents_of(const std::vector<FatbinMember>& all) {
    std::string text;
    for (const auto& member : all)
        if (member.kind != FatbinMember::Kind::other)
            text += fmt::format("{}{} for sm_{}", text.empty() ? "" : ", ",
                                member.kind == FatbinMember::Kind::ptx ? "PTX" : "machine code", member.sm);
    return text.empty() ? "no code" : text;
}

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

bool is_machine_code_file(const std::string& file) {
    if (!std::filesystem::is_regular_file(file)) return false;  // a pipe can be read only once
    std::ifstream stream(file, std::ios::binary);
    std::array<char, 4> begin{};
    stream.read(begin.data(), begin.size());
    const auto kind = capture::image_kind(std::as_bytes(std::span(begin)));
    return kind == capture::ImageKind::cubin || kind == capture::ImageKind::fatbin;
}

FileCode read_code(const std::string& file, int sm, CodeWish wish) {
    auto content = read_file(file, "a PTX file, a cubin or a fatbin", kLargestCode);
    refuse_host_program(content, file);
    const auto bytes = std::as_bytes(std::span(content));
    if (bytes.size() < 4 || capture::image_kind(bytes.first(4)) != capture::ImageKind::fatbin)
        return {std::move(content), false};
    try {
        const auto all = capture::members(bytes);
        const bool takes_machine_code = sim::machine_code::executes(sm) && wish == CodeWish::any;
        if (const auto best = best_member(all, sm, takes_machine_code)) return {code_of(*best), true};
        throw InputError(
            fmt::format("is a fatbin with {}; expected {}PTX. Choose another GPU, or compile the kernel "
                        "for this one",
                        contents_of(all), takes_machine_code ? fmt::format("machine code for sm_{} or ", sm) : ""));
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", file, e.what()));
    }
}

std::string compile_ptx(const PtxSource& source, int sm, const std::string& what, const std::string& otherwise) {
    const auto& file = source.file;
    const std::string compiler = compiler_on_path();
    if (compiler.empty())
        throw InputError(
            fmt::format("{}: {} is PTX, and there is no ptxas on the PATH to compile it: {}", what, file, otherwise));
    const TemporaryFolder folder;
    const auto cubin = folder.path() / "code.cubin";
    const auto extracted = folder.path() / "code.ptx";
    if (!source.extracted.empty()) files::write_whole(extracted, source.extracted);
    // Code for one architecture only, such as Triton's for sm_90a, is refused for the plain one.
    const std::string suffix = source.target_sm == sm ? source.target_suffix : "";
    const auto ended = run_program({compiler, fmt::format("-arch=sm_{}{}", sm, suffix),
                                    source.extracted.empty() ? file : extracted.string(), "-o", cubin.string()});
    if (ended.status != 0) throw InputError(fmt::format("{}: {} refuses it:\n{}", file, compiler, ended.output));
    return read_file(cubin, "a cubin");
}

}  // namespace gputomo::cli
