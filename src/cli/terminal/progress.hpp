// Progress on standard error, and the handling of Ctrl-C.
#pragma once

#include "units/interruption.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace gputomo::cli {

/// While one exists, the first SIGINT or SIGTERM sets a flag instead of ending the process. A second one ends it.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    [[nodiscard]] static bool interrupted();
};

/// While one exists, a terminal shows for how long this thread has been at work of which no share is known. The work
/// has to look for interruptions. With --verbose it says at its end how long that took.
class Elapsed {
public:
    explicit Elapsed(std::string what);
    ~Elapsed();
    Elapsed(const Elapsed&) = delete;
    Elapsed& operator=(const Elapsed&) = delete;

private:
    [[nodiscard]] double seconds() const;
    void show();

    std::string what_;
    std::chrono::steady_clock::time_point start_, shown_;
    bool terminal_, drawn_ = false;
    InterruptionScope scope_;
};

/// Shows a bar on a terminal and prints a line for each new step otherwise. --quiet shows nothing. With --verbose, all
/// steps are lines with the time since the first one.
class Progress {
public:
    explicit Progress(bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// `fraction` is from 0 to 1; negative `seconds_left` means unknown. Throws Interrupted after Ctrl-C.
    void show(double fraction, double seconds_left, std::string_view what);

private:
    bool quiet_;
    bool terminal_;
    bool drawn_ = false;
    std::string last_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace gputomo::cli
