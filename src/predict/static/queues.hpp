// Throughput of blocks that queue at the resources of an SM: a closed queueing network.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gputomo::predict {

/// A server that serves one block at a time.
struct Station {
    double cycles = 0;       ///< service time of a block
    double uncontended = 0;  ///< part of `cycles` for which no block ever waits, because another station feeds this
                             ///< one no faster than it serves
    /// Set for a constant service time: standard deviation in cycles of the latency after which a block returns. An
    /// arriving block then finds the current service half over, and blocks leave regularly. Without it, service times
    /// are exponential: the remaining time does not depend on the time that has passed.
    std::optional<double> jitter = {};
};

struct Queued {
    double throughput = 0;        ///< rounds per cycle
    std::vector<double> waiting;  ///< by station, cycles of a round for which a block waits there for others
};

/// Each of `blocks` blocks visits every station in an endless round, which takes it `latency` cycles if it is alone.
/// This latency is less than the sum of its service times if several stations serve parts of it at a time. Solved by
/// mean value analysis (Reiser and Lavenberg 1980): an arriving block finds at a station what the others would have
/// there on average without it. Fractional numbers of blocks are interpolated.
[[nodiscard]] Queued queued(std::span<const Station> stations, double latency, double blocks);
/// The throughput of queued(), in rounds per cycle.
[[nodiscard]] double queued_throughput(std::span<const Station> stations, double latency, double blocks);

}  // namespace gputomo::predict
