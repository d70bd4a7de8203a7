// Throughput of blocks that wait for each other at the resources of an SM: a closed network of queues.
#pragma once

#include <span>

namespace gputomo::predict {

/// Where blocks are served one at a time.
struct Station {
    double cycles = 0;  ///< of a block
    /// Every service takes as long, so that the one under way is half over when another block comes. Of services of any length (exponential ones) none is nearer to its end.
    bool regular = false;
};

/// `blocks` go round for ever: each is served at every station, and needs `latency` cycles
/// for a round alone, less than all its services together where it is served at several stations at a time. Rounds per cycle by mean value analysis (Reiser and Lavenberg 1980): a block that comes to a station finds there what the others
/// would have there on average without it. Numbers of blocks between whole ones are interpolated.
[[nodiscard]] double queued_throughput(std::span<const Station> stations, double latency, double blocks);

}  // namespace gputomo::predict
