// Profiles a launch whose blocks depend on each other: all of them are executed, in an order that the GPU could have.
#pragma once

#include "launch/prepared_launch.hpp"
#include "launch/profile/launch_profile.hpp"
#include "launch/profile/profile.hpp"
#include "machine/machine.hpp"
#include "sim/machine_code/wait_watch.hpp"

#include <cstdint>
#include <optional>
#include <set>

namespace gputomo::launch {

/// What the execution of all blocks together showed.
struct ResidentOutcome {
    bool complete = false;    ///< false: the limit of instructions came first, and the profile is as it was
    double instructions = 0;  ///< of warps, until then
    /// An SM that was not recorded, one block of which executes notably more than all recorded ones.
    std::optional<std::uint64_t> busier_sm{};
    /// A warp that waited for another block.
    std::optional<sim::machine_code::Wait> wait;
};

/// Executes all blocks and fills in what the profile has of blocks. Those of the SMs `traced` are recorded. Memory is
/// the same afterwards. With `skips_products`, products of matrices are not computed, and NeedsProducts is thrown where
/// more than data depends on them. Throws DeviceError where the kernel fails or all blocks wait forever, and
/// TimeLimitError.
[[nodiscard]] ResidentOutcome profile_resident(const PreparedLaunch& prepared, const machine::Machine& machine,
                                               const Sampling& sampling, const std::set<std::uint64_t>& traced,
                                               bool skips_products, LaunchProfile& profile);

}  // namespace gputomo::launch
