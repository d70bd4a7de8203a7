// What warps wait for, by the reasons and names of NVIDIA's profiler, Nsight Compute.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::costs {

/// Why a warp has not issued its next instruction. docs/stalls.md has the profiler's metric and its meaning for each.
enum class Stall : std::uint8_t {
    selected,            ///< it issues: no stall
    wait,                ///< for the fixed latency of the instruction before
    long_scoreboard,     ///< for data of global, local or texture memory
    short_scoreboard,    ///< for data of shared memory or constants, or a result that takes varying time
    barrier,             ///< for the other warps of its block
    membar,              ///< for its own accesses to memory, at a fence
    math_pipe_throttle,  ///< for an arithmetic unit that is busy
    lg_throttle,         ///< until accesses to global or local memory have left
    mio_throttle,        ///< for shared memory, special functions or the way to them
    tex_throttle,        ///< for the texture units
    not_selected,        ///< for its turn: another warp issues
    dispatch_stall,      ///< for ports of the register file
    branch_resolving,    ///< for the target of a branch
    no_instructions,     ///< for its code
    sleeping,            ///< because it asked for it
    gmma                 ///< for matrix products of its warp group
};
inline constexpr std::size_t kStalls = 16;

/// "long_scoreboard", as in smsp__average_warps_issue_stalled_long_scoreboard.
[[nodiscard]] std::string_view name_of(Stall stall);
/// What that means, in a few words: "data of global, local or texture memory".
[[nodiscard]] std::string_view meaning_of(Stall stall);

/// Cycles of warps by reason, summed over warps.
using StallCycles = std::array<double, kStalls>;
[[nodiscard]] double sum_of(const StallCycles& cycles);

/// What an instruction is to warps that wait for it.
struct StallKind {
    Stall result = Stall::short_scoreboard;      ///< they wait for its result
    Stall throttle = Stall::math_pipe_throttle;  ///< they wait to issue it
    Stall hold = Stall::lg_throttle;             ///< they wait after they have issued it
};

inline constexpr std::uint32_t kNoProducer = ~std::uint32_t{0};

/// What passed between two issues of a warp, in order.
struct IssueWait {
    std::uint32_t step = 0;                ///< that issues now
    std::uint32_t before = kNoProducer;    ///< that issued before; kNoProducer: the warp began
    double since = 0;                      ///< its issue
    double fixed = 0;                      ///< the end of its stall count
    double held = 0;                       ///< until when it held the warp back otherwise
    double met = 0;                        ///< when the barrier of the block was complete that `step` waited for
    double fetched = 0;                    ///< when the code of `step` was there
    double constants = 0;                  ///< when the constant among its operands was there
    double ready = 0;                      ///< when what `step` waits for was there
    std::uint32_t producer = kNoProducer;  ///< that `step` waited for
    bool fence = false;                    ///< `step` waits for accesses to memory
    double unit_free = 0;                  ///< when its unit was free
    double chosen = 0;                     ///< when the scheduler chose the warp
    double at = 0;                         ///< when `step` issues
};

/// The stalls of all instructions of a launch.
class StallRecord {
public:
    struct Instruction {
        std::uint64_t issued = 0;  ///< by warps
        StallCycles cycles{};
        /// Instructions whose results it waited for, each with its cycles.
        std::vector<std::pair<std::uint32_t, double>> producers;
        /// The producer with most cycles; kNoProducer where there is none.
        [[nodiscard]] std::uint32_t main_producer() const;
    };

    StallRecord() = default;
    explicit StallRecord(std::vector<StallKind> kinds) : kinds_(std::move(kinds)), instructions_(kinds_.size()) {}

    /// The cycles between two issues are charged to the second one, by what they were spent on. So does a profiler: its
    /// samples of warps at a barrier are those of the instruction behind it.
    void issue(const IssueWait& wait, double issue_interval) {
        Instruction& to = instructions_[wait.step];
        ++to.issued;
        double now = wait.since;
        const auto until = [&](double when) {
            const double cycles = std::max(0.0, std::min(when, wait.at) - now);
            now += cycles;
            return cycles;
        };
        const double fixed = until(wait.fixed);
        const double selected = std::min(fixed, issue_interval);
        charge(to, Stall::selected, selected);
        charge(to, Stall::wait, fixed - selected);
        const double held = until(wait.held);
        if (wait.before != kNoProducer) charge(to, kinds_[wait.before].hold, held);
        charge(to, Stall::barrier, until(wait.met));
        charge(to, Stall::no_instructions, until(wait.fetched));
        charge(to, Stall::short_scoreboard, until(wait.constants));
        if (const double cycles = until(wait.ready); cycles > 0) wait_for(to, wait, cycles);
        charge(to, kinds_[wait.step].throttle, until(wait.unit_free));
        charge(to, Stall::not_selected, until(wait.chosen));
        charge(to, Stall::dispatch_stall, until(wait.at));
    }

    [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
    /// Adds what another run of the same code has recorded.
    void add(const StallRecord& other);

private:
    static void charge(Instruction& to, Stall stall, double cycles) {
        if (cycles > 0) to.cycles[static_cast<std::size_t>(stall)] += cycles;
    }
    void wait_for(Instruction& to, const IssueWait& wait, double cycles);

    std::vector<StallKind> kinds_;
    std::vector<Instruction> instructions_;  ///< by step
};

/// A block on an SM.
struct BlockSpan {
    std::uint64_t block = 0;    ///< in the grid
    double start = 0, end = 0;  ///< cycles from the start of the launch
};
/// Blocks of one SM that are kept for its timeline. A picture of a page cannot show more.
inline constexpr std::size_t kMostSpans = 512;

}  // namespace gputomo::costs
