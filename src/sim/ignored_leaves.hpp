// Leaves of a description that the simulator cannot use together with others.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace gputomo::sim {

/// Each of them and why it is ignored, as "caches.l2.latency_range ignored beside caches.l2.far_latency".
[[nodiscard]] std::vector<std::string> ignored_leaves(const machine::Machine& machine);

}  // namespace gputomo::sim
