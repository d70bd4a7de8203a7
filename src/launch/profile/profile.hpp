// Executes sampled blocks of a launch and profiles what they do.
#pragma once

#include "launch/prepared_launch.hpp"
#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "units/error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::launch {

/// A launch for which sampled blocks do not stand: what they do, or how long they wait, depends on others. The message
/// names the kernel, the reason and what to do.
class DependentLaunch : public InputError {
public:
    DependentLaunch(const std::string& what, std::string why) : InputError(what), why_(std::move(why)) {}
    /// "warp 0 of block 1 waits for another block: ..."
    [[nodiscard]] const std::string& why() const { return why_; }

private:
    std::string why_;
};

/// How many blocks a prediction executes, and for how long it looks.
struct Sampling {
    std::uint64_t seed = 1;
    /// Ends the sampling on slow hosts, with a warning. `most_instructions` ends it first elsewhere, so that the result
    /// does not depend on the host.
    std::chrono::milliseconds time_limit{60'000};
    /// Executed warp instructions after which no further blocks are sampled for stable means. They take about half a
    /// minute at most.
    double most_instructions = 3e7;
    /// Executed warp instructions that are kept for the replay of SMs; each takes 8 bytes, and its lines 16 bytes each.
    std::size_t most_events = std::size_t{24} << 20;
    double wanted_error = 0.01;     ///< relative standard error of a block's instructions and accesses
    std::size_t most_blocks = 512;  ///< sampled beside those of whole SMs
    /// Executed warp instructions up to which further blocks are executed although the means are stable, because a few
    /// long blocks may decide when the launch ends. They take about a second. All blocks of a launch that is estimated
    /// to have fewer instructions are executed, if they are few.
    double thorough = 4e6;
    std::size_t replayed_sms = 3;                 ///< at most: the first, a middle and the last that have blocks
    std::size_t replayed_waves = kReplayedWaves;  ///< at most, of an SM
    std::size_t first_waves = 4;                  ///< of these; later ones are replayed where blocks are short
    /// Recorded warp instructions of an SM after which a later wave is not begun. Their replay takes about a second at
    /// most.
    std::size_t most_of_later_waves = 100'000;
    /// Recorded warp instructions of an SM after which a further wave is not begun.
    std::size_t most_of_sm = std::size_t{24} << 20;
    /// Executed warp instructions after which the simulation of a launch whose blocks depend on each other is given up.
    /// They take about a minute.
    std::uint64_t most_simulated = 50'000'000;
    /// Whether launches are simulated whose threads may begin again where another one has swapped the same word.
    bool simulates_swaps = true;

    /// For comparing many configurations of a kernel: two waves of one SM (more of short blocks, one of long ones), and
    /// few further blocks. Blocks that differ from most others are seldom seen.
    [[nodiscard]] Sampling quick() const {
        Sampling less = *this;
        less.thorough = 1e5;
        less.most_blocks = 24;
        less.replayed_sms = 1;
        less.replayed_waves = 8;
        less.first_waves = 2;
        less.most_of_later_waves = 10'000;
        less.most_of_sm = 300'000;
        less.is_quick = true;
        less.simulates_swaps = false;
        return less;
    }
    bool is_quick = false;
};

/// Executes the blocks of the first, a middle and the last SM, then random blocks until the means are stable. Each
/// block starts with the memory as it is before the launch, and memory is the same afterwards. Where a block reads what
/// another one writes, all blocks are executed together instead, in an order that the GPU could have.
///
/// Throws InputError where the block does not fit the GPU, and DeviceError where the kernel fails. Throws
/// DependentLaunch where blocks or warps wait for each other, or a large launch depends on the order of its blocks.
/// Throws TimeLimitError where not even one block ends in time.
[[nodiscard]] LaunchProfile profile_launch(const PreparedLaunch& launch, const machine::Machine& machine,
                                           const Sampling& sampling = {});

}  // namespace gputomo::launch
