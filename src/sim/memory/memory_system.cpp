// The walk of a transaction: translation, caches from near to far, outstanding-miss table, port, DRAM.
//
// - A path's first cache that belongs to an SM or TPC is looked up by virtual address, caches of the whole GPU by physical.
// - `latency` of a cache is load-to-use for a hit there, `memory_latency` for DRAM: each counted whole, not on top of
//   the level before. TLB misses, queueing and waiting for a table entry come on top.
// - A miss fills every level on its way at once; data that are still on their way delay a later hit until they are there.
// - memory_latency_range spreads over TPCs, in steps, so that the rounded mean is memory_latency.
// - Stores pass through to the last cache (write-back there) or DRAM; the SM sees them done when its port has taken them, and no
//   sooner than the DRAM queue has room.
// - Atomics are loads of the last cache or DRAM that wait for the atomic before them at the same address.
#include "sim/memory_system.hpp"

#include "sim/memory/dram.hpp"
#include "sim/memory/outstanding.hpp"
#include "sim/memory/tag_array.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

namespace gputomo::sim {
namespace {

constexpr std::array<std::string_view, 4> kPathNames{"global", "texture", "constant", "instruction"};

enum class Scope : std::uint8_t { sm, tpc, gpu };

Scope scope_of(const machine::Text& text) {
    if (text && *text == "gpu") return Scope::gpu;
    if (text && *text == "tpc") return Scope::tpc;
    return Scope::sm;
}

/// All instances of one described cache or TLB.
struct Level {
    std::string name;
    Scope scope = Scope::sm;
    std::vector<TagArray> instances;
    double latency = 0;  ///< of a hit (cache), or added by a miss (TLB)
    double cycles_per_byte = 0;
    std::vector<double> port_free;
    std::vector<OutstandingTable> outstanding;
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
};

struct PathState {
    bool described = false;
    std::vector<Level*> caches;
    std::vector<Level*> tlbs;
    bool translate_after_first = false;
    std::vector<double> memory_latency;  ///< by TPC
};

class System final : public MemorySystem {
public:
    System(const machine::Machine& machine, const AddressSpace& addresses, const Options& options);
    Time access(const Transaction& transaction, Time now) override;
    void begin_launch() override;
    void drain_counters(Counters& counters) override;

private:
    [[nodiscard]] std::size_t instance(Scope scope, std::uint32_t sm) const {
        return scope == Scope::sm ? sm : scope == Scope::tpc ? sm / sms_per_tpc_ : 0;
    }
    template <class Part>
    Level* add_level(std::map<std::string, Level>& levels, const std::string& key, const Part& part, const std::string& where);
    void add_outstanding(Level& level, const machine::Cache& cache, const std::string& where);
    void add_path(PathKind kind, const machine::Machine& machine);
    double translate(PathState& path, const Transaction& t);
    Time load(PathState& path, const Transaction& t, Time now);
    Time store(PathState& path, const Transaction& t, Time now);
    Time memory(PathState& path, const Transaction& t, std::uint64_t physical, std::uint32_t bytes, Time now);
    double port_delay(Level& level, std::size_t which, std::uint32_t bytes, Time now);
    Time atomic_turn(std::uint64_t physical, Time done);
    double noise();

    const AddressSpace& addresses_;
    std::uint32_t sms_ = 1;
    std::uint32_t sms_per_tpc_ = 1;
    std::map<std::string, Level> caches_;
    std::map<std::string, Level> tlbs_;
    std::array<PathState, 4> paths_;
    Dram dram_;
    double port_cycles_per_byte_ = 0;
    std::vector<double> port_free_;
    std::array<std::pair<std::uint64_t, double>, 1024> atomics_{};
    Noise noise_;
    std::mt19937_64 random_;
    /// Each launch counts time from 0; inside, time goes on, so that nothing needs resetting between launches.
    Time base_ = 0;
    Time latest_ = 0;
    std::uint64_t transactions_ = 0;
    std::uint64_t dram_bytes_ = 0;
};

/// Latency by TPC: from the smallest to the largest in even steps, then single steps until the rounded mean is right.
std::vector<double> placement_latencies(std::int64_t mean, const machine::Integers& range, std::size_t tpcs) {
    std::vector<std::int64_t> values(tpcs, mean);
    if (range && tpcs > 1) {
        const auto low = range.value.at(0), high = range.value.at(1);
        for (std::size_t i = 0; i < tpcs; ++i)
            values[i] = low + static_cast<std::int64_t>(std::llround(static_cast<double>(high - low) * static_cast<double>(i) / static_cast<double>(tpcs - 1)));
        for (std::size_t step = 0; step < tpcs * static_cast<std::size_t>(high - low + 1); ++step) {
            double sum = 0;
            for (const auto v : values) sum += static_cast<double>(v);
            const auto now = std::llround(sum / static_cast<double>(tpcs));
            if (now == mean || tpcs < 3) break;
            auto& value = values[1 + step % (tpcs - 2)];
            value = std::clamp(value + (now < mean ? 1 : -1), low, high);
        }
    }
    return {values.begin(), values.end()};
}

System::System(const machine::Machine& machine, const AddressSpace& addresses, const Options& options)
    : addresses_(addresses), dram_(machine), noise_(options.noise), random_(options.seed * 0x9E3779B97F4A7C15U + 1) {
    if (!machine.topology.sms) throw InputError("topology.sms: missing; the simulator needs it");
    sms_ = static_cast<std::uint32_t>(*machine.topology.sms);
    sms_per_tpc_ = static_cast<std::uint32_t>(std::max<std::int64_t>(1, machine.topology.sms_per_tpc.value_or(1)));
    if (machine.memory.interconnect_bytes_per_cycle)
        port_cycles_per_byte_ = 1 / *machine.memory.interconnect_bytes_per_cycle;
    port_free_.assign(sms_, 0.0);
    for (std::size_t kind = 0; kind < kPathNames.size(); ++kind) add_path(static_cast<PathKind>(kind), machine);
}

template <class Part>
Level* System::add_level(std::map<std::string, Level>& levels, const std::string& key, const Part& part, const std::string& where) {
    const auto [entry, is_new] = levels.try_emplace(key);
    Level& level = entry->second;
    if (!is_new) return &level;
    level.name = key;
    level.scope = scope_of(part.scope);
    const Geometry geometry = geometry_of(part, where);
    const std::size_t count = instance(level.scope, sms_ - 1) + 1;
    for (std::size_t i = 0; i < count; ++i) level.instances.emplace_back(geometry, random_());
    level.port_free.assign(count, 0.0);
    return &level;
}

void System::add_outstanding(Level& level, const machine::Cache& cache, const std::string& where) {
    if (!cache.outstanding_design || !level.outstanding.empty()) return;
    if (!cache.outstanding_entries || *cache.outstanding_entries < 1)
        throw InputError(where + ".outstanding_entries: missing; expected a positive number with an outstanding_design");
    const OutstandingTable::Design design{*cache.outstanding_design == "mshr",
                                          static_cast<std::uint32_t>(*cache.outstanding_entries),
                                          static_cast<std::uint32_t>(cache.outstanding_merge.value_or(1))};
    level.outstanding.assign(level.instances.size(), OutstandingTable(design));
}

void System::add_path(PathKind kind, const machine::Machine& machine) {
    const std::string name(kPathNames[static_cast<std::size_t>(kind)]);
    const auto described = machine.paths.find(name);
    if (described == machine.paths.end()) return;
    const machine::Path& from = described->second;
    PathState& path = paths_[static_cast<std::size_t>(kind)];
    path.described = true;
    for (const auto& key : from.caches.value_or({})) {
        const std::string where = "caches." + key;
        const auto cache = machine.caches.find(key);
        if (cache == machine.caches.end()) throw InputError(fmt::format("paths.{}.caches: no cache \"{}\" is described", name, key));
        Level* level = add_level(caches_, key, cache->second, where);
        if (!cache->second.latency) throw InputError(where + ".latency: missing; the simulator needs it");
        level->latency = static_cast<double>(*cache->second.latency);
        if (cache->second.bytes_per_cycle) level->cycles_per_byte = 1 / *cache->second.bytes_per_cycle;
        add_outstanding(*level, cache->second, where);
        path.caches.push_back(level);
    }
    for (const auto& key : from.tlbs.value_or({})) {
        const std::string where = "tlbs." + key;
        const auto tlb = machine.tlbs.find(key);
        if (tlb == machine.tlbs.end()) throw InputError(fmt::format("paths.{}.tlbs: no TLB \"{}\" is described", name, key));
        Level* level = add_level(tlbs_, key, tlb->second, where);
        if (!tlb->second.miss_penalty) throw InputError(where + ".miss_penalty: missing; the simulator needs it");
        level->latency = static_cast<double>(*tlb->second.miss_penalty);
        path.tlbs.push_back(level);
    }
    if (!from.memory_latency) throw InputError(fmt::format("paths.{}.memory_latency: missing; the simulator needs it", name));
    path.translate_after_first = from.tlb_position && *from.tlb_position == "after-first-cache";
    path.memory_latency = placement_latencies(*from.memory_latency, from.memory_latency_range, instance(Scope::tpc, sms_ - 1) + 1);
}

double System::translate(PathState& path, const Transaction& t) {
    double penalty = 0;
    for (Level* tlb : path.tlbs) {
        if (tlb->instances[instance(tlb->scope, t.sm)].access(t.address, true).hit) {
            ++tlb->hits;
            break;
        }
        ++tlb->misses;
        penalty += tlb->latency;
    }
    return penalty;
}

double System::port_delay(Level& level, std::size_t which, std::uint32_t bytes, Time now) {
    if (level.cycles_per_byte == 0) return 0;
    double& free_at = level.port_free[which];
    const double start = std::max(now, free_at);
    free_at = start + bytes * level.cycles_per_byte;
    return start - now;
}

Time System::memory(PathState& path, const Transaction& t, std::uint64_t physical, std::uint32_t bytes, Time now) {
    dram_bytes_ += bytes;
    return now + path.memory_latency[instance(Scope::tpc, t.sm)] + dram_.serve(physical, bytes, false, now);
}

Time System::load(PathState& path, const Transaction& t, Time now) {
    const std::uint64_t physical = addresses_.translate(t.address);
    double penalty = path.translate_after_first ? 0 : translate(path, t);
    std::array<double*, 8> filling{};
    std::size_t fills = 0;
    OutstandingTable* table = nullptr;
    OutstandingTable::Slot slot;
    bool first = true;
    std::uint32_t bytes = t.bytes;
    for (Level* cache : path.caches) {
        const bool local = cache->scope != Scope::gpu;
        const bool skipped = t.hint == CacheHint::none || (local && (t.hint == CacheHint::l2_only || t.kind == AccessKind::atomic));
        if (skipped) continue;
        const std::size_t which = instance(cache->scope, t.sm);
        TagArray& tags = cache->instances[which];
        now += port_delay(*cache, which, t.bytes, now);
        const auto lookup = tags.access(local ? t.address : physical, true);
        if (lookup.hit) {
            ++cache->hits;
            const Time done = std::max(now + penalty + cache->latency, *lookup.ready);
            for (std::size_t i = 0; i < fills; ++i) *filling[i] = done;
            if (table != nullptr) table->set_release(slot.index, done);
            return done;
        }
        ++cache->misses;
        bytes = std::max<std::uint32_t>(bytes, static_cast<std::uint32_t>(tags.sector()));
        if (first && path.translate_after_first) penalty += translate(path, t);
        if (first && !cache->outstanding.empty()) {
            table = &cache->outstanding[which];
            slot = table->reserve(t.address / tags.block(), now);
            now = slot.start;
        }
        if (first && port_cycles_per_byte_ > 0) {
            double& free_at = port_free_[t.sm];
            const double start = std::max(now, free_at);
            free_at = start + bytes * port_cycles_per_byte_;
            now = start;
        }
        first = false;
        if (fills < filling.size()) filling[fills++] = lookup.ready;
    }
    if (first && port_cycles_per_byte_ > 0) {
        double& free_at = port_free_[t.sm];
        const double start = std::max(now, free_at);
        free_at = start + bytes * port_cycles_per_byte_;
        now = start;
    }
    const Time done = memory(path, t, physical, bytes, now) + penalty;
    for (std::size_t i = 0; i < fills; ++i) *filling[i] = done;
    if (table != nullptr) table->set_release(slot.index, done);
    return done;
}

Time System::store(PathState& path, const Transaction& t, Time now) {
    const std::uint64_t physical = addresses_.translate(t.address);
    const double penalty = translate(path, t);
    for (Level* cache : path.caches) {
        const bool local = cache->scope != Scope::gpu;
        if (t.hint == CacheHint::none || (local && t.hint == CacheHint::l2_only)) continue;
        // Near caches are written through without allocating; the GPU's own cache allocates and its lines are counted
        // against DRAM when they are written, not when they leave.
        (void)cache->instances[instance(cache->scope, t.sm)].access(local ? t.address : physical, !local);
    }
    if (port_cycles_per_byte_ > 0) {
        double& free_at = port_free_[t.sm];
        const double start = std::max(now, free_at);
        free_at = start + t.bytes * port_cycles_per_byte_;
        now = start;
    }
    dram_bytes_ += t.bytes;
    return now + penalty + dram_.serve(physical, t.bytes, true, now);
}

Time System::atomic_turn(std::uint64_t physical, Time done) {
    auto& [address, last] = atomics_[(physical / 4) % atomics_.size()];
    if (address == physical && last + 1 > done) done = last + 1;
    address = physical;
    last = done;
    return done;
}

double System::noise() {
    double extra = 0;
    if (noise_.jitter_cycles > 0) {
        std::normal_distribution<double> jitter(0, noise_.jitter_cycles);
        extra += std::abs(std::round(jitter(random_)));
    }
    if (noise_.outlier_fraction > 0 && static_cast<double>(random_() >> 11) * 0x1p-53 < noise_.outlier_fraction)
        extra += noise_.outlier_cycles;
    return extra;
}

Time System::access(const Transaction& transaction, Time now) {
    PathState& path = paths_[static_cast<std::size_t>(transaction.path)];
    if (!path.described)
        throw InputError(fmt::format("paths.{}: missing; the kernel uses it", kPathNames[static_cast<std::size_t>(transaction.path)]));
    ++transactions_;
    Time done = 0;
    if (transaction.kind == AccessKind::store) {
        done = store(path, transaction, base_ + now);
    } else {
        done = load(path, transaction, base_ + now);
        if (transaction.kind == AccessKind::atomic) done = atomic_turn(addresses_.translate(transaction.address), done);
        if (transaction.path != PathKind::instruction) done += noise();
    }
    latest_ = std::max(latest_, done);
    return done - base_;
}

void System::begin_launch() { base_ = latest_; }

void System::drain_counters(Counters& counters) {
    counters.memory_transactions += std::exchange(transactions_, 0);
    counters.dram_bytes += std::exchange(dram_bytes_, 0);
    for (auto* levels : {&caches_, &tlbs_})
        for (auto& [key, level] : *levels) {
            counters.cache_hits[key] += std::exchange(level.hits, 0);
            counters.cache_misses[key] += std::exchange(level.misses, 0);
        }
}

}  // namespace

std::unique_ptr<MemorySystem> make_memory_system(const machine::Machine& machine, const AddressSpace& addresses,
                                                 const Options& options) {
    return std::make_unique<System>(machine, addresses, options);
}

}  // namespace gputomo::sim
