// Loads: caches, outstanding requests, the interconnect and DRAM.
#include "sim/memory/model.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace gputomo::sim {
namespace {

/// log2 of the bytes of a line in a table of outstanding requests that belongs to no cache.
constexpr int kTrackedLineShift = 7;

/// The smallest range that holds the missing sectors of the block that `range` lies in.
Range missing_range(const Range& range, std::uint64_t address, TagArray::Sectors missing, const TagArray& tags) {
    const auto first = static_cast<std::uint64_t>(std::countr_zero(missing));
    const auto end = static_cast<std::uint64_t>(std::bit_width(missing));
    const std::uint64_t start = (address & ~(tags.block_bytes() - 1)) + (first << tags.sector_shift());
    const std::uint64_t shift = start - address;  // may wrap round: the range can begin before the bytes asked for
    return {range.virtual_address + shift, range.physical + shift, (end - first) << tags.sector_shift()};
}

}  // namespace

/// The work that the transaction has already booked at `server`; `service` is added to it.
double MemoryModel::own_work(TransactionState& state, const Server& server, double service) {
    if (!state.cut) return 0;
    for (auto& [known, work] : state.booked) {
        if (known == nullptr) known = &server;
        if (known == &server) return std::exchange(work, work + service);
    }
    return 0;
}

Time MemoryModel::queue(TransactionState& state, Server& server, double service, Time now) {
    const Time start = server.reserve(now, service);
    return std::max(now, start - own_work(state, server, service));
}

double MemoryModel::hit_latency(const CacheLevel& level, std::uint32_t sm, std::uint64_t physical) const {
    if (level.far_extra == 0) return level.latency[sm];
    return level.latency[sm] + (is_far(level.partitions, sm, physical) ? level.far_extra : 0);
}

bool MemoryModel::is_far(std::uint64_t partitions, std::uint32_t sm, std::uint64_t physical) const {
    return machine::partition_of(physical, partitions) != std::uint64_t{sm} * partitions / placement_.sms();
}

OutstandingTable::Slot MemoryModel::track(CacheLevel& level, std::size_t instance, const TransactionState& state,
                                          std::uint64_t block, bool missing, Time now) {
    OutstandingTable& table = level.outstanding[instance];
    const std::uint64_t request = state.transaction.request != 0 ? state.transaction.request : own_requests_;
    const std::uint64_t key = level.merges_lines ? block : request;
    auto slot = table.join(key, now);
    // Where the line's MSHR merges no more requests, the line is looked up again when its data have come. A sector that
    // is then still missing needs an entry of its own.
    if (slot.replay && missing) slot = table.join(key, slot.start);
    return slot;
}

Time MemoryModel::fetch_block(TransactionState& state, std::size_t depth, const Range& range, Time now) {
    const bool leaves = depth == state.path.near && !state.path.caches[depth]->of_gpcs.empty();
    return leaves ? leave_gpc(state, depth, range, now) : look_up(state, depth, range, now);
}

Time MemoryModel::leave_gpc(TransactionState& state, std::size_t depth, const Range& range, Time now) {
    CacheLevel& level = *state.path.caches[depth];
    const std::uint32_t sm = state.transaction.sm;
    GpcRequests& requests = level.of_gpcs[placement_.gpc_of(sm)];
    const TagArray& tags = level.instances.front();
    const LineLoad load{.line = range.physical >> tags.block_shift(),
                        .sectors = tags.sectors_of(range.physical, range.bytes),
                        .bytes = static_cast<double>(range.bytes),
                        .sm = sm};
    if (const auto done = requests.join(load, now)) return std::max(*done, now + state.penalty);
    const Time start = queue(state, requests.port(), requests.service(load), now);
    const Time done = look_up(state, depth, range, start);
    requests.add(load, now, done);
    return done;
}

Time MemoryModel::look_up(TransactionState& state, std::size_t depth, const Range& range, Time now) {
    CacheLevel& level = *state.path.caches[depth];
    const Transaction& t = state.transaction;
    const std::size_t instance = placement_.instance(level.scope, t.sm, t.scheduler);
    TagArray& tags = level.instances[instance];
    const std::uint64_t address = level.scope == Scope::gpu ? range.physical : range.virtual_address;
    const auto sectors = tags.sectors_of(address, range.bytes);
    if (std::vector<Server>& ports = level.ports_used(); !ports.empty()) {
        // The last cache gives whole sectors. One before it gives the line that the cache before asks for, which is
        // what rates between caches were measured with.
        const bool last = depth + 1 == state.path.caches.size();
        const std::uint64_t bytes = last ? std::uint64_t(std::popcount(sectors)) << tags.sector_shift() : range.bytes;
        now = queue(state, ports[instance], static_cast<double>(bytes) * level.cycles_per_byte, now);
        if (last && level.scope == Scope::gpu && shared_lines_.described())
            now = shared_lines_.serve(atomic_costs_->unit_of(address), address >> tags.block_shift(), t.sm, bytes, now);
    }
    if (!level.sm_ports.empty())
        now = queue(state, level.sm_ports[t.sm], static_cast<double>(range.bytes) * level.cycles_per_sm_byte, now);
    if (level.stores_block_fills) now = std::max(now, blocked_[atomic_costs_->unit_of(address)]);
    auto found = tags.lookup(address, sectors, true);
    if (t.prefetched > 0 && found.missing != 0 && depth + 1 == state.path.caches.size()) {
        const std::uint64_t block = std::min<std::uint64_t>(t.prefetched, tags.block_bytes());
        const std::uint64_t first = address & ~(block - 1);
        const auto missing = found.missing;
        const auto evicted = found;
        found = tags.lookup(first, tags.sectors_of(first, block), true);
        found.missing |= missing;
        if (evicted.evicted_dirty != 0) (void)write_back(evicted, tags, now);
    }
    ++(found.missing == 0 ? level.hits : level.misses);
    TagArray::Line& line = *found.line;
    if (found.evicted_dirty != 0) (void)write_back(found, tags, now);

    const bool pending = (line.pending & sectors) != 0 && line.ready > now;
    const double latency = hit_latency(level, t.sm, range.physical);
    const bool looks_ahead = level.lines_ahead > 0 && !state.ahead;
    if (found.missing == 0 && !pending) {
        if (looks_ahead) fetch_ahead(state, depth, range, level.lines_ahead, now);
        return now + state.penalty + latency;
    }
    OutstandingTable::Slot slot{now, 0, false};
    if (!level.outstanding.empty())
        slot = track(level, instance, state, address >> tags.block_shift(), found.missing != 0, now);
    const Time hit = slot.start + state.penalty + latency;
    if (slot.replay) return hit;
    const machine::FarMemory& memory = state.path.far;
    const bool last = memory.extra > 0 && depth + 1 == state.path.caches.size();
    const bool far = last && is_far(memory.sides, t.sm, range.physical);
    // Nearer requests ask DRAM earlier, and what is on its way comes earlier then.
    const Time asks = slot.start + state.penalty + (far ? memory.request : 0);
    if (last && pending && asks < line.asked) {
        line.ready -= line.asked - asks;
        line.asked = asks;
    }
    // What a launch brings ahead is asked for again by the first that needs it sooner.
    if (pending && std::exchange(line.brought, false)) {
        const Range whole = missing_range(range, address, line.pending, tags);
        line.ready = std::min(line.ready, descend(state, depth + 1, whole, slot.start, depth + 1 == state.path.near));
    }
    const double response = far ? memory.response() : 0;
    Time done = std::max(hit, line.ready + (pending ? response : 0));
    if (found.missing != 0) {
        const bool crosses = depth + 1 == state.path.near;
        done = descend(state, depth + 1, missing_range(range, address, found.missing, tags), slot.start, crosses);
        line.asked = asks;
        const Time there = done - response;
        if (pending) done = std::max(done, line.ready + response);
        line.pending = line.ready > slot.start ? line.pending | found.missing : found.missing;
        line.ready = std::max(line.ready, there);
    }
    if (!level.outstanding.empty()) level.outstanding[instance].release_at(slot.index, done);
    if (looks_ahead) fetch_ahead(state, depth, range, found.missing != 0 ? 1 : level.lines_ahead, slot.start);
    return done;
}

void MemoryModel::fetch_ahead(TransactionState& state, std::size_t depth, const Range& range, std::uint64_t first,
                              Time now) {
    const CacheLevel& level = *state.path.caches[depth];
    const std::uint64_t line = level.instances.front().block_bytes();
    const std::uint64_t into = (level.scope == Scope::gpu ? range.physical : range.virtual_address) & (line - 1);
    const Range next{range.virtual_address - into, range.physical - into,
                     line};  // may wrap round as missing_range() does
    state.ahead = true;
    for (std::uint64_t i = first; i <= level.lines_ahead; ++i)
        (void)fetch_block(state, depth, {next.virtual_address + i * line, next.physical + i * line, line}, now);
    state.ahead = false;
}

Time MemoryModel::fetch(TransactionState& state, std::size_t depth, Range range, Time now) {
    if (depth == state.path.caches.size()) {
        dram_bytes_ += range.bytes;
        reached_dram_ = true;
        // DRAM is asked when the address has been translated.
        now += state.penalty;
        const auto wait =
            dram_.read(range.physical, static_cast<std::uint32_t>(range.bytes), now, state.transaction.sm);
        const double own = wait.server != nullptr ? own_work(state, *wait.server, wait.service) : 0;
        const double waited = std::max(0.0, wait.delay - own);
        double distance = state.path.line_range > 0 ? dram_.distance(range.physical) * state.path.line_range : 0;
        if (const machine::FarMemory& far = state.path.far; far.extra > 0)
            distance += far.beyond_mean(is_far(far.sides, state.transaction.sm, range.physical));
        const Time there = now + state.path.memory_latency[state.transaction.sm] + distance + waited;
        if (fabric_cycles_per_byte_ == 0) return there;
        // What DRAM has read passes on its way back, and stores that arrive until then come first.
        return queue(state, fabric_, static_cast<double>(range.bytes) * fabric_cycles_per_byte_, there);
    }
    const CacheLevel& level = *state.path.caches[depth];
    const std::uint64_t block = level.instances.front().block_bytes();
    Time done = now;
    for (;;) {
        const std::uint64_t address = level.scope == Scope::gpu ? range.physical : range.virtual_address;
        const std::uint64_t bytes = within_block(address, range.bytes, block);
        state.cut = state.cut || bytes != range.bytes;
        done = std::max(done, fetch_block(state, depth, {range.virtual_address, range.physical, bytes}, now));
        if (bytes == range.bytes) return done;
        range = {range.virtual_address + bytes, range.physical + bytes, range.bytes - bytes};
    }
}

Time MemoryModel::descend(TransactionState& state, std::size_t depth, Range range, Time now, bool crosses) {
    translate(state, now);
    range.physical = physical(state, range.virtual_address);
    if (crosses && !ports_in_.empty())
        now =
            queue(state, ports_in_[state.transaction.sm], static_cast<double>(range.bytes) * in_cycles_per_byte_, now);
    return fetch(state, depth, range, now);
}

Time MemoryModel::tracked_load(TransactionState& state, std::size_t first, const Range& range, Time now) {
    const Transaction& t = state.transaction;
    OutstandingTable& table = state.path.outstanding[t.sm];
    const bool lines = state.path.merges_lines;
    const std::uint64_t key = lines            ? range.virtual_address >> kTrackedLineShift
                              : t.request != 0 ? t.request
                                               : own_requests_;
    auto slot = table.join(key, now);
    // No cache keeps the data, so a request that found its line's entry full requests the line again.
    if (slot.replay) slot = table.join(key, slot.start);
    if (lines && slot.shared_until > 0) return std::max(slot.start, slot.shared_until);
    const Time done = descend(state, first, range, slot.start, true);
    table.release_at(slot.index, done);
    return done;
}

Time MemoryModel::load(TransactionState& state, const Range& range, Time now) {
    const std::size_t first = first_cache(state);
    if (!state.path.outstanding.empty()) return tracked_load(state, first, range, now);
    if (first >= state.path.near) return descend(state, first, range, now, true);
    if (!state.path.translates_after_first) translate(state, now);
    return fetch(state, first, range, now);
}

}  // namespace gputomo::sim
