#include "sim/memory/memory_system.hpp"

#include "sim/memory/description.hpp"
#include "sim/memory/model.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gputomo::sim {
namespace {

/// Slots of the calendar of an SM's port into the interconnect: queues of up to 4096 cycles. Longer ones come out
/// short.
constexpr std::uint32_t kPortSlots = 256;
/// Addresses whose last atomic is remembered. Where two addresses collide, the older one is forgotten, and its next
/// atomic does not wait. More of them make that rarer.
constexpr std::size_t kAtomicSlots = 4096;
/// Slots of the calendars of stores and of atomics at the cache of all SMs: queues of up to 16,384 cycles. All SMs wait
/// there, so that queues are longer than at the port of one.
constexpr std::uint32_t kSharedSlots = 1024;
/// Slots of the calendar of a unit for atomics: queues of up to 4096 cycles keep free time for what arrives earlier.
constexpr std::uint32_t kUnitSlots = 256;
/// Keys of transactions without a request number in a pending request table; above all request numbers.
constexpr std::uint64_t kOwnRequest = std::uint64_t{1} << 63;

}  // namespace

MemoryModel::MemoryModel(const machine::Machine& machine, const AddressSpace& addresses, const MemoryOptions& options)
    : addresses_(addresses),
      placement_(machine),
      levels_(machine, placement_, options.seed),
      storage_(machine, levels_, options.seed + 2),
      dram_(machine),
      partial_stores_(costs::partial_stores_of(machine)),
      partial_lines_(partial_stores_.kept_lines),
      stores_(kSharedSlots),
      atomic_units_(kSharedSlots),
      fabric_(kSharedSlots),
      atomic_costs_(costs::atomic_units_of(machine)),
      atomics_(kAtomicSlots),
      noise_(options.noise, options.seed + 1),
      own_requests_(kOwnRequest) {
    const auto cycles_per_byte = [](const machine::Real& rate, std::string_view path) {
        return rate ? 1 / need_rate(rate, path) : 0;
    };
    const auto access = [&](const std::string& name) {
        const auto found = machine.accesses.find(name);
        return found == machine.accesses.end() ? machine::Access{} : found->second;
    };
    const machine::Access stores = access("l2_store"), atomics = access("l2_atomic");
    partial_cost_ = stores.partial_cost.value_or(1);
    store_cycles_per_byte_ = cycles_per_byte(stores.bytes_per_cycle, "accesses.l2_store.bytes_per_cycle");
    atomic_cycles_per_byte_ = cycles_per_byte(atomics.bytes_per_cycle, "accesses.l2_atomic.bytes_per_cycle");
    if (const auto& path = levels_.paths[static_cast<std::size_t>(PathKind::global)];
        atomics.far_cycles && !path.caches.empty())
        far_atomic_ = std::max(0.0, *atomics.far_cycles - path.caches.back()->far_extra);
    if (atomics.queue_scope) queue_scope_ = placement_.scope_of(atomics.queue_scope, "accesses.l2_atomic.queue_scope");
    for (const auto& [name, cache] : machine.caches)
        if (cache.fabric_bytes_per_cycle)
            fabric_cycles_per_byte_ =
                cycles_per_byte(cache.fabric_bytes_per_cycle, fmt::format("caches.{}.fabric_bytes_per_cycle", name));
    out_cycles_per_byte_ = in_cycles_per_byte_ =
        cycles_per_byte(machine.memory.interconnect_bytes_per_cycle, "memory.interconnect_bytes_per_cycle");
    if (out_cycles_per_byte_ == 0)
        out_cycles_per_byte_ = cycles_per_byte(stores.sm_bytes_per_cycle, "accesses.l2_store.sm_bytes_per_cycle");
    if (atomic_costs_) units_.assign(atomic_costs_->count(), AtomicUnit{Server(kUnitSlots, true)});
    for (auto& [name, level] : levels_.caches) level.stores_block_fills = level.stores_block_fills && atomic_costs_;
    blocked_.assign(units_.size(), 0);
    for (const auto& [name, level] : levels_.caches)
        if (level.scope == Scope::gpu && level.cycles_per_byte > 0 && atomic_costs_)
            shared_lines_ = SharedLines(atomic_costs_->count(), level.cycles_per_byte);
    if (in_cycles_per_byte_ > 0) ports_in_.assign(placement_.sms(), Server(kPortSlots));
    if (out_cycles_per_byte_ > 0 && partial_stores_.merged_lines > 0)
        store_queues_.assign(placement_.sms(), costs::StoreQueue(partial_stores_.merged_lines));
    if (out_cycles_per_byte_ > 0) ports_out_.assign(placement_.sms(), Server(kPortSlots));
}

std::size_t MemoryModel::first_cache(const TransactionState& state) {
    if (state.transaction.hint == CacheHint::none) return state.path.caches.size();
    const bool skips_near =
        state.transaction.hint == CacheHint::l2_only || state.transaction.kind == AccessKind::atomic;
    return skips_near ? state.path.near : 0;
}

MemoryPath& MemoryModel::path_of(const Transaction& transaction) {
    const bool own_path =
        transaction.path != PathKind::local || levels_.paths[static_cast<std::size_t>(PathKind::local)].described;
    const auto kind = static_cast<std::size_t>(own_path ? transaction.path : PathKind::global);
    MemoryPath& path = levels_.paths[kind];
    if (!path.described)
        throw InputError(
            fmt::format("paths.{}: missing; expected a path, because the kernel uses it", kPathNames[kind]));
    return path;
}

Time MemoryModel::access(const Transaction& transaction, Time now) {
    MemoryPath& path = path_of(transaction);
    if (transaction.sm >= placement_.sms() || transaction.bytes == 0)
        throw std::invalid_argument(fmt::format("memory access of {} bytes by SM {} of {}", transaction.bytes,
                                                transaction.sm, placement_.sms()));
    ++transactions_;
    reached_dram_ = false;
    ++own_requests_;
    TransactionState state{transaction, path};
    const Range range{transaction.address, 0, transaction.bytes};
    const Time start = base_ + now;
    Time done = 0;
    switch (transaction.kind) {
        case AccessKind::load:
            if (transaction.hint == CacheHint::l2_only) drop_near(state, range);
            done = load(state, range, start);
            break;
        case AccessKind::store: done = store(state, range, start); break;
        case AccessKind::atomic: done = atomic(state, range, start); break;
    }
    if (!noise_.silent() && transaction.kind != AccessKind::store && transaction.path != PathKind::instruction)
        done = std::max(start, done + noise_.draw());
    latest_ = std::max(latest_, done);
    return done - base_;
}

bool MemoryModel::holds_near(PathKind path, std::uint32_t sm, std::uint32_t scheduler, std::uint64_t address) const {
    const MemoryPath& way = levels_.paths[static_cast<std::size_t>(path)];
    if (way.near == 0) return false;
    const CacheLevel& level = *way.caches.front();
    const TagArray& tags = level.instances[placement_.instance(level.scope, sm, scheduler)];
    return tags.holds(address, tags.sectors_of(address, 1));
}

void MemoryModel::forget_near(PathKind path, std::uint32_t sm, std::uint32_t scheduler) {
    const MemoryPath& way = levels_.paths[static_cast<std::size_t>(path)];
    for (std::size_t depth = 0; depth < way.near; ++depth) {
        CacheLevel& level = *way.caches[depth];
        level.instances[placement_.instance(level.scope, sm, scheduler)].clear();
    }
}

Time MemoryModel::pass_near(PathKind path, std::uint32_t sm, double bytes, Time now) {
    const MemoryPath& way = levels_.paths[static_cast<std::size_t>(path)];
    if (way.near == 0) return now;
    CacheLevel& level = *way.caches[way.near - 1];
    std::vector<Server>& ports = level.ports_used();
    if (ports.empty()) return now;
    const std::size_t instance = placement_.instance(level.scope, sm, 0);
    return ports[instance].reserve(base_ + now, bytes * level.cycles_per_byte) - base_;
}

void MemoryModel::begin_launch() {
    latest_ = std::max(latest_, dram_.busy_until());
    for (const auto* ports : {&ports_in_, &ports_out_})
        for (const auto& port : *ports) latest_ = std::max(latest_, port.busy_until());
    for (const auto& [key, cache] : levels_.caches) {
        (void)key;
        for (const auto* ports : {&cache.ports, &cache.sm_ports})
            for (const auto& port : *ports) latest_ = std::max(latest_, port.busy_until());
        for (const auto& gpc : cache.of_gpcs) latest_ = std::max(latest_, gpc.port().busy_until());
    }
    latest_ = std::max({latest_, stores_.busy_until(), atomic_units_.busy_until(), fabric_.busy_until()});
    for (const AtomicUnit& unit : units_) latest_ = std::max(latest_, unit.server.busy_until());
    dram_.begin_launch();
    for (auto& [key, tlb] : levels_.tlbs)
        if (tlb.is_emptied)
            for (TagArray& entries : tlb.instances) entries.clear();
    base_ = std::ceil(latest_);
}

void MemoryModel::preload(PathKind kind, std::uint64_t address, std::uint64_t bytes, const costs::Arrival& arrival) {
    const MemoryPath& to = levels_.paths[static_cast<std::size_t>(kind)];
    if (to.near == 0 || bytes == 0) return;
    CacheLevel& level = *to.caches[to.near - 1];
    std::vector<Server>& ports = level.ports_used();
    // A line that comes takes the port as long as one that the cache before asks for.
    const TagArray& nearer = to.caches[to.near > 1 ? to.near - 2 : 0]->instances.front();
    const double passes = static_cast<double>(nearer.block_bytes()) * level.cycles_per_byte;
    for (std::size_t instance = 0; instance < level.instances.size(); ++instance) {
        TagArray& tags = level.instances[instance];
        for (std::uint64_t at = address & ~(tags.block_bytes() - 1); at < address + bytes; at += tags.block_bytes()) {
            const auto sectors = tags.sectors_of(at, tags.block_bytes());
            const auto found = tags.lookup(at, sectors, true);
            const double when = at > address ? arrival.of(at - address) : 0;
            if (when == 0 || found.missing == 0 || found.line == nullptr) continue;
            found.line->pending = sectors;
            found.line->ready = base_ + when;
            found.line->brought = true;
            if (!ports.empty()) (void)ports[instance].reserve(base_ + when, passes);
        }
    }
}

void MemoryModel::know_pages(std::uint64_t address, std::uint64_t bytes) {
    for (TlbLevel* const tlb : levels_.paths[static_cast<std::size_t>(PathKind::global)].tlbs) {
        if (!tlb->outlasts_launches) continue;
        for (TagArray& entries : tlb->instances)
            for (std::uint64_t at = address & ~(entries.block_bytes() - 1); at < address + bytes;
                 at += entries.block_bytes())
                (void)entries.lookup(at, 1, true);
    }
}

void MemoryModel::forget_sm_data() {
    const auto& code = levels_.paths[static_cast<std::size_t>(PathKind::instruction)].caches;
    for (auto& [key, level] : levels_.caches) {
        if (level.scope == Scope::gpu || std::ranges::find(code, &level) != code.end()) continue;
        for (auto& instance : level.instances) instance.clear();
    }
}

std::uint64_t MemoryModel::filled_lines() const {
    std::uint64_t lines = 0;
    for (const auto& [key, level] : levels_.caches)
        if (level.scope == Scope::gpu)
            for (const auto& instance : level.instances) lines += instance.filled();
    return lines;
}

void MemoryModel::fill_with_strangers(std::uint64_t lines) {
    for (auto& [key, level] : levels_.caches)
        if (level.scope == Scope::gpu)
            for (auto& instance : level.instances) instance.fill_with_strangers(lines / level.instances.size());
}

void MemoryModel::drain_counters(MemoryCounters& counters) {
    counters.memory_transactions += std::exchange(transactions_, 0);
    counters.dram_bytes += std::exchange(dram_bytes_, 0);
    counters.atomics += std::exchange(atomic_transactions_, 0);
    counters.stores += std::exchange(stored_, 0);
    counters.partial_stores += std::exchange(partly_stored_, 0);
    counters.filling_cycles += std::exchange(filling_cycles_, 0);
    counters.met_atomics += std::exchange(met_atomics_, 0);
    for (auto& [key, level] : levels_.caches) {
        counters.cache_hits[key] += std::exchange(level.hits, 0);
        counters.cache_misses[key] += std::exchange(level.misses, 0);
    }
    for (auto& [key, level] : levels_.tlbs) {
        counters.cache_hits["tlbs." + key] += std::exchange(level.hits, 0);
        counters.cache_misses["tlbs." + key] += std::exchange(level.misses, 0);
    }
}

std::unique_ptr<MemorySystem> make_memory_system(const machine::Machine& machine, const AddressSpace& addresses,
                                                 const MemoryOptions& options) {
    return std::make_unique<MemoryModel>(machine, addresses, options);
}

}  // namespace gputomo::sim
