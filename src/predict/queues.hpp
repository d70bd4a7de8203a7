// Throughput of blocks that wait for each other at the resources of an SM: a closed network of queues.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gputomo::predict {

/// Where blocks are served one at a time.
struct Station {
    double cycles = 0;       ///< of a block
    double uncontended = 0;  ///< of its cycles, in which nobody ever waits: another station lets through as much as
                             ///< this one takes, and no more
    /// Every service takes as long, so that the one under way is half over when another block comes, and blocks leave
    /// as regularly as they are served; they come back after their latency, more or less by this standard deviation,
    /// cycles. None: services of any length (exponential ones), of which none is nearer to its end.
    std::optional<double> jitter = {};
};

struct Queued {
    double throughput = 0;        ///< rounds per cycle
    std::vector<double> waiting;  ///< cycles of a round, by station, that a block waits there for others
};

/// `blocks` go round for ever: each is served at every station, and needs `latency` cycles
/// for a round alone, less than all its services together where it is served at several stations at a time. By mean
/// value analysis (Reiser and Lavenberg 1980): a block that comes to a station finds there what the others would have
/// there on average without it. Numbers of blocks between whole ones are interpolated.
[[nodiscard]] Queued queued(std::span<const Station> stations, double latency, double blocks);
/// Rounds per cycle.
[[nodiscard]] double queued_throughput(std::span<const Station> stations, double latency, double blocks);

}  // namespace gputomo::predict
