// Changes of what a launch executes, as a programmer could make them. The model then predicts the changed launch.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::answer::changes {

/// A launch with one change.
struct ChangedProfile {
    std::string change;  ///< in words: "with accesses to global memory coalesced"
    launch::LaunchProfile profile;
    std::vector<std::size_t> steps;  ///< instructions that it concerns, those with most events first
};

/// The words of an access to shared memory lie side by side, and each bank serves one at a time. nullopt where there
/// are no bank conflicts.
[[nodiscard]] std::optional<ChangedProfile> without_bank_conflicts(const launch::LaunchProfile& profile,
                                                                   const machine::Machine& machine);

/// The threads of a load or store of global memory access words side by side. All lines that a block touches are still
/// touched where their bytes are used at all. nullopt where accesses are coalesced already.
[[nodiscard]] std::optional<ChangedProfile> with_coalesced_accesses(const launch::LaunchProfile& profile,
                                                                    const machine::Machine& machine);

/// An SM holds as many blocks as its threads allow. Fewer are tried where the recorded blocks do not show what more
/// would change. nullopt where neither registers nor shared memory limit them.
[[nodiscard]] std::optional<ChangedProfile> with_more_warps(const launch::LaunchProfile& profile,
                                                            const machine::Machine& machine);

/// Blocks are made larger, so that an SM holds more threads. nullopt where something else than its number of blocks
/// limits them.
[[nodiscard]] std::optional<ChangedProfile> with_larger_blocks(const launch::LaunchProfile& profile,
                                                               const machine::Machine& machine);

/// Each thread does the work of several, with accesses of 16 bytes. What comes after the first load is repeated for
/// each element, the computation of addresses too. nullopt for a launch with shared memory, barriers or atomics.
/// Blocks that differ, and accesses that are not coalesced or already wide, are left alone. So is a grid that would not
/// fill the GPU any more.
[[nodiscard]] std::optional<ChangedProfile> with_wide_accesses(const launch::LaunchProfile& profile,
                                                               const machine::Machine& machine);

/// Warps execute as many instructions as if all threads of each took part. nullopt where most do.
[[nodiscard]] std::optional<ChangedProfile> without_divergence(const launch::LaunchProfile& profile,
                                                               const machine::Machine& machine);

/// Without accesses to local memory. nullopt where there are few.
[[nodiscard]] std::optional<ChangedProfile> without_spills(const launch::LaunchProfile& profile,
                                                           const machine::Machine& machine);

/// Each block requests an atomic of an address once. What it takes to combine them there is not counted. nullopt where
/// few requests are spared.
[[nodiscard]] std::optional<ChangedProfile> with_combined_atomics(const launch::LaunchProfile& profile,
                                                                  const machine::Machine& machine);

/// A thread works on as many chains of floating-point instructions as cover the latency of a multiply-add. They wait
/// for each other for that part of the time only. nullopt where none waits.
[[nodiscard]] std::optional<ChangedProfile> with_independent_arithmetic(const launch::LaunchProfile& profile,
                                                                        const machine::Machine& machine);

/// Double precision takes what single precision does. Accesses to memory stay as they are. nullopt where there is none,
/// or the description lacks multiply-adds of single precision.
[[nodiscard]] std::optional<ChangedProfile> with_single_precision(const launch::LaunchProfile& profile,
                                                                  const machine::Machine& machine);

/// The warps of a block do not wait for each other. nullopt where they have no barrier.
[[nodiscard]] std::optional<ChangedProfile> without_barriers(const launch::LaunchProfile& profile,
                                                             const machine::Machine& machine);

}  // namespace gputomo::answer::changes
