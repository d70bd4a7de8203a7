// The twin of a warp: one that executes the same code on an SM of another partition of the last cache. Where both read
// the same lines, the first request makes DRAM read them, and data arrive earlier on the line's own side.
#pragma once

#include <algorithm>
#include <cmath>

namespace gputomo::predict {

/// When data are there for an SM and for the SM of its twins.
struct Arrival {
    double own = 0, twin = 0;

    void wait_for(const Arrival& other) {
        own = std::max(own, other.own);
        twin = std::max(twin, other.twin);
    }
};

/// How far the twin of a warp is behind it.
class Twin {
public:
    /// Cycles by which the twin is behind; negative where it is ahead. The warp goes on at `now`.
    [[nodiscard]] double lag(double now) const { return now >= latest_.own ? lag_after() : lag_; }
    /// The warp issues an access. Where all data have arrived before, the twin has gone on when they were there for it.
    void issue(double now) {
        if (now < latest_.own) return;
        lag_ = lag_after();
        latest_ = {};
    }
    void wait_for(const Arrival& data) { latest_.wait_for(data); }
    /// Both have waited for other warps.
    void meet(double lag) {
        lag_ = lag;
        latest_ = {};
    }

private:
    [[nodiscard]] double lag_after() const { return latest_.own > 0 ? latest_.twin - latest_.own : lag_; }

    double lag_ = 0;
    Arrival latest_;  ///< of the accesses since issue() found that all data were there
};

/// The chance that an SM of another partition reads a line, too. Where an SM is the first of all for the share `first`
/// of its lines, `1 / first` SMs read each of them. Any of these is as likely on either side.
[[nodiscard]] inline double chance_of_twin(double first) { return first >= 1 ? 0 : 1 - std::exp2(1 - 1 / first); }

}  // namespace gputomo::predict
