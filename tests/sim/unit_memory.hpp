// A memory system for tests of single units: it takes the same time for every transaction and notes them all.
#pragma once

#include "sim/memory/memory_system.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim::test {

class FixedLatencyMemory final : public MemorySystem {
public:
    explicit FixedLatencyMemory(double latency) : latency_(latency) {}

    struct Access {
        Transaction transaction;
        double when = 0;
    };
    std::vector<Access> accesses;

    Time access(const Transaction& transaction, Time now) override {
        accesses.push_back({transaction, now});
        return now + latency_;
    }
    Time pass_near(PathKind, std::uint32_t, double, Time now) override { return now; }
    [[nodiscard]] bool reached_dram() const override { return false; }
    [[nodiscard]] bool holds_near(PathKind, std::uint32_t, std::uint32_t, std::uint64_t) const override {
        return false;
    }
    void forget_near(PathKind, std::uint32_t, std::uint32_t) override {}
    [[nodiscard]] std::size_t atomic_units() const override { return 0; }
    [[nodiscard]] std::size_t atomic_queues() const override { return 0; }
    [[nodiscard]] AtomicPlace place_of(const Transaction&) const override { return {}; }
    Time send(const Transaction&, Time now) override { return now; }
    Served serve(const Transaction&, Time now) override { return {.done = now + latency_, .free = now}; }
    void begin_launch() override {}
    void preload(PathKind, std::uint64_t, std::uint64_t, const costs::Arrival&) override {}
    void know_pages(std::uint64_t, std::uint64_t) override {}
    void forget_sm_data() override {}
    void set_aside(std::uint64_t) override {}
    [[nodiscard]] std::uint64_t filled_lines() const override { return 0; }
    void fill_with_strangers(std::uint64_t) override {}
    void drain_counters(MemoryCounters&) override {}

private:
    double latency_;
};

}  // namespace gputomo::sim::test
