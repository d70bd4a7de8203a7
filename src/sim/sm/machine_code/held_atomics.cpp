// Atomics that memory performs in the order in which its units serve them, not when their warps issue them. A unit has
// a queue for the requests of each part of the GPU and serves the queues in turn.
#include "sim/sm/machine_code/sass_engine.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gputomo::sim {

namespace {

/// The place of a queue among those that a unit serves in turn. Neighbouring SMs do not follow each other. Otherwise
/// requests came in the order of their blocks' numbers, as they do not on a GPU.
std::size_t turn_of(std::size_t queue, std::size_t queues) {
    constexpr double kGolden = 0.618;  // spreads neighbours evenly
    auto stride = static_cast<std::size_t>(kGolden * static_cast<double>(queues)) + 1;
    while (std::gcd(stride, queues) != 1) ++stride;
    return queue * stride % queues;
}

}  // namespace

/// Only where threads compare and swap does the order decide how much is executed.
void SassEngine::find_held() {
    held_.assign(program_.steps.size(), false);
    if (!unknown_.empty() || setup_.memory_system.atomic_units() == 0) return;
    for (std::size_t at = 0; at < program_.steps.size(); ++at) {
        held_[at] = machine_code::can_be_held(program_.steps[at]);
        const bool swaps = accesses_[at].atomic_class == costs::AtomicClass::compare_swap;
        holds_atomics_ = holds_atomics_ || (held_[at] && swaps);
    }
    if (!holds_atomics_) return;
    held_loads_.assign(program_.steps.size(), false);
    for (std::size_t at = 0; at < program_.steps.size(); ++at)
        held_loads_[at] = machine_code::can_wait_behind_atomics(program_.steps[at]);
    if (const auto found = setup_.machine.accesses.find("l2_atomic"); found != setup_.machine.accesses.end())
        most_in_flight_ = static_cast<std::uint64_t>(found->second.sm_sectors_in_flight.value_or(0));
    in_flight_.assign(static_cast<std::size_t>(facts_.sms), 0);
    for_room_.resize(static_cast<std::size_t>(facts_.sms));
    if (const auto units = costs::atomic_units_of(setup_.machine)) load_cycles_ = units->apart({});
    atomic_queues_.resize(setup_.memory_system.atomic_units());
    for (AtomicQueues& unit : atomic_queues_) unit.waiting.resize(setup_.memory_system.atomic_queues());
}

std::size_t SassEngine::place_for_held() {
    if (free_atomics_.empty()) {
        atomics_.emplace_back();
        return atomics_.size() - 1;
    }
    const std::size_t place = free_atomics_.back();
    free_atomics_.pop_back();
    return place;
}

void SassEngine::hold(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now) {
    const std::size_t place = place_for_held();
    mask = step.uniform ? 1U : mask;
    HeldInstruction& held = atomics_[place];
    held = {.atomic = machine_code::hold_atomic(warp.state, step, mask),
            .block = warp.state.block,
            .step = at,
            .warp = static_cast<std::uint32_t>(&warp - of_warps_.data()),
            .started = warp.started,
            .mask = mask};
    sent_.clear();
    const AccessTimes times = access_memory(warp, at, mask, now, &sent_);
    held.requests = sent_.size();
    held.returning = times.returning;
    held.spread = times.spread;
    const SassNeeds& needs = needs_[at];
    if (needs.read_barrier != sass::kNoBarrier) {
        const double read = std::max(times.warp_free, now + units_.scheduler_spec.issue_interval);
        warp.barriers.add(needs.read_barrier, read, read, static_cast<std::uint32_t>(at));
    }
    if (needs.write_barrier != sass::kNoBarrier) warp.barriers.open(needs.write_barrier);
    ++warp.held;
    for (const SentAtomic& sent : sent_) queue(sent, place);
}

std::uint32_t SassEngine::hold_load(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now) {
    constexpr std::uint64_t kSector = costs::AtomicUnits::kSectorBytes;
    const Scheduler& scheduler = units_.schedulers[warp.scheduler];
    machine_code::HeldAtomic load = machine_code::hold_load(warp.state, step, mask);
    Transaction transaction{.bytes = kSector,
                            .sm = scheduler.sm,
                            .hint = accesses_[at].skips_near ? CacheHint::l2_only : CacheHint::all,
                            .scheduler = scheduler.number};
    sent_.clear();
    for_lanes(mask, [&](int lane) {
        const std::uint64_t address = load.addresses[static_cast<std::size_t>(lane)];
        transaction.address = address / kSector * kSector;
        const auto same = std::ranges::find(sent_, transaction.address,
                                            [](const SentAtomic& sent) { return sent.transaction.address; });
        if (same != sent_.end()) {
            same->lanes |= 1U << lane;
            return;
        }
        const auto to = setup_.memory_system.place_of(transaction);
        const auto& waiting = atomic_queues_[to.unit].waiting;
        if (waiting[turn_of(to.queue, waiting.size())].empty()) return;
        const bool near = !accesses_[at].skips_near &&
                          setup_.memory_system.holds_near(PathKind::global, scheduler.sm, scheduler.number, address);
        if (!near) sent_.push_back({.transaction = transaction, .arrival = now, .lanes = 1U << lane});
    });
    if (sent_.empty()) return mask;
    load.lanes = 0;
    for (const SentAtomic& sent : sent_) load.lanes |= sent.lanes;
    const std::size_t place = place_for_held();
    atomics_[place] = {.atomic = load,
                       .block = warp.state.block,
                       .step = at,
                       .warp = static_cast<std::uint32_t>(&warp - of_warps_.data()),
                       .started = warp.started,
                       .mask = load.lanes,
                       .requests = sent_.size()};
    const SassNeeds& needs = needs_[at];
    if (needs.read_barrier != sass::kNoBarrier)
        warp.barriers.add(needs.read_barrier, now, now, static_cast<std::uint32_t>(at));
    if (needs.write_barrier != sass::kNoBarrier) warp.barriers.open(needs.write_barrier);
    ++warp.held;
    for (const SentAtomic& sent : sent_) queue(sent, place);
    return mask & ~load.lanes;
}

void SassEngine::queue(const SentAtomic& sent, std::size_t atomic) {
    const auto to = setup_.memory_system.place_of(sent.transaction);
    AtomicQueues& unit = atomic_queues_[to.unit];
    auto& waiting = unit.waiting[turn_of(to.queue, unit.waiting.size())];
    // Those of other SMs may arrive earlier.
    auto at = waiting.end();
    while (at != waiting.begin() && std::prev(at)->sent.arrival > sent.arrival) --at;
    waiting.insert(at, {sent, atomic});
    ++waiting_requests_;
    ++in_flight_[sent.transaction.sm];
    const double when = std::max(sent.arrival, unit.free);
    if (when >= unit.event) return;
    unit.event = when;
    post_unit(to.unit, when);
}

void SassEngine::serve_unit(std::size_t number, double now) {
    AtomicQueues& unit = atomic_queues_[number];
    if (unit.event != now) return;  // another event has come before
    const std::size_t queues = unit.waiting.size();
    double soonest = kNever;
    for (std::size_t i = 0; i < queues; ++i) {
        auto& waiting = unit.waiting[(unit.next + i) % queues];
        if (waiting.empty()) continue;
        if (waiting.front().sent.arrival > now) {
            soonest = std::min(soonest, waiting.front().sent.arrival);
            continue;
        }
        const AtomicQueues::Request request = waiting.front();
        waiting.pop_front();
        --waiting_requests_;
        --in_flight_[request.sent.transaction.sm];
        unit.next = (unit.next + i + 1) % queues;
        HeldInstruction& held = atomics_[request.atomic];
        const Transaction& transaction = request.sent.transaction;
        MemorySystem::Served served;
        if (transaction.kind == AccessKind::load) {
            if (views_) views_->select(transaction.sm, transaction.scheduler);
            perform(held, request.sent.lanes);  // before it fills the SM's own cache
            served = {.done = setup_.memory_system.access(transaction, now), .free = now + load_cycles_};
        } else {
            served = setup_.memory_system.serve(transaction, now);
            perform(held, request.sent.lanes);
        }
        unit.free = std::max(now, served.free);
        held.first = std::min(held.first, served.done);
        held.last = std::max(held.last, served.done);
        if (--held.requests == 0) end_atomic(request.atomic, now);
        make_room(transaction.sm, now);
        soonest = unit.free;
        break;
    }
    const bool more = std::ranges::any_of(unit.waiting, [](const auto& waiting) { return !waiting.empty(); });
    unit.event = more ? soonest : kNever;
    if (more) post_unit(number, unit.event);
}

bool SassEngine::wait_for_room(Warp& warp, std::size_t at) {
    const std::uint32_t sm = units_.schedulers[warp.scheduler].sm;
    warp.waits_for_room =
        most_in_flight_ > 0 && held_[std::min(at, held_.size() - 1)] && in_flight_[sm] >= most_in_flight_;
    if (warp.waits_for_room) for_room_[sm].insert(static_cast<std::uint32_t>(&warp - of_warps_.data()));
    return warp.waits_for_room;
}

void SassEngine::make_room(std::uint32_t sm, double now) {
    auto& waiting = for_room_[sm];
    while (!waiting.empty() && in_flight_[sm] < most_in_flight_) {
        Warp& warp = of_warps_[*waiting.begin()];
        waiting.erase(waiting.begin());
        if (!warp.waits_for_room) continue;
        warp.waits_for_room = false;
        return wake(warp, now);
    }
}

void SassEngine::end_atomic(std::size_t place, double now) {
    const HeldInstruction held = std::exchange(atomics_[place], {});
    free_atomics_.push_back(place);
    Warp& warp = of_warps_[held.warp];
    double done = held.last;
    const bool lives = warp.started == held.started && !warp.paths.done();
    if (lives && held.returning > 0)
        done = warp.returning.back(
            {.first = held.first, .last = held.last, .cycles = held.returning, .spread = held.spread});
    latest_load(done);
    if (!lives) return;
    warp.memory_done = std::max(warp.memory_done, done);
    const SassNeeds& needs = needs_[held.step];
    if (needs.write_barrier != sass::kNoBarrier) {
        warp.barriers.close(needs.write_barrier);
        warp.barriers.add(needs.write_barrier, done, done, static_cast<std::uint32_t>(held.step));
    }
    --warp.held;
    if (warp.waits_for_atomics) wake(warp, now);
}

void SassEngine::perform(HeldInstruction& held, std::uint32_t lanes) {
    lanes &= held.atomic.lanes;
    if (lanes == 0) return;
    Warp& warp = of_warps_[held.warp];
    const Step& step = program_.steps[held.step];
    const bool lives = warp.started == held.started && !warp.paths.done();
    if (held_loads_[held.step]) {
        if (lives) machine_code::load(held.atomic, warp.state, step, lanes);
        held.atomic.lanes &= ~lanes;
    } else {
        machine_code::perform(held.atomic, *held.block, lives ? &warp.state : nullptr, step, lanes);
    }
    counters_.swaps += std::exchange(held.block->swaps, 0);
    counters_.failed_swaps += std::exchange(held.block->failed_swaps, 0);
    if (!lives || held.atomic.lanes != 0 || watches_.empty()) return;
    warp.state.block->addresses = held.atomic.addresses;
    watch(warp, step, held.step, held.mask);
}

bool SassEngine::reaches_memory(std::size_t at) const {
    switch (needs_[at].kind) {
        case SassKind::memory:
            return accesses_[at].space == ptx::Space::global || accesses_[at].space == ptx::Space::generic;
        case SassKind::copy:
        case SassKind::bulk_copy:
        case SassKind::texture: return true;
        default: return false;
    }
}

void SassEngine::perform_of(Warp& warp) {
    const auto number = static_cast<std::uint32_t>(&warp - of_warps_.data());
    for (HeldInstruction& held : atomics_)
        if (held.requests > 0 && held.warp == number && held.started == warp.started) perform(held, held.atomic.lanes);
}

}  // namespace gputomo::sim
