// Writes what the warps of a launch execute as a trace of machine code that Accel-Sim replays.
#pragma once

#include "launch/prepared_launch.hpp"
#include "machine/machine.hpp"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace gputomo::launch {

/// Releases of Accel-Sim differ in the instructions that they know. Release 2 knows compute capability 9.0.
enum class AccelSimRelease : std::uint8_t { one, two };

struct AccelSimOptions {
    std::uint64_t number = 1;  ///< of the launch, in its order
    AccelSimRelease release = AccelSimRelease::two;
    std::chrono::milliseconds time_limit{60'000};
};

/// What was written.
struct TracedLaunch {
    std::uint64_t warp_instructions = 0;
    /// Instructions whose names the release does not know, with the names in their place: "VIADD as IADD3".
    std::vector<std::string> replaced;
    /// Warps waited for others. A replay executes each look at memory as it was here, however long it takes there.
    bool waits = false;
};

/// Executes all blocks in an order that the GPU could have, and writes them in the order in which they start. Memory
/// of the launch is changed.
///
/// Throws InputError where the block does not fit the GPU. It also does for what the text of a trace cannot hold:
/// asynchronous copies, barriers in shared memory, products of warp groups, clusters, barriers of the whole grid.
/// Throws DeviceError where the kernel fails, and TimeLimitError.
[[nodiscard]] TracedLaunch write_accel_sim_trace(const PreparedLaunch& prepared, const machine::Machine& machine,
                                                 const AccelSimOptions& options, std::ostream& out);

}  // namespace gputomo::launch
