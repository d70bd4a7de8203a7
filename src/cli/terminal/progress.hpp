// Progress on standard error, and the handling of Ctrl-C.
#pragma once

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

/// Shows a bar on a terminal and prints a line for each new step otherwise.
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
};

}  // namespace gputomo::cli
