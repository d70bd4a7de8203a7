// Progress on stderr, and Ctrl-C.
#pragma once

#include <string>
#include <string_view>

namespace gputomo::cli {

/// While one exists, the first SIGINT sets a flag instead of ending the process.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    [[nodiscard]] static bool interrupted();
};

/// A bar on a terminal, a line for each new step otherwise.
class Progress {
public:
    explicit Progress(bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Throws Interrupted after Ctrl-C.
    void show(double fraction, double seconds_left, std::string_view what);

private:
    bool quiet_;
    bool terminal_;
    bool drawn_ = false;
    std::string last_;
};

}  // namespace gputomo::cli
