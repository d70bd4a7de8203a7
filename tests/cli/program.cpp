#include "program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

namespace gputomo::cli::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A program that hangs is killed after this time. The longest one takes 165 s with sanitizers, and more on a computer
/// that has other work.
constexpr auto kPatience = 900s;

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs in the child process. Between fork and exec it makes only calls that are async-signal-safe.
[[noreturn]] void become_program(std::vector<char*>& argv, const char* folder, const char* out, const char* err,
                                 std::size_t file_limit) {
    const rlimit limit{file_limit, file_limit};
    if (file_limit > 0 && (setrlimit(RLIMIT_FSIZE, &limit) != 0 || signal(SIGXFSZ, SIG_IGN) == SIG_ERR)) _exit(126);
    const int out_file = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int err_file = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out_file >= 0 && err_file >= 0 && dup2(out_file, STDOUT_FILENO) >= 0 && dup2(err_file, STDERR_FILENO) >= 0 &&
        chdir(folder) == 0)
        execv(argv[0], argv.data());
    _exit(127);
}

int wait_for(pid_t child, const std::function<void()>& meanwhile) {
    const auto start = std::chrono::steady_clock::now();
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        meanwhile();
        if (std::chrono::steady_clock::now() - start > kPatience) kill(child, SIGKILL);
        std::this_thread::sleep_for(2ms);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

void ProgramTest::SetUp() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) /
              (std::string("gputomo_") + test->test_suite_name() + "_" + test->name() + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);  // what is tested must not depend on the GPU of this machine
}

void ProgramTest::TearDown() { fs::remove_all(folder_); }

Ran ProgramTest::run(std::vector<std::string> arguments, const How& how) const {
    arguments.insert(arguments.begin(), GPUTOMO_PROGRAM);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = how.out.empty() ? folder_.string() + ".out" : how.out, err = folder_.string() + ".err";
    const pid_t child = fork();
    if (child == 0) become_program(argv, folder_.c_str(), out.c_str(), err.c_str(), how.file_limit);
    bool interrupted = how.interrupt_at.empty();
    const int code = wait_for(child, [&] {
        if (interrupted || content(err).find(how.interrupt_at) == std::string::npos) return;
        kill(child, how.signal);
        interrupted = true;
    });
    Ran ran{code, how.out.empty() ? content(out) : "", content(err)};
    EXPECT_TRUE(interrupted) << "ended before it could be interrupted: " << ran.err;
    if (how.out.empty()) fs::remove(out);
    fs::remove(err);
    return ran;
}

void ProgramTest::write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string ProgramTest::read(const std::string& name) const { return content(folder_ / name); }

}  // namespace gputomo::cli::testing
