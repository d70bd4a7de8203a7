#include "cli/terminal/progress.hpp"

#include "cli/terminal/messages.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

namespace gputomo::cli {
namespace {

/// SIGTERM is what batch systems and time limits send.
constexpr int kSignals[] = {SIGINT, SIGTERM};

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t interrupt_seen = 0;

extern "C" void on_interrupt(int) { interrupt_seen = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
    interrupt_seen = 0;
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second Ctrl-C ends the process at once
    for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}
InterruptGuard::~InterruptGuard() {
    for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}
bool InterruptGuard::interrupted() { return interrupt_seen != 0; }

Elapsed::Elapsed(std::string what)
    : what_(std::move(what)),
      start_(std::chrono::steady_clock::now()),
      shown_(start_),
      terminal_(isatty(STDERR_FILENO) == 1 && out::verbosity() != out::Verbosity::quiet),
      scope_([this] { show(); }) {}

Elapsed::~Elapsed() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
    out::detail("{}: {:.2f} s", what_, seconds());
}

double Elapsed::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Elapsed::show() {
    constexpr auto kBetween = std::chrono::milliseconds(500);
    if (!terminal_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < kBetween) return;
    shown_ = now;
    drawn_ = true;
    fmt::print(stderr, "\r\033[K{:.0f} s {:.60}", seconds(), out::one_line(what_));
}

Progress::Progress(bool quiet)
    : quiet_((quiet && out::verbosity() != out::Verbosity::verbose) || out::verbosity() == out::Verbosity::quiet),
      terminal_(isatty(STDERR_FILENO) == 1 && out::verbosity() != out::Verbosity::verbose) {}
Progress::~Progress() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(double fraction, double seconds_left, std::string_view what) {
    if (InterruptGuard::interrupted()) throw Interrupted("interrupted by the user");
    if (quiet_) return;
    if (terminal_) {
        constexpr int kBar = 24;
        const int full = static_cast<int>(fraction * kBar);
        const std::string left = seconds_left < 0 ? "" : fmt::format(" {:.0f} s left", seconds_left);
        fmt::print(stderr, "\r\033[K[{:#<{}}{:.<{}}] {:3.0f}%{} {:.60}", "", full, "", kBar - full, 100 * fraction,
                   left, out::one_line(what));
        drawn_ = true;
        return;
    }
    std::string step(what.substr(0, what.find(':')));
    if (step == last_) return;
    last_ = std::move(step);
    if (out::verbosity() == out::Verbosity::verbose)
        out::say("{:7.2f} s {:3.0f}% {}",
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(), 100 * fraction,
                 what);
    else
        out::say("{:3.0f}% {}", 100 * fraction, what);
}

}  // namespace gputomo::cli
