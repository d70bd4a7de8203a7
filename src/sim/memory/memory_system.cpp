// The walk of a transaction; the model is described in sim/memory/memory_system.hpp.
#include "sim/memory/memory_system.hpp"

#include "sim/memory/description.hpp"
#include "sim/memory/dram.hpp"
#include "sim/memory/levels.hpp"
#include "sim/memory/noise.hpp"
#include "sim/memory/placement.hpp"
#include "sim/memory/shared_storage.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace gputomo::sim {
namespace {

/// The atomic unit starts one operation on an address per cycle; no description has a value for it.
constexpr double kAtomicInterval = 1;
/// Addresses whose last atomic is remembered; a collision forgets the older one.
constexpr std::size_t kAtomicSlots = 4096;
/// Queues behind the SM's port hold this many cycles of stores before they push back on the SM.
constexpr double kStoreQueueCycles = 64;
/// Slots of the calendar of an SM's port into the interconnect: queues of up to 4096 cycles.
constexpr std::uint32_t kPortSlots = 256;
/// The partition of a cache is chosen by the address in pieces of this size.
constexpr int kPartitionShift = 12;
/// Lines of tables that belong to no cache.
constexpr int kTrackedLineShift = 7;
/// Where page tables lie: beyond all memory; bytes of an entry.
constexpr std::uint64_t kPageTable = std::uint64_t{1} << 46, kPageTableEntry = 8;
/// PRT keys of transactions without a request number; above all request numbers.
constexpr std::uint64_t kOwnRequest = std::uint64_t{1} << 63;

/// Part of a transaction at some level: the same bytes in both address spaces.
struct Range {
    std::uint64_t virtual_address = 0;
    std::uint64_t physical = 0;
    std::uint64_t bytes = 0;
};

/// A transaction on its way.
struct Walk {
    const Transaction& transaction;
    MemoryPath& path;
    double penalty = 0;                 ///< cycles that translation adds
    bool translated = false;            ///< the TLBs have been looked up
    bool located = false;               ///< `physical_offset` is known
    std::uint64_t physical_offset = 0;  ///< physical - virtual address; one transaction lies in one piece of memory
    /// The range was cut at the lines of a level. Its pieces don't wait for each other, because the described latency
    /// is that of the whole transaction: what they book is taken off what the next one waits.
    bool cut = false;
    std::array<std::pair<const Server*, double>, 4> booked{};
};

class System final : public MemorySystem {
public:
    System(const machine::Machine& machine, const AddressSpace& addresses, const MemoryOptions& options)
        : addresses_(addresses),
          placement_(machine),
          levels_(machine, placement_, options.seed),
          storage_(machine, levels_, options.seed + 2),
          dram_(machine),
          atomics_(kAtomicSlots),
          noise_(options.noise, options.seed + 1) {
        if (!machine.memory.interconnect_bytes_per_cycle) return;
        port_cycles_per_byte_ =
            1 / need_rate(machine.memory.interconnect_bytes_per_cycle, "memory.interconnect_bytes_per_cycle");
        ports_in_.assign(placement_.sms(), Server(kPortSlots));
        ports_out_.assign(placement_.sms(), Server(kPortSlots));
    }
    Time access(const Transaction& transaction, Time now) override;
    void begin_launch() override;
    void set_aside(std::uint64_t shared_bytes) override { storage_.set_aside(shared_bytes); }
    void drain_counters(MemoryCounters& counters) override;

private:
    Time load(Walk& walk, const Range& range, Time now);
    /// A load that takes an entry of the path's own table.
    Time tracked_load(Walk& walk, std::size_t first, const Range& range, Time now);
    Time store(Walk& walk, const Range& range, Time now);
    Time atomic(Walk& walk, const Range& range, Time now);
    /// The range from cache `depth` of the path on, or from DRAM; completion of its last byte.
    Time fetch(Walk& walk, std::size_t depth, Range range, Time now);
    Time fetch_block(Walk& walk, std::size_t depth, const Range& range, Time now);
    /// Books work at a server; when it starts.
    static Time queue(Walk& walk, Server& server, double service, Time now);
    static double own_work(Walk& walk, const Server& server, double service);
    /// What missed in the cache before `depth`, or in none, goes on to `depth`.
    Time descend(Walk& walk, std::size_t depth, Range range, Time now, bool crosses);
    void translate(Walk& walk, Time now);
    /// No TLB knows the page: its entry is read, which the last cache may have.
    void read_page_table(Walk& walk, const TlbLevel& tlb, Time now);
    [[nodiscard]] std::uint64_t physical(Walk& walk, std::uint64_t virtual_address) const;
    [[nodiscard]] std::size_t first_cache(const Walk& walk) const;
    [[nodiscard]] double hit_latency(const CacheLevel& level, std::uint32_t sm, std::uint64_t physical) const;
    /// Whether the cache keeps the written bytes (write-back); `waited` grows to what its queues held the store up.
    bool write_to_cache(CacheLevel& level, std::size_t instance, std::uint64_t address, std::uint64_t bytes,
                        double& waited, Time now);
    double write_to_dram(std::uint64_t physical, std::uint64_t bytes, Time now);
    double write_back(const TagArray::Found& found, const TagArray& tags, Time now);
    OutstandingTable::Slot track(CacheLevel& level, std::size_t instance, const Walk& walk, std::uint64_t block,
                                 bool missing, Time now);

    const AddressSpace& addresses_;
    Placement placement_;
    Levels levels_;
    SharedStorage storage_;
    Dram dram_;
    double port_cycles_per_byte_ = 0;  ///< 0: not limited
    std::vector<Server> ports_in_;     ///< by SM: data that loads bring
    std::vector<Server> ports_out_;    ///< by SM: data that stores take away
    std::vector<std::pair<std::uint64_t, Time>> atomics_;
    NoiseSource noise_;
    /// Each launch counts time from 0; inside, time goes on, so that old queues are simply past.
    Time base_ = 0;
    Time latest_ = 0;
    std::uint64_t own_requests_ = kOwnRequest;
    std::uint64_t transactions_ = 0;
    std::uint64_t dram_bytes_ = 0;
};

/// Bytes from `address` to the end of its block, at most `bytes`.
std::uint64_t within_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t block_bytes) {
    return std::min(bytes, block_bytes - (address & (block_bytes - 1)));
}

/// The smallest range that holds the missing sectors of the block that `range` lies in.
Range missing_range(const Range& range, std::uint64_t address, TagArray::Sectors missing, const TagArray& tags) {
    const auto first = static_cast<std::uint64_t>(std::countr_zero(missing));
    const auto end = static_cast<std::uint64_t>(std::bit_width(missing));
    const std::uint64_t start = (address & ~(tags.block_bytes() - 1)) + (first << tags.sector_shift());
    const std::uint64_t shift = start - address;  // may wrap round: the range can begin before the bytes asked for
    return {range.virtual_address + shift, range.physical + shift, (end - first) << tags.sector_shift()};
}

/// What the transaction booked before at `server`; `service` is added to it.
double System::own_work(Walk& walk, const Server& server, double service) {
    if (!walk.cut) return 0;
    for (auto& [known, work] : walk.booked) {
        if (known == nullptr) known = &server;
        if (known == &server) return std::exchange(work, work + service);
    }
    return 0;
}

Time System::queue(Walk& walk, Server& server, double service, Time now) {
    const Time start = server.reserve(now, service);
    return std::max(now, start - own_work(walk, server, service));
}

std::size_t System::first_cache(const Walk& walk) const {
    if (walk.transaction.hint == CacheHint::none) return walk.path.caches.size();
    const bool skips_near = walk.transaction.hint == CacheHint::l2_only || walk.transaction.kind == AccessKind::atomic;
    return skips_near ? walk.path.near : 0;
}

void System::read_page_table(Walk& walk, const TlbLevel& tlb, Time now) {
    if (walk.path.page_walk_penalty == 0) return;
    CacheLevel& level = *walk.path.caches.back();
    TagArray& tags = level.instances[placement_.instance(level.scope, walk.transaction.sm, walk.transaction.scheduler)];
    const std::uint64_t entry =
        kPageTable + walk.transaction.address / tlb.instances.front().block_bytes() * kPageTableEntry;
    const auto found = tags.lookup(entry, tags.sectors_of(entry, kPageTableEntry), true);
    if (found.evicted_dirty != 0) (void)write_back(found, tags, now);
    if (found.missing != 0) walk.penalty += walk.path.page_walk_penalty;
}

void System::translate(Walk& walk, Time now) {
    if (walk.translated) return;
    walk.translated = true;
    const Transaction& t = walk.transaction;
    for (TlbLevel* tlb : walk.path.tlbs) {
        if (tlb->instances[placement_.instance(tlb->scope, t.sm, t.scheduler)].lookup(t.address, 1, true).missing ==
            0) {
            ++tlb->hits;
            break;
        }
        ++tlb->misses;
        walk.penalty += tlb->penalty;
        if (tlb == walk.path.tlbs.back()) read_page_table(walk, *tlb, now);
    }
    if (walk.path.window == 0) return;
    const std::uint64_t window = t.address / walk.path.window;
    if (window == walk.path.active_window) return;
    // The first access of all opens a window, it does not switch one.
    if (walk.path.active_window != ~std::uint64_t{0}) walk.penalty += walk.path.window_penalty;
    walk.path.active_window = window;
}

std::uint64_t System::physical(Walk& walk, std::uint64_t virtual_address) const {
    if (!walk.located) walk.physical_offset = addresses_.translate(walk.transaction.address) - walk.transaction.address;
    walk.located = true;
    return virtual_address + walk.physical_offset;
}

double System::hit_latency(const CacheLevel& level, std::uint32_t sm, std::uint64_t physical) const {
    if (level.far_extra == 0) return level.latency[sm];
    const std::uint64_t piece = physical >> kPartitionShift;
    const std::uint64_t home = (piece ^ (piece >> 5) ^ (piece >> 11)) % level.partitions;
    const std::uint64_t own = std::uint64_t{sm} * level.partitions / placement_.sms();
    return level.latency[sm] + (home == own ? 0 : level.far_extra);
}

OutstandingTable::Slot System::track(CacheLevel& level, std::size_t instance, const Walk& walk, std::uint64_t block,
                                     bool missing, Time now) {
    OutstandingTable& table = level.outstanding[instance];
    const std::uint64_t request = walk.transaction.request != 0 ? walk.transaction.request : own_requests_;
    const std::uint64_t key = level.merges_lines ? block : request;
    auto slot = table.join(key, now);
    // A line whose MSHR merges no more is looked up again when its data came; another sector then needs an entry of its
    // own.
    if (slot.replay && missing) slot = table.join(key, slot.start);
    return slot;
}

Time System::fetch_block(Walk& walk, std::size_t depth, const Range& range, Time now) {
    CacheLevel& level = *walk.path.caches[depth];
    const Transaction& t = walk.transaction;
    const std::size_t instance = placement_.instance(level.scope, t.sm, t.scheduler);
    TagArray& tags = level.instances[instance];
    const std::uint64_t address = level.scope == Scope::gpu ? range.physical : range.virtual_address;
    const auto sectors = tags.sectors_of(address, range.bytes);
    if (!level.ports.empty())
        now = queue(walk, level.ports[instance], static_cast<double>(range.bytes) * level.cycles_per_byte, now);
    const auto found = tags.lookup(address, sectors, true);
    ++(found.missing == 0 ? level.hits : level.misses);
    TagArray::Line& line = *found.line;
    if (found.evicted_dirty != 0) (void)write_back(found, tags, now);

    const bool pending = (line.pending & sectors) != 0 && line.ready > now;
    const double latency = hit_latency(level, t.sm, range.physical);
    if (found.missing == 0 && !pending) return now + walk.penalty + latency;
    OutstandingTable::Slot slot{now, 0, false};
    if (!level.outstanding.empty())
        slot = track(level, instance, walk, address >> tags.block_shift(), found.missing != 0, now);
    const Time hit = slot.start + walk.penalty + latency;
    if (slot.replay) return hit;
    Time done = std::max(hit, line.ready);
    if (found.missing != 0) {
        const bool crosses = depth + 1 == walk.path.near;
        done = descend(walk, depth + 1, missing_range(range, address, found.missing, tags), slot.start, crosses);
        if (pending) done = std::max(done, line.ready);
        line.pending = line.ready > slot.start ? line.pending | found.missing : found.missing;
        line.ready = std::max(line.ready, done);
    }
    if (!level.outstanding.empty()) level.outstanding[instance].release_at(slot.index, done);
    return done;
}

Time System::fetch(Walk& walk, std::size_t depth, Range range, Time now) {
    if (depth == walk.path.caches.size()) {
        dram_bytes_ += range.bytes;
        const auto turn = dram_.read(range.physical, static_cast<std::uint32_t>(range.bytes), now);
        const double own = turn.server != nullptr ? own_work(walk, *turn.server, turn.service) : 0;
        const double waited = std::max(0.0, turn.delay - own);
        const double distance =
            walk.path.line_range > 0 ? (dram_.distance(range.physical) - 0.5) * walk.path.line_range : 0;
        return now + walk.penalty + walk.path.memory_latency[walk.transaction.sm] + distance + waited;
    }
    const CacheLevel& level = *walk.path.caches[depth];
    const std::uint64_t block = level.instances.front().block_bytes();
    Time done = now;
    for (;;) {
        const std::uint64_t address = level.scope == Scope::gpu ? range.physical : range.virtual_address;
        const std::uint64_t bytes = within_block(address, range.bytes, block);
        walk.cut = walk.cut || bytes != range.bytes;
        done = std::max(done, fetch_block(walk, depth, {range.virtual_address, range.physical, bytes}, now));
        if (bytes == range.bytes) return done;
        range = {range.virtual_address + bytes, range.physical + bytes, range.bytes - bytes};
    }
}

Time System::descend(Walk& walk, std::size_t depth, Range range, Time now, bool crosses) {
    translate(walk, now);
    range.physical = physical(walk, range.virtual_address);
    if (crosses && !ports_in_.empty())
        now =
            queue(walk, ports_in_[walk.transaction.sm], static_cast<double>(range.bytes) * port_cycles_per_byte_, now);
    return fetch(walk, depth, range, now);
}

Time System::tracked_load(Walk& walk, std::size_t first, const Range& range, Time now) {
    const Transaction& t = walk.transaction;
    OutstandingTable& table = walk.path.outstanding[t.sm];
    const bool lines = walk.path.merges_lines;
    const std::uint64_t key = lines            ? range.virtual_address >> kTrackedLineShift
                              : t.request != 0 ? t.request
                                               : own_requests_;
    auto slot = table.join(key, now);
    // No cache keeps what came, so a request that found its line's entry full asks for the line again.
    if (slot.replay) slot = table.join(key, slot.start);
    if (lines && slot.shared_until > 0) return std::max(slot.start, slot.shared_until);
    const Time done = descend(walk, first, range, slot.start, true);
    table.release_at(slot.index, done);
    return done;
}

Time System::load(Walk& walk, const Range& range, Time now) {
    const std::size_t first = first_cache(walk);
    if (!walk.path.outstanding.empty()) return tracked_load(walk, first, range, now);
    if (first >= walk.path.near) return descend(walk, first, range, now, true);
    if (!walk.path.translates_after_first) translate(walk, now);
    return fetch(walk, first, range, now);
}

double System::write_to_dram(std::uint64_t physical, std::uint64_t bytes, Time now) {
    dram_bytes_ += bytes;
    return dram_.write(physical, static_cast<std::uint32_t>(bytes), now);
}

/// The dirty sectors of an evicted line go to DRAM.
double System::write_back(const TagArray::Found& found, const TagArray& tags, Time now) {
    return write_to_dram(found.evicted, std::uint64_t(std::popcount(found.evicted_dirty)) << tags.sector_shift(), now);
}

bool System::write_to_cache(CacheLevel& level, std::size_t instance, std::uint64_t address, std::uint64_t bytes,
                            double& waited, Time now) {
    TagArray& tags = level.instances[instance];
    bool kept = true;
    for (const std::uint64_t end = address + bytes; address < end;) {
        const std::uint64_t part = within_block(address, end - address, tags.block_bytes());
        if (!level.ports.empty())
            waited = std::max(
                waited, level.ports[instance].reserve(now, static_cast<double>(part) * level.cycles_per_byte) - now);
        const auto sectors = tags.sectors_of(address, part);
        const auto found = tags.lookup(address, sectors, level.allocates_stores);
        ++(found.missing == 0 ? level.hits : level.misses);
        if (found.evicted_dirty != 0) waited = std::max(waited, write_back(found, tags, now));
        const bool there = found.line != nullptr && (found.line->valid & sectors) == sectors;
        if (there && level.write_back) found.line->dirty |= sectors;
        kept = kept && there && level.write_back;
        address += part;
    }
    return kept;
}

Time System::store(Walk& walk, const Range& range, Time now) {
    const Transaction& t = walk.transaction;
    translate(walk, now);
    const std::uint64_t at = physical(walk, range.virtual_address);
    double waited = 0;
    bool kept = false;
    std::size_t depth = first_cache(walk);
    for (; depth < walk.path.near; ++depth) {
        CacheLevel& level = *walk.path.caches[depth];
        double port = 0;  // the SM gets rid of a store before the cache takes it
        (void)write_to_cache(level, placement_.instance(level.scope, t.sm, t.scheduler), range.virtual_address,
                             range.bytes, port, now);
    }
    if (!ports_out_.empty())
        now = ports_out_[t.sm].reserve(now, static_cast<double>(range.bytes) * port_cycles_per_byte_);
    for (; depth < walk.path.caches.size() && !kept; ++depth)
        kept = write_to_cache(*walk.path.caches[depth], 0, at, range.bytes, waited, now);
    if (!kept) waited = std::max(waited, write_to_dram(at, range.bytes, now));
    return now + std::max(0.0, waited - kStoreQueueCycles);
}

Time System::atomic(Walk& walk, const Range& range, Time now) {
    Time done = load(walk, range, now);
    const std::uint64_t at = physical(walk, range.virtual_address);
    auto& [address, last] = atomics_[(at / 4) % kAtomicSlots];
    if (address == at) done = std::max(done, last + kAtomicInterval);
    address = at;
    last = done;
    // The write half; nobody waits for it.
    const std::size_t far = first_cache(walk);
    if (far < walk.path.caches.size() && walk.path.caches[far]->write_back) {
        TagArray& tags = walk.path.caches[far]->instances.front();
        if (tags.mark_dirty(at, tags.sectors_of(at, within_block(at, range.bytes, tags.block_bytes())))) return done;
    }
    (void)write_to_dram(at, range.bytes, now);
    return done;
}

Time System::access(const Transaction& transaction, Time now) {
    const bool own_path =
        transaction.path != PathKind::local || levels_.paths[static_cast<std::size_t>(PathKind::local)].described;
    const auto kind = static_cast<std::size_t>(own_path ? transaction.path : PathKind::global);
    MemoryPath& path = levels_.paths[kind];
    if (!path.described)
        throw InputError(
            fmt::format("paths.{}: missing; expected a path, because the kernel uses it", kPathNames[kind]));
    if (transaction.sm >= placement_.sms() || transaction.bytes == 0)
        throw std::invalid_argument(fmt::format("memory access of {} bytes by SM {} of {}", transaction.bytes,
                                                transaction.sm, placement_.sms()));
    ++transactions_;
    ++own_requests_;
    Walk walk{transaction, path};
    const Range range{transaction.address, 0, transaction.bytes};
    const Time start = base_ + now;
    Time done = 0;
    switch (transaction.kind) {
        case AccessKind::load: done = load(walk, range, start); break;
        case AccessKind::store: done = store(walk, range, start); break;
        case AccessKind::atomic: done = atomic(walk, range, start); break;
    }
    if (!noise_.silent() && transaction.kind != AccessKind::store && transaction.path != PathKind::instruction)
        done = std::max(start, done + noise_.draw());
    latest_ = std::max(latest_, done);
    return done - base_;
}

void System::begin_launch() {
    latest_ = std::max(latest_, dram_.busy_until());
    for (const auto* ports : {&ports_in_, &ports_out_})
        for (const auto& port : *ports) latest_ = std::max(latest_, port.busy_until());
    for (const auto& [key, cache] : levels_.caches) {
        (void)key;
        for (const auto& port : cache.ports) latest_ = std::max(latest_, port.busy_until());
    }
    dram_.begin_launch();
    base_ = std::ceil(latest_);
}

void System::drain_counters(MemoryCounters& counters) {
    counters.memory_transactions += std::exchange(transactions_, 0);
    counters.dram_bytes += std::exchange(dram_bytes_, 0);
    for (auto& [key, level] : levels_.caches) {
        counters.cache_hits[key] += std::exchange(level.hits, 0);
        counters.cache_misses[key] += std::exchange(level.misses, 0);
    }
    for (auto& [key, level] : levels_.tlbs) {
        counters.cache_hits["tlbs." + key] += std::exchange(level.hits, 0);
        counters.cache_misses["tlbs." + key] += std::exchange(level.misses, 0);
    }
}

}  // namespace

std::unique_ptr<MemorySystem> make_memory_system(const machine::Machine& machine, const AddressSpace& addresses,
                                                 const MemoryOptions& options) {
    return std::make_unique<System>(machine, addresses, options);
}

}  // namespace gputomo::sim
