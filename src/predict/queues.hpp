// Throughput of blocks that wait for each other at the resources of an SM: a closed network of queues.
#pragma once

#include <span>

namespace gputomo::predict {

/// `blocks` go round for ever: each is served for so many cycles at every station, one block at a time, and needs `latency` cycles
/// for a round alone, less than all its services together where it is served at several stations at a time. Rounds per cycle by mean value analysis (Reiser and Lavenberg 1980): a block that comes to a station finds there what the others
/// would have there on average without it. Numbers of blocks between whole ones are interpolated.
[[nodiscard]] double queued_throughput(std::span<const double> stations, double latency, double blocks);

}  // namespace gputomo::predict
