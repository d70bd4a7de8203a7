#include "sim/sm/load_store/load_store.hpp"

#include "machine/store_queue.hpp"
#include "sim/exec/lanes.hpp"
#include "sim/memory/description.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

using ptx::Space;

/// Cycles between two transactions of one instruction, where departure() names no other number.
constexpr double kTransactionSpacing = 1;

/// One warp instruction on one path.
struct PathAccess {
    Coalescer& coalescer;
    PathKind path;
    std::uint32_t bytes;  ///< of each thread
};

AccessTimes at_once(double now) {
    return {.done = now, .warp_free = now, .warp_gap = now, .scheduler_free = now, .last = now};
}

void include(AccessTimes& all, const AccessTimes& part) {
    all.done = std::max(all.done, part.done);
    all.warp_free = std::max(all.warp_free, part.warp_free);
    all.warp_gap = std::max(all.warp_gap, part.warp_gap);
    all.scheduler_free = std::max(all.scheduler_free, part.scheduler_free);
    all.last = std::max(all.last, part.last);
}

/// A memory instruction takes `slots` issue slots. It is issued again while transactions or bank-conflict ways are left
/// that the issues so far do not serve (Volkov 2016, 3.6, 4.7).
void take_slots(const LoadStoreSpec& spec, std::size_t served, double slots, AccessTimes& times, double now) {
    const SchedulerSpec& scheduler = spec.scheduler;
    times.scheduler_free = std::max(times.scheduler_free, now + slots * scheduler.issue_interval);
    if (spec.served_per_issue == 0 || served <= spec.served_per_issue) return;
    const auto whole_issues = (served - 1) / spec.served_per_issue;
    const auto further = static_cast<double>(whole_issues);
    const double extra = further * scheduler.issue_interval;
    times.scheduler_free = std::max(times.scheduler_free, now + (slots + further) * scheduler.issue_interval);
    times.warp_gap = std::max(times.warp_gap, now + scheduler.warp_interval + extra);
    times.warp_free = std::max(times.warp_free, now + extra);
}

bool is_global_load(const Transaction& transaction) {
    return transaction.path == PathKind::global && transaction.kind == AccessKind::load;
}

/// Cycles from the departure of an instruction's first transaction to that of its transaction number `index`. For paths
/// whose transactions do not wait for those of other warps.
double departure(const LoadStoreSpec& spec, const Transaction& transaction, std::size_t index) {
    return is_global_load(transaction) ? spec.global_loads.departure(index)
                                       : static_cast<double>(index) * kTransactionSpacing;
}

double& free_time(LoadStoreState& state, const LoadPort& port, PathKind path, std::uint32_t sm) {
    return port.of_storage ? state.banks_free[sm] : state.ports_free[static_cast<std::size_t>(path)][sm];
}

/// What the transactions of an access have in common.
struct Departures {
    Transaction& transaction;
    double first = 0, spacing = 0;  ///< when the first one leaves, and cycles between two of them
    double later = 0;               ///< the least time between the data of two of them
    bool through_port = false;
    std::size_t count = 0;  ///< that have left
    double earliest = 0;    ///< when the data of the first one that is served are there
    costs::ConstantLines constants{{}};
};

void send(LoadStoreUnit& unit, Departures& leaving, const Segment& segment, AccessTimes& times, double now,
          std::vector<SentAtomic>* sent = nullptr) {
    Transaction& transaction = leaving.transaction;
    transaction.address = segment.address;
    transaction.bytes = segment.bytes;
    transaction.touched = segment.pieces * Segment::kPieceBytes;
    transaction.partial = segment.partial;
    transaction.asked = segment.asked;
    transaction.pieces = segment.mask;
    transaction.written = segment.touched;
    const std::size_t i = leaving.count++;
    const double first = leaving.first;
    const double after =
        leaving.through_port ? static_cast<double>(i) * leaving.spacing : departure(unit.spec, transaction, i);
    times.warp_free = std::max(times.warp_free, first + after);
    if (sent != nullptr) {
        sent->push_back({.transaction = transaction, .arrival = unit.memory.send(transaction, first + after)});
        times.done = std::max(times.done, sent->back().arrival);
        return;
    }
    double done = unit.memory.access(transaction, first + after);
    if (transaction.path == PathKind::constant)
        done = leaving.constants.there(transaction.address, first + after, done);
    // The description puts the transactions of a lone warp's global load farther apart, where DRAM serves them.
    if (is_global_load(transaction) && unit.memory.reached_dram())
        done += std::max(0.0, unit.spec.global_loads.departure(i) - after);
    done += std::max(0.0, now + static_cast<double>(i) * leaving.later - first - after);
    leaving.earliest = i == 0 ? done : std::min(leaving.earliest, done);
    times.done = std::max(times.done, done);
}

/// The lanes whose addresses lie in the segment.
std::uint32_t lanes_in(const WarpAccess& access, std::uint32_t lanes, const Segment& segment) {
    std::uint32_t found = 0;
    for_lanes(lanes, [&](int lane) {
        if (access.addresses[static_cast<std::size_t>(lane)] - segment.address < segment.bytes) found |= 1U << lane;
    });
    return found;
}

/// Lanes that ask for one address take one pass each. Returns the transactions of all passes.
std::size_t send_passes(LoadStoreUnit& unit, const WarpAccess& access, const PathAccess& on, Departures& leaving,
                        AccessTimes& times, double now) {
    std::uint32_t left = access.mask;
    while (left != 0) {
        const std::uint32_t pass = costs::next_pass(access.addresses, left);
        left &= ~pass;
        for (const Segment& segment : on.coalescer.merge(access.addresses, pass, on.bytes)) {
            leaving.transaction.lone = segment.asked <= on.bytes;
            send(unit, leaving, segment, times, now, access.sent);
            if (access.sent != nullptr) access.sent->back().lanes = lanes_in(access, pass, segment);
        }
    }
    return leaving.count;
}

AccessTimes access_path(LoadStoreUnit& unit, const WarpAccess& access, const PathAccess& on, double now) {
    const LoadStoreSpec& spec = unit.spec;
    const MemoryInstruction& instruction = access.instruction;
    Transaction transaction{.sm = access.sm,
                            .path = on.path,
                            .kind = instruction.kind,
                            .hint = instruction.skips_near ? CacheHint::l2_only : CacheHint::all,
                            .scheduler = access.scheduler,
                            .request = ++unit.state.requests,
                            .prefetched = instruction.prefetched,
                            .atomic_class = instruction.atomic_class};
    const auto& segments = on.coalescer.merge(access.addresses, access.mask, on.bytes);
    AccessTimes times = at_once(now);
    const LoadPort& port = spec.ports[static_cast<std::size_t>(on.path)];
    const bool through_port = port.transaction > 0 && !instruction.uniform;
    Departures leaving{.transaction = transaction,
                       .first = now,
                       .later = through_port ? port.spacing : 0,
                       .through_port = through_port,
                       .constants = costs::ConstantLines(spec.constant_lines)};
    PortTime through;
    if (through_port) {
        double& free = free_time(unit.state, port, on.path, access.sm);
        through = port_time(port, spec.banks,
                            {.kind = instruction.kind,
                             .bytes = instruction.bytes,
                             .fetches = instruction.fetches,
                             .addresses = access.addresses,
                             .mask = access.mask},
                            segments);
        leaving.first = std::max(now, free);
        free = leaving.first + through.stage;
        leaving.spacing = through.stage / static_cast<double>(segments.size());
    }
    std::size_t sent = segments.size();
    if (instruction.kind == AccessKind::atomic && spec.atomic_passes) {
        sent = send_passes(unit, access, on, leaving, times, now);
        if (through_port) {
            double& free = free_time(unit.state, port, on.path, access.sm);
            free = std::max(free, leaving.first + leaving.spacing * static_cast<double>(sent));
        }
    } else {
        for (const Segment& segment : segments) send(unit, leaving, segment, times, now);
    }
    if (access.sent != nullptr) {
        times.returning = through.returning;
        times.spread = through.spread;
    } else if (through.returning > 0)
        times.done = access.returning->back(
            {.first = leaving.earliest, .last = times.done, .cycles = through.returning, .spread = through.spread});
    if (instruction.kind == AccessKind::load && on.path == PathKind::global && in_both_halves(access.mask))
        times.done += spec.global_loads.whole_warp();
    if (instruction.kind == AccessKind::store)
        times.warp_free = std::max(times.warp_free, times.done - spec.store_queue);
    else
        times.last = times.done;
    take_slots(spec, sent, spec.path_slots[static_cast<std::size_t>(on.path)], times, now);
    return times;
}

AccessTimes access_shared(LoadStoreUnit& unit, const WarpAccess& access, double now) {
    const bool atomic = access.instruction.kind == AccessKind::atomic;
    const auto banks =
        unit.spec.banks.access(access.addresses, access.mask,
                               {.bytes = access.instruction.bytes,
                                .broadcasts = !atomic || access.instruction.sums_lanes,
                                .loads = access.instruction.kind == AccessKind::load,
                                .swaps = atomic && access.instruction.atomic_class == costs::AtomicClass::compare_swap,
                                .one_of_bank = access.instruction.one_of_bank});
    double& free = unit.state.banks_free[access.sm];
    const double start = std::max(now, free);
    free = start + banks.occupancy;
    if (costs::SharedQueue& queue = unit.state.queues[access.sm]; queue.described())
        queue.note(access.scheduler, access.instruction.kind == AccessKind::load, now, start);
    unit.state.bank_conflict_cycles += static_cast<std::uint64_t>(banks.conflict);
    AccessTimes times = at_once(now);
    times.done = start + banks.latency;
    if (access.instruction.kind == AccessKind::load) {
        times.done = access.returning->back({.first = times.done - banks.conflict,
                                             .last = times.done,
                                             .cycles = banks.returning,
                                             .spread = banks.conflict});
        times.later_for_cores = unit.spec.shared_to_cores;
    }
    take_slots(unit.spec, banks.ways, unit.spec.shared_slots, times, now);
    return times;
}

/// Stores and atomics are served beyond the SM, as are loads that ask for it.
bool is_served_near(const MemoryInstruction& instruction) {
    return instruction.kind == AccessKind::load && !instruction.skips_near;
}

/// Local memory is laid out word by word: the same word of the warp's 32 threads lies together.
AccessTimes access_local(LoadStoreUnit& unit, const WarpAccess& access, double now) {
    constexpr std::uint32_t kWord = 4;
    const MemoryInstruction& instruction = access.instruction;
    auto& coalescer = is_served_near(instruction) ? unit.coalescers.local : unit.coalescers.local_far;
    std::array<std::uint64_t, 32> addresses{};
    WarpAccess word{.instruction = instruction,
                    .addresses = addresses,
                    .mask = access.mask,
                    .sm = access.sm,
                    .scheduler = access.scheduler,
                    .returning = access.returning};
    AccessTimes times = at_once(now);
    double then = now;
    for (std::uint32_t at = 0; at < instruction.bytes; at += kWord, then += kTransactionSpacing) {
        for_lanes(access.mask, [&](int lane) {
            const auto l = static_cast<std::size_t>(lane);
            const std::uint64_t address = access.addresses[l] + at;
            const std::uint64_t number = address / kWord * kWarpSize + static_cast<std::uint64_t>(lane);
            addresses[l] = access.local_frames + number * kWord + address % kWord;
        });
        const std::uint32_t bytes = std::min(instruction.element_bytes, kWord);
        include(times, access_path(unit, word, {coalescer, PathKind::local, bytes}, then));
    }
    return times;
}

}  // namespace

LoadStoreState idle_load_store(const costs::SharedQueueSpec& queue, std::size_t sms, std::size_t schedulers_per_sm) {
    LoadStoreState state;
    state.banks_free.assign(sms, 0.0);
    state.queues.assign(sms, costs::SharedQueue(queue, schedulers_per_sm));
    for (auto& free : state.ports_free) free.assign(sms, 0.0);
    return state;
}

LoadStoreSpec load_store_spec_of(const machine::Machine& machine, const GlobalLoads& global_loads) {
    LoadStoreSpec spec{.banks = SharedBanks(machine.shared),
                       .global_loads = global_loads,
                       .scheduler = scheduler_spec_of(machine.issue)};
    spec.shared_slots = slots_of(machine.shared.issue_slots, "shared.issue_slots");
    spec.shared_to_cores = forwarding(machine.shared.latency, machine.shared.forward_latency, "shared");
    for (std::size_t kind = 0; kind < kPathNames.size(); ++kind)
        if (const auto path = machine.paths.find(std::string(kPathNames[kind])); path != machine.paths.end())
            spec.path_slots[kind] =
                slots_of(path->second.issue_slots, key_path("paths", kPathNames[kind]) + ".issue_slots");
    spec.served_per_issue = static_cast<std::uint32_t>(machine.issue.reissue_transactions.value_or(0));
    // Kepler, Maxwell and Pascal load .nc through the texture cache; from Volta on it is the L1.
    const auto major = machine.identity.compute_capability_major.value_or(0);
    spec.read_only_is_texture = major >= 3 && major <= 6;
    spec.ports = load_ports_of(machine);
    spec.store_queue = machine.issue.store_queue.value_or(machine::kAssumedStoreQueue);
    spec.constant_lines = costs::constant_line_spec_of(machine);
    spec.atomic_passes = costs::atomic_units_of(machine).has_value();
    return spec;
}

AccessTimes access(LoadStoreUnit& unit, const WarpAccess& access, double now) {
    const MemoryInstruction& instruction = access.instruction;
    Coalescers& coalescers = unit.coalescers;
    const std::uint32_t bytes = instruction.bytes;
    if (instruction.texture) return access_path(unit, access, {coalescers.texture, PathKind::texture, bytes}, now);
    switch (instruction.space) {
        case Space::shared: return instruction.moves_data ? access_shared(unit, access, now) : at_once(now);
        case Space::local: return access_local(unit, access, now);
        case Space::constant: return access_path(unit, access, {coalescers.constant, PathKind::constant, bytes}, now);
        default: break;
    }
    if (instruction.read_only && unit.spec.read_only_is_texture)
        return access_path(unit, access, {coalescers.texture, PathKind::texture, bytes}, now);
    auto& coalescer = is_served_near(instruction) ? coalescers.global : coalescers.global_far;
    return access_path(unit, access, {coalescer, PathKind::global, bytes}, now);
}

std::string describe(const LoadStoreState& state, std::uint32_t sm) {
    std::string text =
        fmt::format("load/store unit of SM {}: shared memory banks free from cycle {:.0f}", sm, state.banks_free[sm]);
    for (std::size_t kind = 0; kind < kPathNames.size(); ++kind)
        if (state.ports_free[kind][sm] > 0)
            text += fmt::format("; {} path free from cycle {:.0f}", kPathNames[kind], state.ports_free[kind][sm]);
    return text + fmt::format("; {} requests of all SMs", state.requests);
}

}  // namespace gputomo::sim
