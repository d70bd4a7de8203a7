// Machine descriptions written in code, and a memory system around one of them.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/memory_system.hpp"
#include "units/error.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::sim::test {

/// Physical = virtual + `offset`, so that a cache lookup by the wrong address shows. Addresses from `alias_base` on are
/// images of one piece of `alias_bytes`.
class PlainAddresses : public AddressSpace {
public:
    static constexpr std::uint64_t kUnmapped = std::uint64_t{1} << 60;
    std::uint64_t offset = 0;
    std::uint64_t alias_base = kUnmapped;
    std::uint64_t alias_bytes = 1;

    [[nodiscard]] std::uint64_t translate(std::uint64_t address) const override {
        if (address >= kUnmapped) throw DeviceError("illegal address");
        if (address >= alias_base) return offset + alias_base + (address - alias_base) % alias_bytes;
        return address + offset;
    }
};

struct CacheShape {
    std::string scope = "sm";
    std::int64_t line = 128;
    std::int64_t sector = 128;
    std::int64_t ways = 4;
    std::int64_t sets = 2;
    std::string policy = "lru";
    std::int64_t latency = 30;
};

inline machine::Cache make_cache(const CacheShape& shape) {
    machine::Cache cache;
    cache.scope.set(shape.scope);
    cache.line.set(shape.line);
    cache.sector.set(shape.sector);
    cache.ways.set(shape.ways);
    cache.sets.set(shape.sets);
    cache.capacity.set(shape.line * shape.ways * shape.sets);
    cache.index.set("modulo");
    cache.policy.set(shape.policy);
    cache.latency.set(shape.latency);
    return cache;
}

struct TlbShape {
    std::string scope = "sm";
    std::int64_t span = 4096;
    std::int64_t ways = 4;
    std::int64_t sets = 1;
    std::int64_t penalty = 50;
};

inline machine::Tlb make_tlb(const TlbShape& shape) {
    machine::Tlb tlb;
    tlb.scope.set(shape.scope);
    tlb.span.set(shape.span);
    tlb.ways.set(shape.ways);
    tlb.sets.set(shape.sets);
    tlb.entries.set(shape.ways * shape.sets);
    tlb.reach.set(shape.ways * shape.sets * shape.span);
    tlb.miss_penalty.set(shape.penalty);
    tlb.policy.set("lru");
    return tlb;
}

/// 6 SMs in TPCs of 3, no cache, no TLB, memory at 400 cycles, 100 bytes a cycle.
inline machine::Machine bare_machine() {
    machine::Machine m;
    m.clock.sm_mhz.set(1000);
    m.topology.sms.set(6);
    m.topology.sms_per_tpc.set(3);
    m.memory.channels.set(4);
    m.memory.read_bandwidth.set(100);
    m.paths["global"].caches.set({});
    m.paths["global"].memory_latency.set(400);
    return m;
}

/// bare_machine with these caches on the global path, nearest first.
inline machine::Machine machine_with(const std::vector<std::pair<std::string, machine::Cache>>& caches) {
    machine::Machine m = bare_machine();
    std::vector<std::string> keys;
    for (const auto& [key, cache] : caches) {
        m.caches[key] = cache;
        keys.push_back(key);
    }
    m.paths["global"].caches.set(keys);
    return m;
}

/// A memory system that serves one access after the other.
struct Rig {
    explicit Rig(const machine::Machine& machine, const MemoryOptions& options = {})
        : memory(make_memory_system(machine, addresses, options)) {}

    /// Latency of an access that is issued when all earlier ones have completed and all queues are empty.
    double latency(Transaction t) {
        now += 100'000;
        const double done = memory->access(t, now);
        const double taken = done - now;
        now = done;
        return taken;
    }
    double load(std::uint64_t address, std::uint32_t sm = 0) {
        return latency({.address = address, .bytes = 4, .sm = sm});
    }
    double store(std::uint64_t address, std::uint32_t bytes = 4) {
        return latency({.address = address, .bytes = bytes, .kind = AccessKind::store});
    }
    MemoryCounters counters() {
        MemoryCounters c;
        memory->drain_counters(c);
        return c;
    }

    PlainAddresses addresses;
    std::unique_ptr<MemorySystem> memory;
    double now = 0;
};

/// The error of building the memory system of `machine`; empty where there is none.
inline std::string complaint(const machine::Machine& machine) {
    const PlainAddresses addresses;
    try {
        (void)make_memory_system(machine, addresses, {});
    } catch (const InputError& e) {
        return e.what();
    }
    return {};
}

}  // namespace gputomo::sim::test
