#include "sim/machine_code/resident_run.hpp"

#include "sim/machine_code/block_run.hpp"
#include "sim/machine_code/launch_state.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

namespace gputomo::sim::machine_code {
namespace {

/// Most instructions of a warp between two looks at other blocks. More would let a block run ahead of what others write
/// in the same time; fewer cost more switches.
constexpr int kInstructionsOfRound = 256;
/// Rounds of each block in which nothing changes after which the launch waits forever. Each path of a warp, of which
/// there are 32 at most, has its turn in them.
constexpr std::uint64_t kIdleRoundsOfBlock = 33;
/// A round takes a cycle at least, so that the clock of a block goes on.
constexpr double kLeastCycles = 1;

class ResidentRun {
public:
    ResidentRun(const LaunchContext& context, const BlockOrder& order, BlockWatcher& watcher)
        : context_(context),
          order_(order),
          watcher_(watcher),
          rule_{.instructions = kInstructionsOfRound, .one_read = true, .cycles = order.cycles},
          blocks_(context.launch.grid.count()) {}

    void run() {
        const std::uint64_t first = std::min(blocks_, order_.sms * order_.blocks_of_sm);
        for (std::uint64_t slot = 0; slot < first; ++slot) {
            slots_.push_back({.block = std::make_unique<BlockRun>(context_), .sm = slot % order_.sms});
            start(slot, 0);
        }
        while (!queue_.empty()) {
            const auto [now, slot] = queue_.top();
            queue_.pop();
            go_on(slot, now);
        }
    }

private:
    struct Slot {
        std::unique_ptr<BlockRun> block;
        std::uint64_t sm = 0;
        Observer* observer = nullptr;
    };
    /// Clock of the block and its slot: where two clocks are equal, the lower slot goes on first.
    using Next = std::pair<double, std::uint64_t>;

    void start(std::uint64_t number, double now) {
        Slot& slot = slots_[number];
        slot.observer = &watcher_.start_block(next_block_, slot.sm);
        slot.block->start(next_block_++, slot.observer, static_cast<std::uint32_t>(slot.sm));
        queue_.emplace(now, number);
    }

    void go_on(std::uint64_t number, double now) {
        Slot& slot = slots_[number];
        const Round round = slot.block->round(rule_);
        if (!round.executed) throw DeviceError(slot.block->deadlock());
        add_waits(context_.executed.waits, slot.block->waits());
        if (slot.block->done()) return end(number, now + round.cycles);
        idle_ = round.idle ? idle_ + 1 : 0;
        const Wait* const wait = most_certain(context_.executed.waits);
        if (idle_ > kIdleRoundsOfBlock * (queue_.size() + 1) && wait != nullptr)
            throw WaitsForever(fmt::format("kernel '{}': its blocks wait for each other forever: {}",
                                           context_.program.kernel, text_of(context_.program, *wait)),
                               *wait);
        queue_.emplace(now + std::max(kLeastCycles, round.cycles), number);
    }

    void end(std::uint64_t number, double now) {
        Slot& slot = slots_[number];
        idle_ = 0;
        const std::uint64_t index = slot.block->index();
        (void)slot.observer->end_block(index);
        watcher_.end_block(*slot.observer, index, slot.sm);
        if (next_block_ < blocks_) start(number, now + order_.replacement);
    }

    const LaunchContext& context_;
    const BlockOrder& order_;
    BlockWatcher& watcher_;
    RoundRule rule_;
    std::uint64_t blocks_, next_block_ = 0;
    std::vector<Slot> slots_;
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue_;
    std::uint64_t idle_ = 0;  ///< rounds in a row in which nothing changed
};

}  // namespace

void run_resident(const PreparedRun& prepared, const BlockOrder& order, BlockWatcher& watcher, Executed& executed) {
    const MachineProgram& program = prepared.program;
    auto launch = prepared.launch;
    launch.watches_waits = true;
    const auto constants = constants_of(program, {.grid = launch.grid,
                                                  .block = launch.block,
                                                  .parameters = launch.parameters,
                                                  .dynamic_shared = launch.dynamic_shared,
                                                  .sms = launch.gpu.sms});
    const auto accesses = visible_accesses(program);
    executed = {};
    executed.warp_instructions.resize(program.steps.size());
    executed.thread_instructions.resize(program.steps.size());
    executed.further_values.resize(program.steps.size());
    const LaunchContext context{program, launch, prepared.memory, constants, accesses, executed};
    ResidentRun(context, order, watcher).run();
}

}  // namespace gputomo::sim::machine_code
