#include "capture/record.hpp"

#include "capture/assemble.hpp"
#include "capture/folder.hpp"
#include "capture/library.hpp"
#include "capture/name_filter.hpp"
#include "files/output_file.hpp"
#include "units/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace gputomo::capture {
namespace {

namespace fs = std::filesystem;

/// What a shell returns for a program that cannot be started; the child cannot throw.
constexpr int kCannotStart = 127;
/// A shell adds the number of the signal that ended a program to this. Codes above those, such as that of exit(-1), are
/// the program's own.
constexpr int kEndedBySignal = 128, kLastSignal = 64;

/// A place for the library. The loader splits its list of libraries at spaces and colons, so the path has neither.
std::string library_folder() {
    const char* const chosen = std::getenv("TMPDIR");
    const std::string folder = chosen == nullptr || *chosen == '\0' ? "/tmp" : chosen;
    return (folder.find_first_of(" :") == std::string::npos ? folder : "/tmp") + "/gputomo-";
}

void set_environment(const Options& options, const fs::path& library, const fs::path& journals) {
    const char* const before = std::getenv("LD_PRELOAD");
    const std::string preloaded =
        library.string() + (before == nullptr || *before == '\0' ? "" : ":" + std::string(before));
    setenv("LD_PRELOAD", preloaded.c_str(), 1);
    setenv(kFolderVariable, journals.c_str(), 1);
    setenv(kMemoryVariable, std::to_string(options.memory).c_str(), 1);
    setenv(kLaunchesVariable, fmt::format("{}:{}", options.launches.first, options.launches.count).c_str(), 1);
    if (options.results)
        setenv(kResultsVariable, "1", 1);
    else
        unsetenv(kResultsVariable);
    if (options.kernels.empty())
        unsetenv(kKernelVariable);
    else
        setenv(kKernelVariable, options.kernels.c_str(), 1);
}

pid_t running = 0;
volatile std::sig_atomic_t asked_to_end = 0;

void note(int /*signal*/) { asked_to_end = 1; }

void pass_on(int signal) {
    asked_to_end = 1;
    if (running > 0) kill(running, signal);
}

/// While one exists, the program alone decides what Ctrl-C does: the terminal sends it to both, and what was recorded
/// has to be written in any case. A request to end goes on to the program.
class SignalsGoToProgram {
public:
    SignalsGoToProgram() {
        asked_to_end = 0;
        interrupt_ = std::signal(SIGINT, note);
        quit_ = std::signal(SIGQUIT, note);
        terminate_ = std::signal(SIGTERM, pass_on);
    }
    ~SignalsGoToProgram() {
        std::signal(SIGINT, interrupt_);
        std::signal(SIGQUIT, quit_);
        std::signal(SIGTERM, terminate_);
    }
    SignalsGoToProgram(const SignalsGoToProgram&) = delete;
    SignalsGoToProgram& operator=(const SignalsGoToProgram&) = delete;

private:
    using Handler = void (*)(int);
    Handler interrupt_, quit_, terminate_;
};

/// Starts the program and waits for it. As long as `signals` then exists, signals go to the program: a second Ctrl-C
/// must not end the command before it has written what was recorded. Throws InputError when the program cannot be
/// started.
int run(const Options& options, const fs::path& library, const fs::path& journals,
        std::optional<SignalsGoToProgram>& signals) {
    std::vector<char*> arguments;
    for (const auto& argument : options.command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    std::array<int, 2> report{};  // the child sends errno when it cannot start the program
    if (pipe2(report.data(), O_CLOEXEC) != 0) throw Error(fmt::format("pipe: {}", std::strerror(errno)));
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw Error(fmt::format("fork: {}", std::strerror(errno)));
    if (child == 0) {
        set_environment(options, library, journals);
        execvp(arguments[0], arguments.data());
        const int reason = errno;
        const auto sent = write(report[1], &reason, sizeof(reason));
        _exit(sent == sizeof(reason) ? kCannotStart : kCannotStart - 1);
    }
    running = child;
    signals.emplace();
    close(report[1]);
    int reason = 0;
    const bool failed = read(report[0], &reason, sizeof(reason)) == sizeof(reason);
    close(report[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    running = 0;
    if (failed)
        throw InputError(fmt::format("{}: {}; expected a program that can be started", options.command.front(),
                                     std::strerror(reason)));
    return WIFSIGNALED(status) ? kEndedBySignal + WTERMSIG(status) : WEXITSTATUS(status);
}

/// A new folder for an interrupted recording beside an older capture. An earlier one gets another name.
fs::path empty_partial_folder(const fs::path& folder) {
    const auto partial = folder / files::kPartialFolder;
    if (fs::exists(partial)) {
        std::string date;
        try {
            date = load(partial).header.writer.date;
        } catch (const InputError&) {  // kept all the same
        }
        files::set_aside(partial, date);
    }
    fs::create_directory(partial);
    return partial;
}

}  // namespace

Selection selection(const std::string& text) {
    Selection chosen;
    const char* const end = text.data() + text.size();
    auto read = std::from_chars(text.data(), end, chosen.first);
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == ':')
        read = std::from_chars(read.ptr + 1, end, chosen.count);
    if (read.ec != std::errc() || read.ptr != end || chosen.count == 0)
        throw InputError(
            fmt::format("--launches {}: expected FIRST or FIRST:COUNT, such as 0:1 for the first launch", text));
    return chosen;
}

Recorded record(const Options& options) {
    const NameFilter valid("--kernel", options.kernels);  // the recording library cannot refuse an expression
    const bool is_new = !fs::exists(options.out);
    check_folder(options.out);
    const TemporaryFolder library_place(library_folder());
    const auto library = library_place.path() / "libgputomo_capture.so";
    files::write_and_sync(files::real_files(), library, recording_library());
    const auto absolute = fs::absolute(options.out);
    std::optional<SignalsGoToProgram> signals;
    Recorded made;
    {
        const TemporaryFolder journals(absolute / kJournalsFolder);
        Header header{.writer = options.writer, .command = options.command, .memory_limit = {}};
        if (options.memory != 0) header.memory_limit = MemoryLimit{.bytes = options.memory};
        const auto start = std::chrono::steady_clock::now();
        header.exit_code = run(options, library, journals.path(), signals);
        header.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        made.interrupted_here = asked_to_end != 0;
        made.interrupted = made.interrupted_here ||
                           (header.exit_code > kEndedBySignal && header.exit_code <= kEndedBySignal + kLastSignal);
        const bool has_older = fs::exists(absolute / kIndexFile);
        const TemporaryFolder fresh(absolute / kNewFolder);
        made.capture = assemble(journals.path(), fresh.path(), std::move(header));
        made.keeps_older = has_older && (made.capture.launches.empty() || made.interrupted);
        made.capture.folder.clear();
        if (!made.capture.launches.empty()) {
            made.capture.folder = made.keeps_older ? empty_partial_folder(absolute) : absolute;
            replace_capture(fresh.path(), made.capture.folder);
        }
    }
    if (is_new && made.capture.launches.empty()) fs::remove(options.out);
    return made;
}

}  // namespace gputomo::capture
