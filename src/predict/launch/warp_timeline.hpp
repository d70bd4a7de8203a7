// What an SM keeps of a warp and of a block whose instructions it replays.
#pragma once

#include "costs/product_groups.hpp"
#include "costs/returning_words.hpp"
#include "costs/stalls.hpp"
#include "launch/profile/launch_profile.hpp"
#include "predict/launch/twin.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gputomo::predict {

/// Dependence barriers of control fields, and that of groups of matrix products.
inline constexpr std::size_t kDependences = costs::kProductGroups + 1;

struct ReplayedWarp {
    std::uint32_t block = 0;
    const std::vector<launch::WarpEvent>* events = nullptr;
    const std::vector<launch::PhaseUse>* phases = nullptr;      ///< nullptr: none
    const std::vector<launch::MeetingUse>* meetings = nullptr;  ///< likewise
    std::size_t next = 0, next_phase = 0, next_meeting = 0;
    std::size_t phases_left = 0;  ///< that it waits for: its threads may ask for those of several barriers
    std::uint32_t scheduler = 0;
    double hold = 0;       ///< earliest issue of the next instruction
    double issued = 0;     ///< when the last instruction was issued
    bool goes_on = false;  ///< it is the first to issue in the next cycle
    /// Whether it has passed a barrier of its block that is not complete, and whether it waits for that.
    bool behind_barrier = false, stopped = false;
    double met = 0;  ///< when a barrier was complete that it had passed; 0: nothing waits for it
    std::array<double, kDependences> released{};
    std::array<std::uint32_t, kDependences> releasing{};  ///< the steps that release them
    costs::IssueWait waited;                              ///< for the next instruction
    std::array<std::vector<double>, kDependences> completions;
    double memory_done = 0, copies_done = 0;
    double shared_stored = 0;                     ///< its last store to shared memory has been performed
    double atomics_left = 0;                      ///< when the last of its atomics has left the SM
    double stored = 0;                            ///< its last store has left the SM; 0: it has none since a fence
    double bulk_read = 0, bulk_done = 0;          ///< of bulk copies to global memory
    costs::ReturningWords returning;              ///< of its loads
    Twin twin;                                    ///< on an SM of another partition of the L2
    std::uint64_t code_line = ~std::uint64_t{0};  ///< that its last instruction came from

    [[nodiscard]] const launch::WarpEvent& event() const { return (*events)[next]; }
    /// When the dependence barriers that the step waits for are released, from the earliest issue on.
    [[nodiscard]] double ready(const launch::ProfiledStep& step);
    /// The barriers of the step, which has this number, are released when its operands are read and when its result is
    /// written.
    void release(const launch::ProfiledStep& step, std::uint32_t number, double read, double written);
    /// Waits until no more instructions of a barrier are in flight than the step leaves.
    void wait(const launch::ProfiledStep& step, double at);

private:
    void release(std::uint8_t barrier, std::uint32_t number, double when);
};

/// A phase of a barrier in shared memory.
struct ReplayedPhase {
    std::size_t left = 0;  ///< arrivals that have not come
    double ended = 0;      ///< when the last one that has come takes effect
};

/// A warp that waits for a phase, after it has issued the check.
struct PhaseWaiter {
    std::uint32_t warp = 0, step = 0, barrier = 0, phase = 0;
    double read = 0, written = 0;  ///< of the check
};

/// A barrier of a block.
struct ReplayedBarrier {
    std::vector<std::uint32_t> waiting;  ///< warps
    std::uint32_t threads = 0;           ///< that have arrived
    std::uint32_t expected = 0;          ///< threads; 0: all of the block
    Arrival latest;                      ///< of a warp
};

struct ReplayedBlock {
    const launch::BlockTrace* trace = nullptr;
    std::vector<std::vector<ReplayedPhase>> phases;  ///< by barrier
    std::vector<PhaseWaiter> waiters;
    std::size_t running = 0;                        ///< warps that have not ended
    std::map<std::uint8_t, ReplayedBarrier> meets;  ///< by number
    double start = 0;

    /// Counts the arrivals of all phases.
    void count_phases();
    [[nodiscard]] ReplayedPhase& phase(std::uint32_t barrier, std::uint32_t number) {
        auto& of = phases[barrier];
        if (of.size() <= number) of.resize(number + std::size_t{1});
        return of[number];
    }
};

}  // namespace gputomo::predict
