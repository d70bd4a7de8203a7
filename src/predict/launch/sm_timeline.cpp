#include "predict/launch/sm_timeline.hpp"

#include "predict/launch/gpu_server.hpp"
#include "predict/launch/port_queues.hpp"
#include "predict/launch/sm_memory.hpp"
#include "predict/launch/sm_server.hpp"
#include "predict/launch/sm_units.hpp"
#include "predict/launch/steps_apart.hpp"
#include "predict/launch/warp_timeline.hpp"
#include "units/interruption.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

namespace gputomo::predict {
namespace {

/// Room of an SM for the blocks of a profile, also where a change to the kernel lets it hold more of them.
costs::BlockLimits limits_of(const launch::LaunchProfile& profile, std::uint32_t resident, std::uint32_t schedulers) {
    costs::BlockLimits limits = profile.room;
    limits.warps_of_block = static_cast<std::uint32_t>(profile.warps_of_block());
    limits.hold(resident, schedulers);
    return limits;
}

class Replay {
public:
    Replay(const launch::LaunchProfile& profile, const SmRates& rates, const Shares& shares)
        : profile_(profile),
          rates_(rates),
          shares_(shares),
          scale_(shares.contention ? 1 : 0),
          resident_(std::max<std::size_t>(1, profile.resident_blocks)),
          room_(limits_of(profile, static_cast<std::uint32_t>(resident_), static_cast<std::uint32_t>(rates.schedulers)),
                static_cast<std::size_t>(rates.schedulers)),
          memory_(rates, shares_, profile.partial_store, timeline_),
          code_(rates.code, static_cast<std::size_t>(rates.schedulers), scale_),
          constant_operands_(
              static_cast<std::size_t>(rates.schedulers),
              costs::ConstantOperands(shares.contention ? rates.constants_read : rates.constants_read.alone())),
          constant_port_(shares.contention ? rates.constants_read : rates.constants_read.alone()),
          units_(profile, rates, scale_),
          ports_(units_.ports()) {
        std::vector<costs::StallKind> kinds;
        for (const auto& step : profile.steps) kinds.push_back(step.stalls);
        timeline_.stalls = costs::StallRecord(std::move(kinds));
    }

    Replay(const Replay& other) = default;
    Replay& operator=(const Replay&) = delete;

    /// Starts the blocks that begin at once. run() goes on from there.
    void begin(std::span<const launch::BlockTrace> blocks, std::span<const launch::BlockTrace* const> last) {
        first_last_ = blocks.size();
        blocks_.resize(blocks.size() + last.size());
        for (std::size_t i = 0; i < blocks.size(); ++i) blocks_[i].trace = &blocks[i];
        for (std::size_t i = 0; i < last.size(); ++i) blocks_[blocks.size() + i].trace = last[i];
        reserve_warps();
        while (next_block_ < std::min(resident_, blocks_.size())) start_block(0);
    }

    Timeline run() {
        while (goes_on()) issue_next();
        return finish();
    }

    /// Like run(). Also returns the replay without the blocks behind the first ones, from just before it would differ;
    /// nullptr where it differed before that was seen.
    std::pair<Timeline, std::unique_ptr<Replay>> run_and_branch(std::size_t first) {
        std::unique_ptr<Replay> branch;
        // An end may start several blocks.
        const std::size_t before = std::min(kMostAtOnce, resident_ / 4);
        branches_at_ = first;
        differs_ = next_block_ > first;
        while (goes_on()) {
            if (!branch && next_block_ + before >= first && may_end_block()) {
                if (differs_) break;
                branch = std::make_unique<Replay>(*this);
                branch->leave_out_from(first);
            }
            issue_next();
        }
        while (goes_on()) issue_next();
        return {finish(), std::move(branch)};
    }

private:
    using Next = std::pair<double, std::uint32_t>;
    static constexpr std::uint32_t kFirstPort = 1U << 31;
    /// A warp that has not issued goes before one that issued when it started.
    static constexpr double kBeforeOthers = 0.5;
    enum class Turn { none, of_unit, of_scheduler };

    void reserve_warps() {
        std::size_t warps = 0;
        for (const ReplayedBlock& block : blocks_) warps += block.trace->warps.size();
        warps_.reserve(warps);  // A warp that is being looked at may let another block begin.
    }

    /// In a copy: blocks from this one on do not run.
    void leave_out_from(std::size_t first) {
        memory_.belong_to(shares_, timeline_);
        branches_at_ = kNeverBranches;
        blocks_.resize(first);
        first_last_ = std::min(first_last_, first);
        reserve_warps();
    }

    /// Whether any warp issues next.
    bool goes_on() {
        while (queue_.empty() && !preferred_ && running_ > 0) release_stuck();
        return running_ > 0 && (!queue_.empty() || preferred_);
    }

    void issue_next() {
        if (preferred_) {
            const auto [now, index] = *std::exchange(preferred_, std::nullopt);
            return issue(index, now, Turn::of_scheduler);
        }
        const auto [now, next] = queue_.top();
        queue_.pop();
        if (next < kFirstPort)
            issue(next, now, Turn::none);
        else
            serve(next - kFirstPort, now);
    }

    /// Whether the next instruction may be the last one of a block.
    [[nodiscard]] bool may_end_block() const {
        const auto at_last = [&](std::uint32_t index) {
            return warps_[index].next + 1 == warps_[index].events->size();
        };
        const std::uint32_t next = preferred_ ? preferred_->second : queue_.top().second;
        if (next < kFirstPort) return at_last(next);
        return std::ranges::any_of(ports_.waiting(next - kFirstPort), at_last, &WaitingWarp::warp);
    }

    /// Whether a block is left. A replay without the blocks from `branches_at_` on would say no from there on.
    [[nodiscard]] bool has_more() {
        differs_ = differs_ || next_block_ >= branches_at_;
        return next_block_ < blocks_.size();
    }

    Timeline finish() {
        // Stores and atomics that left the SM have to arrive, and lines that were displaced in the L2 have to leave it.
        timeline_.cycles = std::max({timeline_.cycles, scale_ * memory_.stores_end(), scale_ * memory_.atomics_end(),
                                     scale_ * memory_.shares_end()});
        const double loads = timeline_.l1_bytes > 0 || memory_.atomics_end() > 0 ? rates_.load_drain : 0;
        const double stores = memory_.stores_end() > 0 ? rates_.store_drain : 0;
        timeline_.cycles += std::max(loads, stores);
        units_.fill_busy(timeline_.busy);
        memory_.fill_busy(timeline_.busy);
        timeline_.busy[kBlockStarts] = starts_.busy();
        std::erase_if(timeline_.busy, [](const auto& row) { return row.second == 0; });
        timeline_.used = memory_.used();
        // SMs without blocks count as well.
        units_.fill_used(timeline_.used, shares_.active_sms / rates_.sms);
        return std::move(timeline_);
    }

    void start_block(double now) {
        look_for_interruption();
        const auto index = static_cast<std::uint32_t>(next_block_++);
        if (next_block_ > resident_) memory_.start_later_wave(steps_.after(wave_of(index)));
        if (next_block_ > first_last_) {
            if (next_block_ == first_last_ + 1) memory_.end_whole_waves(now);
            shares_.active_sms = shares_.active_at_end;
            shares_.atomic_shares.others = shares_.atomics_at_end;
            shares_.gpc_sms = std::min(shares_.gpc_sms, std::ceil(shares_.active_at_end / rates_.gpcs));
        }
        ReplayedBlock& block = blocks_[index];
        // All SMs start blocks in turn.
        const double interval = rates_.block_interval * shares_.active_sms;
        const bool first = next_block_ <= resident_;
        const double start = !rates_.counts_ends ? starts_.take(now, interval * scale_, memory_.askers_for_blocks())
                             : first ? first_starts_.take(shares_.first_start, rates_.next_interval * scale_)
                                     : now;
        room_.start_block();
        block.running = block.trace->warps.size();
        block.count_phases();
        block.start = start;
        running_ += block.running;
        for (std::uint32_t w = 0; w < block.trace->warps.size(); ++w) {
            const auto number = static_cast<std::uint32_t>(warps_.size());
            ReplayedWarp& warp = warps_.emplace_back();
            warp.block = index;
            warp.events = &block.trace->warps[w];
            if (w < block.trace->phases.size()) warp.phases = &block.trace->phases[w];
            if (w < block.trace->meetings.size()) warp.meetings = &block.trace->meetings[w];
            warp.scheduler = room_.start_warp();
            warp.hold = warp.issued = start;
            warp.waited = {.since = start, .fixed = start};
            if (warp.events->empty())
                end_warp(number, start);
            else
                queue_next(number);
        }
    }

    void end_warp(std::uint32_t index, double now) {
        ReplayedBlock& block = blocks_[warps_[index].block];
        --running_;
        room_.end_warp(warps_[index].scheduler);
        timeline_.warp_cycles += now - block.start;
        timeline_.cycles = std::max(timeline_.cycles, now);
        if (--block.running == 0) {
            timeline_.ends.push_back(now);
            steps_.end_block(now - block.start);
            if (timeline_.blocks.size() < costs::kMostSpans)
                timeline_.blocks.push_back({.block = block.trace->block, .start = block.start, .end = now});
            (void)costs::end_block(
                room_, now, [&] { return has_more(); }, [&](double end) { return count_end(end); },
                [&](double end) {
                    start_block(end + rates_.block_replacement);
                    return true;
                });
        } else {
            for (auto& [number, barrier] : block.meets)
                if (barrier.expected == 0) release_if_complete(block, barrier);
        }
    }

    /// Waves before the block; in the mean of those that it stands for, where it stands for later ones.
    [[nodiscard]] double wave_of(std::size_t block) const {
        const double number = block < shares_.stands_from ? static_cast<double>(block) : shares_.stands_for;
        return std::floor(number / static_cast<double>(resident_));
    }

    /// When a block that ends at `now` counts as ended. One block of each SM ends at about the same time.
    double count_end(double now) {
        if (!rates_.counts_ends) return now;
        const double cycles = rates_.block_interval * shares_.active_sms;
        const double counted = starts_.take(now, cycles * scale_, memory_.askers_for_blocks());
        timeline_.cycles = std::max(timeline_.cycles, counted);
        return counted;
    }

    /// Warps go on that wait at a barrier at which all have arrived. Threads that have ended count as if they had.
    void release_if_complete(const ReplayedBlock& block, ReplayedBarrier& barrier) {
        const bool complete =
            barrier.expected > 0 ? barrier.threads >= barrier.expected : barrier.waiting.size() >= block.running;
        if (complete && !barrier.waiting.empty()) release(barrier);
    }

    void release(ReplayedBarrier& barrier) {
        const double release = barrier.latest.own + rates_.barrier_latency;
        const double lag = barrier.latest.twin - barrier.latest.own;
        const auto released = std::exchange(barrier, {}).waiting;
        for (const auto index : released) {
            ReplayedWarp& warp = warps_[index];
            warp.twin.meet(lag);
            const bool passed = std::exchange(warp.behind_barrier, false);
            if (passed)
                warp.met = release;
            else
                warp.hold = std::max(warp.hold, release);
            if (!passed || std::exchange(warp.stopped, false)) queue_next(index);
        }
    }

    /// The instruction that the warp has issued last arrives at a barrier. Returns whether the warp waits there.
    bool meet(std::uint32_t index, const launch::ProfiledStep& step, double at) {
        ReplayedWarp& warp = warps_[index];
        if (warp.meetings == nullptr || warp.next_meeting == warp.meetings->size()) return false;
        const launch::MeetingUse& use = (*warp.meetings)[warp.next_meeting];
        if (use.event + std::size_t{1} != warp.next) return false;
        ++warp.next_meeting;
        ReplayedBlock& block = blocks_[warp.block];
        ReplayedBarrier& barrier = block.meets[use.barrier];
        barrier.expected = use.expected;
        barrier.threads += use.threads;
        barrier.latest.wait_for({at, at + warp.twin.lag(at)});
        const bool goes_on = use.waits && step.defers_waiting && warp.next < warp.events->size() &&
                             profile_.steps[warp.event().step].passes_barriers;
        warp.behind_barrier = goes_on;
        if (use.waits) barrier.waiting.push_back(index);
        release_if_complete(block, barrier);
        return use.waits && !goes_on;
    }

    /// A record that ends early lacks arrivals at barriers.
    void release_stuck() {
        for (ReplayedBlock& block : blocks_) {
            if (!block.waiters.empty()) {
                const PhaseWaiter waiter = block.waiters.back();
                std::erase_if(block.waiters, [&](const PhaseWaiter& other) { return other.warp == waiter.warp; });
                warps_[waiter.warp].phases_left = 1;
                return go_on(waiter, waiter.written);
            }
            for (auto& [number, barrier] : block.meets)
                if (!barrier.waiting.empty()) return release(barrier);
        }
        running_ = 0;
    }

    /// Puts the warp into the queue with the time at which its next instruction can issue, or ends it.
    void queue_next(std::uint32_t index) {
        ReplayedWarp& warp = warps_[index];
        const bool ends = warp.next == warp.events->size();
        if (warp.behind_barrier && (ends || !profile_.steps[warp.event().step].passes_barriers)) {
            warp.stopped = true;
            return;
        }
        // A warp ends without waiting for results that it does not use, but not before its atomics have left the SM.
        if (ends) return end_warp(index, std::max(warp.issued, warp.atomics_left));
        warp.waited.held = warp.hold;
        const launch::ProfiledStep& step = profile_.steps[warp.event().step];
        if (!step.passes_barriers) {
            warp.waited.met = std::exchange(warp.met, 0);
            warp.hold = std::max(warp.hold, warp.waited.met);
        }
        fetch(warp);
        warp.waited.constants = constant_operands_[warp.scheduler].there(step.constant, constant_port_, warp.hold);
        const double when = warp.ready(step);
        // Accesses keep the order of time, because all schedulers share what serves them.
        if (!preferred_ && warp.goes_on && when <= warp.issued + rates_.issue_interval &&
            warp.event().access == launch::kNoAccess)
            preferred_.emplace(when, index);
        else
            queue_.emplace(when, index);
    }

    /// The next instruction waits for its code.
    void fetch(ReplayedWarp& warp) {
        if (!code_.described()) return;
        const std::uint64_t address = profile_.steps[warp.event().step].address, line = code_.line_of(address);
        if (line == std::exchange(warp.code_line, line)) return;
        warp.hold = std::max(warp.hold, code_.there(address, warp.scheduler, warp.issued));
    }

    /// Whether the warp joins the others that wait for the port. One that has a turn goes before them.
    bool waits_at(std::size_t port, std::uint32_t index, double now, bool has_turn) {
        if (units_.free(port) <= now && (has_turn || ports_.waiting(port).empty())) return false;
        const ReplayedWarp& warp = warps_[index];
        const bool by_age = rates_.oldest_block_first && !units_.serves_all_schedulers(port);
        ports_.add(port, {.age = by_age ? warp.block : 0,
                          .issued = warp.next > 0 ? warp.issued : warp.issued - kBeforeOthers,
                          .warp = index});
        call(port, now);
        return true;
    }

    /// The port is looked at when it is free.
    void call(std::size_t port, double now) {
        if (ports_.call(port))
            queue_.emplace(std::max(now, units_.free(port)), kFirstPort + static_cast<std::uint32_t>(port));
    }

    /// The warp that is next issues, if the port is free. It may have to wait elsewhere, and the port then serves the
    /// one after it.
    void serve(std::size_t port, double now) {
        ports_.answer(port);
        const Turn turn = units_.is_scheduler(port) ? Turn::of_scheduler : Turn::of_unit;
        while (!ports_.waiting(port).empty() && units_.free(port) <= now) issue(ports_.take_next(port), now, turn);
        if (!ports_.waiting(port).empty()) call(port, now);
    }

    /// The warp issues its next instruction, or waits for its turn.
    void issue(std::uint32_t index, double now, Turn turn) {
        ReplayedWarp& warp = warps_[index];
        const launch::WarpEvent& event = warp.event();
        const launch::ProfiledStep& step = profile_.steps[event.step];
        if (const double room = units_.room_for(warp, step, event); room > now) {
            warp.waited.unit_free = room;
            queue_.emplace(room, index);
            return;
        }
        const std::uint32_t scheduler = warp.scheduler;
        if (SmUnits::waits_for_unit(step, event)) {
            if (waits_at(units_.port_of_unit(step, scheduler), index, now, turn != Turn::none)) return;
            if (turn == Turn::of_unit) warp.waited.unit_free = now;
        }
        if (waits_at(scheduler, index, now, turn == Turn::of_scheduler)) return;
        const double at = units_.issue(step, event, scheduler, index, now);
        warp.waited.step = event.step;
        warp.waited.chosen = now;
        warp.waited.at = at;
        if (shares_.contention) timeline_.stalls.issue(warp.waited, rates_.issue_interval);
        warp.waited = {.before = event.step, .since = at, .fixed = at + step.stall};
        warp.issued = at;
        warp.hold = at + std::max<double>(step.stall, step.rejoins);
        warp.goes_on = step.goes_on;
        ++warp.next;
        complete(index, step, event, at);
    }

    /// A warp whose phase has ended.
    void go_on(const PhaseWaiter& waiter, double ended) {
        ReplayedWarp& warp = warps_[waiter.warp];
        warp.hold = std::max(warp.hold, ended);
        if (--warp.phases_left > 0) return;
        const double written = std::max(waiter.written, warp.hold + rates_.bulk.checked);
        warp.release(profile_.steps[waiter.step], waiter.step, waiter.read, written);
        queue_next(waiter.warp);
    }

    /// The instruction that the warp has issued last arrives at barriers at `when`, and asks for phases. Returns false
    /// where it waits for a phase.
    bool use_phases(std::uint32_t index, std::uint32_t step, double when, double read, double& written) {
        ReplayedWarp& warp = warps_[index];
        if (warp.phases == nullptr) return true;
        ReplayedBlock& block = blocks_[warp.block];
        bool goes_on = true;
        for (; warp.next_phase < warp.phases->size(); ++warp.next_phase) {
            const launch::PhaseUse& use = (*warp.phases)[warp.next_phase];
            if (use.event + std::size_t{1} != warp.next) break;
            if (!use.checks) {
                arrive_at_phase(block, use, when);
                continue;
            }
            written += rates_.bulk.check;
            if (use.phase == 0) continue;
            const ReplayedPhase& phase = block.phase(use.barrier, use.phase - 1);
            if (phase.left == 0) {
                written = std::max(written, phase.ended + rates_.bulk.checked);
                continue;
            }
            block.waiters.push_back({index, step, use.barrier, use.phase - 1, read, written});
            ++warp.phases_left;
            goes_on = false;
        }
        return goes_on;
    }

    void arrive_at_phase(ReplayedBlock& block, const launch::PhaseUse& use, double when) {
        ReplayedPhase& phase = block.phase(use.barrier, use.phase);
        phase.ended = std::max(phase.ended, when);
        if (phase.left == 0 || --phase.left > 0) return;
        const double ended = phase.ended;
        std::vector<PhaseWaiter> released;
        std::erase_if(block.waiters, [&](const PhaseWaiter& waiter) {
            const bool waits = waiter.barrier == use.barrier && waiter.phase == use.phase;
            if (waits) released.push_back(waiter);
            return waits;
        });
        for (const PhaseWaiter& waiter : released) go_on(waiter, ended);
    }

    void complete(std::uint32_t index, const launch::ProfiledStep& step, const launch::WarpEvent& event, double at) {
        ReplayedWarp& warp = warps_[index];
        if (event.access == launch::kNotExecuted) {
            if (step.kind == launch::StepKind::branch) jump(warp, step, event, at);
            return queue_next(index);
        }
        double read = at + std::max(step.interval, rates_.issue_interval), written = at + step.latency;
        if (step.queues && step.unit >= 0) {
            read = written = units_.queue(step, warp.scheduler, at) + step.latency;
        }
        if (step.shows_stores) read = written = std::max(at, warp.shared_stored) + step.latency;
        double arrives = at + rates_.bulk.arrival;
        if (step.kind == launch::StepKind::bulk_copy) {
            if (event.access != launch::kNoAccess) {
                arrives = units_.copy_bulk(warp, *blocks_[warp.block].trace, event, memory_, at);
                timeline_.cycles = std::max(timeline_.cycles, arrives * scale_);
            }
        } else if (event.access != launch::kNoAccess) {
            const auto served = units_.access(warp, *blocks_[warp.block].trace, step, event, memory_, at);
            read = std::max(read, served.read);
            written = served.written;
        }
        if (warp.copies_done > 0 && step.kind == launch::StepKind::shared)
            arrives = std::max(arrives, step.text.starts_with("ARRIVES") ? warp.copies_done : 0);
        if (!use_phases(index, event.step, arrives, read, written)) return;
        switch (step.kind) {
            case launch::StepKind::bulk_group:
                read = std::max(read, warp.bulk_read);
                written = std::max(written, warp.bulk_done);
                break;
            case launch::StepKind::constant:
                written = std::max(written, at) + rates_.constant_latency;
                warp.memory_done = std::max(warp.memory_done, written);
                break;
            case launch::StepKind::copy_barrier: written = std::max(at, warp.copies_done); break;
            case launch::StepKind::wait: warp.wait(step, at); break;
            case launch::StepKind::fence:
                if (step.latency == 0) break;
                warp.hold = std::max(warp.hold, rates_.fences.end(step.latency, at, warp.memory_done, warp.stored));
                warp.stored = 0;
                break;
            case launch::StepKind::branch: jump(warp, step, event, at); break;
            default: break;
        }
        warp.release(step, event.step, read, written);
        if (!meet(index, step, at)) queue_next(index);
    }

    /// A warp that goes on elsewhere waits for the branch.
    void jump(ReplayedWarp& warp, const launch::ProfiledStep& step, const launch::WarpEvent& event, double at) const {
        if (warp.next < warp.events->size() && warp.event().step != event.step + 1)
            warp.hold = std::max(warp.hold, at + std::max(rates_.branch_latency, step.latency));
    }

    const launch::LaunchProfile& profile_;
    const SmRates& rates_;
    Shares shares_;
    double scale_;  ///< of the cycles for which something is busy: 0 where nothing ever is
    std::size_t resident_;
    costs::BlockRoom room_;
    Timeline timeline_;
    SmMemory memory_;
    ReadOnlyPath code_;
    std::vector<costs::ConstantOperands> constant_operands_;  ///< by scheduler
    costs::ConstantPort constant_port_;                       ///< of the cache behind them
    SmUnits units_;
    Server first_starts_;     ///< of blocks on an empty GPU
    GpuServer starts_{true};  ///< of blocks, or ends that count
    StepsApart steps_;
    std::vector<ReplayedBlock> blocks_;
    std::vector<ReplayedWarp> warps_;
    std::optional<Next> preferred_;  ///< a warp that issues before those in the queue
    /// By time: warps, and ports at which warps wait as numbers from kFirstPort on.
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue_;
    PortQueues ports_;
    std::size_t next_block_ = 0, running_ = 0;
    std::size_t first_last_ = 0;  ///< number of the first of the last blocks

    static constexpr std::size_t kNeverBranches = std::numeric_limits<std::size_t>::max();
    /// Blocks that one end starts, in most launches. Where it starts more, the shorter replay begins anew.
    static constexpr std::size_t kMostAtOnce = 2;
    std::size_t branches_at_ = kNeverBranches;
    bool differs_ = false;  ///< a replay without the blocks from there on has done something else
};

}  // namespace

Timeline replay_sm(const launch::LaunchProfile& profile, const SmRates& rates, const Shares& shares,
                   std::span<const launch::BlockTrace> blocks) {
    Replay replay(profile, rates, shares);
    replay.begin(blocks, {});
    return replay.run();
}

WholeAndFirst replay_whole_and_first(const launch::LaunchProfile& profile, const SmRates& rates, const Shares& shares,
                                     std::span<const launch::BlockTrace> blocks,
                                     std::span<const launch::BlockTrace* const> last, std::size_t first) {
    Replay replay(profile, rates, shares);
    replay.begin(blocks, last);
    auto [whole, branch] = replay.run_and_branch(first);
    return {.whole = std::move(whole),
            .first = branch ? branch->run() : replay_sm(profile, rates, shares, blocks.first(first))};
}

}  // namespace gputomo::predict
