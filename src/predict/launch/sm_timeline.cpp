#include "predict/launch/sm_timeline.hpp"

#include "costs/beside_products.hpp"
#include "predict/launch/gpu_server.hpp"
#include "predict/launch/sm_memory.hpp"
#include "predict/launch/sm_server.hpp"
#include "predict/launch/steps_apart.hpp"
#include "predict/launch/warp_timeline.hpp"
#include "units/interruption.hpp"

#include <algorithm>
#include <array>
#include <bit>
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
          constants_(rates.constants, static_cast<std::size_t>(rates.schedulers), scale_),
          constant_operands_(
              static_cast<std::size_t>(rates.schedulers),
              costs::ConstantOperands(shares.contention ? rates.constants_read : rates.constants_read.alone())),
          constant_port_(shares.contention ? rates.constants_read : rates.constants_read.alone()),
          issue_(static_cast<std::size_t>(rates.schedulers)),
          ports_(issue_.size(), costs::RegisterPorts(rates.registers)),
          shared_queue_(rates.shared_queue, issue_.size()),
          units_of_sm_(profile.units.size()),
          units_(profile.units.size() * issue_.size()),
          products_(issue_.size()) {
        for (const auto& step : profile.steps)
            if (const auto unit = static_cast<std::size_t>(step.unit);
                step.results > 0 && std::ranges::find(arithmetic_units_, unit) == arithmetic_units_.end())
                arithmetic_units_.push_back(unit);
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
        const auto [now, index] = next();
        issue(index, now);
    }

    /// Whether the next instruction may be the last one of a block.
    [[nodiscard]] bool may_end_block() const {
        const ReplayedWarp& warp = warps_[preferred_ ? preferred_->second : queue_.top().second];
        return warp.next + 1 == warp.events->size();
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
        fill_busy();
        fill_used();
        return std::move(timeline_);
    }

    void start_block(double now) {
        look_for_interruption();
        const auto index = static_cast<std::uint32_t>(next_block_++);
        if (next_block_ > resident_) memory_.start_later_wave(steps_.after(wave_of(index)));
        if (next_block_ > first_last_) {
            shares_.active_sms = shares_.active_at_end;
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

    Next next() {
        if (preferred_) return *std::exchange(preferred_, std::nullopt);
        const Next first = queue_.top();
        queue_.pop();
        return first;
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

    Server& unit_of(const launch::ProfiledStep& step, std::uint32_t scheduler) {
        const auto unit = static_cast<std::size_t>(step.unit);
        return profile_.units[unit].of_sm ? units_of_sm_[unit] : units_[unit * issue_.size() + scheduler];
    }

    void issue(std::uint32_t index, double now) {
        ReplayedWarp& warp = warps_[index];
        const launch::WarpEvent& event = warp.event();
        const launch::ProfiledStep& step = profile_.steps[event.step];
        if (const double room = room_for(warp, step, event); room > now) {
            warp.waited.unit_free = room;
            queue_.emplace(room, index);
            return;
        }
        if (step.unit >= 0 && !step.queues && !warp.has_unit && event.access != launch::kNotExecuted) {
            const double start = unit_of(step, warp.scheduler).take(now, step.interval * scale_);
            warp.waited.unit_free = start;
            if (start > now) {
                // Others issue until the unit is free.
                warp.has_unit = true;
                queue_.emplace(start, index);
                return;
            }
        }
        warp.has_unit = false;
        const double slots = slots_of(step, event);
        const double chosen = issue_[warp.scheduler].take(now, slots * rates_.issue_interval * scale_);
        const double at = scale_ > 0 ? ports_[warp.scheduler].issue(step.reads, index, chosen) : chosen;
        issue_[warp.scheduler].free += at - chosen;
        warp.waited.step = event.step;
        warp.waited.chosen = chosen;
        warp.waited.at = at;
        if (shares_.contention) timeline_.stalls.issue(warp.waited, rates_.issue_interval);
        warp.waited = {.before = event.step, .since = at, .fixed = at + step.stall};
        issued_ += rates_.issue_interval;
        warp.issued = at;
        warp.hold = at + std::max<double>(step.stall, step.rejoins);
        warp.goes_on = step.goes_on;
        ++warp.next;
        hold_arithmetic_back(step, event, warp.scheduler, at);
        complete(index, step, event, at);
    }

    /// Beside products of warp groups, arithmetic of all units waits after an instruction that writes registers.
    void hold_arithmetic_back(const launch::ProfiledStep& step, const launch::WarpEvent& event, std::uint32_t scheduler,
                              double at) {
        if (step.results == 0 || event.access == launch::kNotExecuted) return;
        const double next = products_[scheduler].next(at, step.results);
        if (next <= at) return;
        for (const auto unit : arithmetic_units_) {
            Server& server = units_[unit * issue_.size() + scheduler];
            server.free = std::max(server.free, next);
        }
    }

    /// When the queue of shared memory has room for the instruction.
    [[nodiscard]] double room_for(const ReplayedWarp& warp, const launch::ProfiledStep& step,
                                  const launch::WarpEvent& event) const {
        const bool waits = step.kind == launch::StepKind::shared && event.access < launch::kNotExecuted;
        return waits && shared_queue_.described() && scale_ > 0 ? shared_queue_.room(warp.scheduler) : 0;
    }

    [[nodiscard]] double slots_of(const launch::ProfiledStep& step, const launch::WarpEvent& event) const {
        if (event.access == launch::kNotExecuted) return 1;
        if (event.access == launch::kNoAccess || step.kind == launch::StepKind::constant) return step.slots;
        return step.kind == launch::StepKind::shared ? rates_.shared_slots : rates_.access_slots;
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

    /// The SM's unit takes the lines of bulk copies one after the other. Returns when all bytes are where they go.
    double copy_bulk(ReplayedWarp& warp, const launch::WarpEvent& event, double at) {
        const launch::BlockTrace& trace = *blocks_[warp.block].trace;
        const launch::WarpAccess& access = trace.accesses[event.access];
        const bool writes = access.kind != launch::AccessKind::load;
        const costs::BulkSpec& spec = rates_.bulk;
        const double start = writes ? spec.store_start : access.tensor ? spec.tensor_start : spec.start;
        const double rate = writes ? spec.store_bytes_per_cycle : spec.bytes_per_cycle;
        const double earlier = writes ? 0 : access.tensor ? spec.tensor_earlier : spec.earlier;
        double done = at + start;
        for (std::size_t i = access.first; i < std::size_t{access.first} + access.lines; ++i) {
            const launch::TouchedLine& line = trace.lines[i];
            const double bytes = std::popcount(line.sectors) * static_cast<double>(launch::kTouchedSectorBytes);
            const double leaves = bulk_.take(at, std::max(spec.piece, rate > 0 ? bytes / rate : 0) * scale_) + start;
            done = std::max(done, memory_.served(access, {line, trace.sharers_of(i)}, leaves, warp.twin) - earlier);
            if (writes) warp.bulk_read = std::max(warp.bulk_read, leaves);
        }
        if (writes) warp.bulk_done = std::max(warp.bulk_done, done);
        timeline_.cycles = std::max(timeline_.cycles, done * scale_);
        return done;
    }

    void complete(std::uint32_t index, const launch::ProfiledStep& step, const launch::WarpEvent& event, double at) {
        ReplayedWarp& warp = warps_[index];
        if (event.access == launch::kNotExecuted) {
            if (step.kind == launch::StepKind::branch) jump(warp, step, event, at);
            return queue_next(index);
        }
        double read = at + std::max(step.interval, rates_.issue_interval), written = at + step.latency;
        if (step.queues && step.unit >= 0) {
            Server& unit = unit_of(step, warp.scheduler);
            written = unit.take(at, step.interval * scale_) + step.latency;
            if (step.beside > 0) products_[warp.scheduler].add(unit.free, step.beside * scale_);
            read = written;
        }
        if (step.shows_stores) read = written = std::max(at, warp.shared_stored) + step.latency;
        double arrives = at + rates_.bulk.arrival;
        if (step.kind == launch::StepKind::bulk_copy) {
            if (event.access != launch::kNoAccess) arrives = copy_bulk(warp, event, at);
        } else if (event.access != launch::kNoAccess) {
            access(warp, step, event, at, read, written);
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

    void access(ReplayedWarp& warp, const launch::ProfiledStep& step, const launch::WarpEvent& event, double at,
                double& read, double& written) {
        const launch::BlockTrace& trace = *blocks_[warp.block].trace;
        const launch::WarpAccess& access = trace.accesses[event.access];
        double done = at, first_word = 0;
        if (access.bank_cycles > 0) {
            const double start = storage().take(at, static_cast<double>(access.bank_cycles) * scale_);
            if (shared_queue_.described())
                shared_queue_.note(warp.scheduler, access.kind == launch::AccessKind::load, at, start);
            read = std::max(read, start);
            done = start + static_cast<double>(access.bank_latency);
            if (access.kind == launch::AccessKind::store) warp.shared_stored = std::max(warp.shared_stored, done);
            first_word = done - static_cast<double>(access.conflict);
        }
        const std::span lines(trace.lines.data() + access.first, access.lines);
        if (access.stage == launch::Stage::constants) done = constants_at(lines, warp, at);
        if (access.stage_cycles > 0) {
            const double cycles = static_cast<double>(access.stage_cycles);
            const double first = stages_[static_cast<std::size_t>(access.stage)].take(at, cycles * scale_);
            done = std::max({done, first, at + static_cast<double>(access.spread)});
            const double later =
                access.stage == launch::Stage::textures ? rates_.texture_latency - rates_.l1_latency : 0;
            for (std::size_t i = 0; i < lines.size() && access.stage != launch::Stage::constants; ++i) {
                const double leaves = first + cycles * static_cast<double>(i) / static_cast<double>(lines.size());
                read = std::max(read, leaves);
                const SharedLine line{lines[i], trace.sharers_of(access.first + i)};
                const double there = memory_.served(access, line, leaves, warp.twin) + later;
                first_word = i == 0 ? there : std::min(first_word, there);
                done = std::max(done, there);
            }
            if (access.kind == launch::AccessKind::atomic) warp.atomics_left = memory_.atomics_left();
            if (access.kind == launch::AccessKind::store) warp.hold = std::max(warp.hold, done - rates_.store_queue);
        }
        if (access.returning > 0)
            done = warp.returning.back({.first = first_word,
                                        .last = done,
                                        .cycles = static_cast<double>(access.returning),
                                        .spread = static_cast<double>(access.conflict)});
        if (step.kind == launch::StepKind::copy) warp.copies_done = std::max(warp.copies_done, done);
        if (access.kind != launch::AccessKind::store)
            warp.memory_done = std::max(warp.memory_done, done);
        else if (access.bank_cycles == 0)
            warp.stored = std::max(warp.stored, done);
        written = done;
    }

    /// When the first cache of constants has all of these lines.
    double constants_at(std::span<const launch::TouchedLine> lines, const ReplayedWarp& warp, double at) {
        double done = at;
        if (!constants_.described()) return done;
        costs::ConstantLines of_load(rates_.constant_lines);
        const double hit = rates_.constant_lines.hit;
        for (const launch::TouchedLine& line : lines)
            for (std::uint32_t sectors = line.sectors; sectors != 0; sectors &= sectors - 1) {
                const auto sector = static_cast<std::uint64_t>(std::countr_zero(sectors));
                const std::uint64_t address =
                    line.line * launch::kTouchedLineBytes + sector * launch::kTouchedSectorBytes;
                const double there = constants_.there(address, warp.scheduler, at);
                done = std::max(done, of_load.there(address, at, there + hit) - hit);
            }
        return done;
    }

    Server& storage() { return stages_[static_cast<std::size_t>(launch::Stage::storage)]; }

    void fill_busy() {
        const auto most = [](std::span<const Server> servers) {
            return std::ranges::max(servers, {}, &Server::busy).busy;
        };
        auto& busy = timeline_.busy;
        busy[kIssue] = most(issue_);
        busy[kRegisterPorts] = std::ranges::max(ports_, {}, &costs::RegisterPorts::busy).busy();
        for (std::size_t unit = 0; unit < profile_.units.size(); ++unit)
            busy["unit " + profile_.units[unit].name] = std::max(units_of_sm_[unit].busy, most(of_schedulers(unit)));
        constexpr std::array kNames{kStorage, kFirstCache, kConstants, kTextures};  // by launch::Stage
        for (std::size_t stage = 0; stage < kNames.size(); ++stage) busy[kNames[stage]] = stages_[stage].busy;
        memory_.fill_busy(busy);
        busy[kBlockStarts] = starts_.busy();
        std::erase_if(busy, [](const auto& row) { return row.second == 0; });
    }

    void fill_used() {
        const auto stage = [this](launch::Stage which) { return stages_[static_cast<std::size_t>(which)].busy; };
        const auto schedulers = static_cast<double>(issue_.size());
        Utilisation& used = timeline_.used = memory_.used();
        used.sm = std::max(issued_ / schedulers, stage(launch::Stage::constants));
        for (std::size_t unit = 0; unit < profile_.units.size(); ++unit) {
            double sum = 0;
            for (const Server& server : of_schedulers(unit)) sum += server.busy;
            used.sm = std::max({used.sm, units_of_sm_[unit].busy, sum / schedulers});
        }
        used.l1 = std::max({used.l1, stage(launch::Stage::storage), stage(launch::Stage::first_cache),
                            stage(launch::Stage::textures)});
        // SMs without blocks count as well.
        used.sm *= shares_.active_sms / rates_.sms;
        used.l1 *= shares_.active_sms / rates_.sms;
    }

    [[nodiscard]] std::span<const Server> of_schedulers(std::size_t unit) const {
        return std::span(units_).subspan(unit * issue_.size(), issue_.size());
    }

    const launch::LaunchProfile& profile_;
    const SmRates& rates_;
    Shares shares_;
    double scale_;  ///< of the cycles for which something is busy: 0 where nothing ever is
    std::size_t resident_;
    costs::BlockRoom room_;
    Timeline timeline_;
    SmMemory memory_;
    ReadOnlyPath code_, constants_;
    std::vector<costs::ConstantOperands> constant_operands_;  ///< by scheduler
    costs::ConstantPort constant_port_;                       ///< of the cache behind them
    std::vector<Server> issue_;
    std::vector<costs::RegisterPorts> ports_;  ///< by scheduler
    costs::SharedQueue shared_queue_;
    std::vector<Server> units_of_sm_, units_;
    std::vector<costs::ProductsUnderWay> products_;  ///< by scheduler
    std::vector<std::size_t> arithmetic_units_;      ///< of a scheduler
    /// Cycles in which an instruction issued, without the further slots that it takes.
    double issued_ = 0;
    Server bulk_;                   ///< the unit of bulk copies
    std::array<Server, 4> stages_;  ///< by launch::Stage
    Server first_starts_;           ///< of blocks on an empty GPU
    GpuServer starts_{true};        ///< of blocks, or ends that count
    StepsApart steps_;
    std::vector<ReplayedBlock> blocks_;
    std::vector<ReplayedWarp> warps_;
    std::optional<Next> preferred_;  ///< a warp that issues before those in the queue
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue_;
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
