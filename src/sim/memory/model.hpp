// The state of the memory system, and the steps of a transaction through it (memory_system.hpp describes the model).
#pragma once

#include "costs/partial_stores.hpp"
#include "machine/machine.hpp"
#include "sim/memory/dram.hpp"
#include "sim/memory/levels.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/memory/noise.hpp"
#include "sim/memory/placement.hpp"
#include "sim/memory/shared_lines.hpp"
#include "sim/memory/shared_storage.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gputomo::sim {

/// Part of a transaction at some level: the same bytes in both address spaces.
struct Range {
    std::uint64_t virtual_address = 0;
    std::uint64_t physical = 0;
    std::uint64_t bytes = 0;
};

/// A transaction on its way through the levels.
struct TransactionState {
    const Transaction& transaction;
    MemoryPath& path;
    double penalty = 0;                 ///< cycles that translation adds
    bool translated = false;            ///< the TLBs have been looked up
    bool located = false;               ///< `physical_offset` is known
    std::uint64_t physical_offset = 0;  ///< physical - virtual address; a transaction lies in one piece of memory
    /// The range was cut at the lines of a level. The described latency is that of the whole transaction, so its pieces
    /// do not wait for each other. Work that one piece books is subtracted from what the next one waits.
    bool cut = false;
    bool ahead = false;  ///< a cache requests this line together with one that missed
    std::array<std::pair<const Server*, double>, 5> booked{};
};

/// Bytes from `address` to the end of its block, at most `bytes`.
[[nodiscard]] inline std::uint64_t within_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t block_bytes) {
    return std::min(bytes, block_bytes - (address & (block_bytes - 1)));
}

class MemoryModel final : public MemorySystem {
public:
    MemoryModel(const machine::Machine& machine, const AddressSpace& addresses, const MemoryOptions& options);
    Time access(const Transaction& transaction, Time now) override;
    [[nodiscard]] bool holds_near(PathKind path, std::uint32_t sm, std::uint32_t scheduler,
                                  std::uint64_t address) const override;
    Time pass_near(PathKind path, std::uint32_t sm, double bytes, Time now) override;
    [[nodiscard]] bool reached_dram() const override { return reached_dram_; }
    [[nodiscard]] std::size_t atomic_units() const override { return units_.size(); }
    [[nodiscard]] std::size_t atomic_queues() const override {
        return queue_scope_ == Scope::gpu ? 1 : placement_.instances(queue_scope_);
    }
    [[nodiscard]] AtomicPlace place_of(const Transaction& atomic) const override;
    Time send(const Transaction& atomic, Time now) override;
    Served serve(const Transaction& atomic, Time now) override;
    void forget_near(PathKind path, std::uint32_t sm, std::uint32_t scheduler) override;
    void begin_launch() override;
    void preload(PathKind path, std::uint64_t address, std::uint64_t bytes, const costs::Arrival& arrival) override;
    void know_pages(std::uint64_t address, std::uint64_t bytes) override;
    void forget_sm_data() override;
    void set_aside(std::uint64_t shared_bytes) override { storage_.set_aside(shared_bytes); }
    [[nodiscard]] std::uint64_t filled_lines() const override;
    void fill_with_strangers(std::uint64_t lines) override;
    void drain_counters(MemoryCounters& counters) override;

private:
    // ---- loads.cpp
    Time load(TransactionState& state, const Range& range, Time now);
    /// A load that takes an entry of the path's own table of outstanding requests.
    Time tracked_load(TransactionState& state, std::size_t first, const Range& range, Time now);
    /// The range from cache `depth` of the path on, or from DRAM; completion of its last byte.
    Time fetch(TransactionState& state, std::size_t depth, Range range, Time now);
    Time fetch_block(TransactionState& state, std::size_t depth, const Range& range, Time now);
    /// fetch_block() of a load that leaves its GPC.
    Time leave_gpc(TransactionState& state, std::size_t depth, const Range& range, Time now);
    Time look_up(TransactionState& state, std::size_t depth, const Range& range, Time now);
    /// Requests lines behind that of `range` from cache `depth`, from the one at the distance `first` on. Nothing waits
    /// for them.
    void fetch_ahead(TransactionState& state, std::size_t depth, const Range& range, std::uint64_t first, Time now);
    /// Books work at a server; returns when it starts.
    static Time queue(TransactionState& state, Server& server, double service, Time now);
    static double own_work(TransactionState& state, const Server& server, double service);
    /// A miss in the cache before `depth`, or of a path without one, continues at `depth`.
    Time descend(TransactionState& state, std::size_t depth, Range range, Time now, bool crosses);
    [[nodiscard]] double hit_latency(const CacheLevel& level, std::uint32_t sm, std::uint64_t physical) const;
    /// Whether an address belongs to another partition of the last cache than the SM.
    [[nodiscard]] bool is_far(std::uint64_t partitions, std::uint32_t sm, std::uint64_t physical) const;
    OutstandingTable::Slot track(CacheLevel& level, std::size_t instance, const TransactionState& state,
                                 std::uint64_t block, bool missing, Time now);

    // ---- translation.cpp
    void translate(TransactionState& state, Time now);
    /// After a miss in all TLBs the page's entry is read from the page table, which the last cache may hold.
    void read_page_table(TransactionState& state, const TlbLevel& tlb, Time now);
    [[nodiscard]] std::uint64_t physical(TransactionState& state, std::uint64_t virtual_address) const;

    // ---- stores.cpp
    Time store(TransactionState& state, const Range& range, Time now);
    Time atomic(TransactionState& state, const Range& range, Time now);
    /// When the atomic has left its SM.
    Time leave_with_atomic(TransactionState& state, const Range& range, Time now);
    /// When the result of an atomic is back that its unit begins to serve at `now`.
    Time answer(TransactionState& state, const Range& range, Time now);
    [[nodiscard]] MemoryPath& path_of(const Transaction& transaction);
    [[nodiscard]] bool is_far_atomic(const TransactionState& state, std::uint64_t physical) const;
    void drop_near(const TransactionState& state, Range range);
    struct AtUnit {
        Time start = 0, end = 0;
    };
    /// When the atomic's unit begins to serve it, and when it can serve the next one.
    AtUnit at_unit(const Transaction& transaction, std::uint64_t physical, std::uint64_t bytes, Time now);
    /// Whether the cache keeps the written bytes (write-back); `waited` grows to the cycles for which its queues delay
    /// the store.
    bool write_to_cache(CacheLevel& level, bool allocates, std::size_t instance, std::uint64_t address,
                        std::uint64_t bytes, double& waited, Time now);
    /// Cycles for which a store waits until its part of the cache goes on. It blocks the part itself where `line` is
    /// being filled.
    double wait_for_part(const CacheLevel& level, const TagArray::Line* line, std::uint64_t physical, Time now);
    double write_to_dram(std::uint64_t physical, std::uint64_t bytes, Time now);
    /// The sectors of a store, as bits of its line, that leave the SM now. Others go with stores that wait.
    [[nodiscard]] std::uint32_t leaving_sectors(const Transaction& transaction, std::uint64_t line, Time now);
    static bool is_resident(CacheLevel& level, std::uint64_t physical, std::uint64_t bytes);
    /// Memory fills up a line that the last cache no longer keeps as it is. Returns the cycles by which that delays the
    /// store.
    double fill_partial(const Transaction& transaction, TagArray& tags, std::uint64_t line, Time now);
    double fill(const costs::FilledLine& filled, const TagArray& tags, Time now);
    /// When a store's or an atomic's data have left the SM.
    Time leave(std::uint32_t sm, std::uint64_t bytes, Time now);
    /// Writes the dirty sectors of an evicted line to DRAM.
    double write_back(const TagArray::Found& found, const TagArray& tags, Time now);

    [[nodiscard]] static std::size_t first_cache(const TransactionState& state);

    const AddressSpace& addresses_;
    Placement placement_;
    Levels levels_;
    SharedStorage storage_;
    Dram dram_;
    double in_cycles_per_byte_ = 0, out_cycles_per_byte_ = 0;  ///< of an SM's port; 0: not limited
    std::vector<Server> ports_in_;                             ///< by SM: data that loads bring
    std::vector<Server> ports_out_;                            ///< by SM: data that stores and atomics take away
    costs::PartialStores partial_stores_;
    std::vector<costs::StoreQueue> store_queues_;  ///< by SM; empty where stores do not wait for others
    costs::PartialLines partial_lines_;
    double partial_cost_ = 1;  ///< of a byte of a sector that a store writes in part, relative to a whole one
    double store_cycles_per_byte_ = 0, atomic_cycles_per_byte_ = 0;  ///< of the cache of all SMs; 0: not limited
    Server stores_, atomic_units_;                                   ///< of all SMs
    double fabric_cycles_per_byte_ = 0;                              ///< 0: not limited
    Server fabric_;  ///< stores and reads of DRAM on their way through the last cache
    /// A unit that performs atomics, and the sectors of its last request: of 64 that lie together, as bits.
    struct AtomicUnit {
        Server server;
        std::uint64_t block = 0, sectors = 0;
    };
    std::optional<costs::AtomicUnits> atomic_costs_;  ///< empty where the description knows no units
    std::vector<AtomicUnit> units_;
    double far_atomic_ = 0;           ///< cycles by which atomics behind another partition take longer than loads
    Scope queue_scope_ = Scope::gpu;  ///< SMs that share a queue before a unit
    SharedLines shared_lines_;        ///< in the parts of the last cache that the units for atomics belong to
    std::vector<Time> blocked_;       ///< by unit: until when a fill of one of its lines blocks it
    /// Address and completion of recent atomics, by a hash. Used where there are no units.
    std::vector<std::pair<std::uint64_t, Time>> atomics_;
    NoiseSource noise_;
    /// Each launch counts time from 0. Inside, time goes on from launch to launch, so that earlier queues are past.
    Time base_ = 0;
    Time latest_ = 0;
    bool reached_dram_ = false;
    std::uint64_t own_requests_;  ///< the next key for a transaction without a request number
    std::uint64_t transactions_ = 0;
    double filling_cycles_ = 0;
    std::uint64_t stored_ = 0, partly_stored_ = 0, atomic_transactions_ = 0, met_atomics_ = 0;
    std::uint64_t dram_bytes_ = 0;
};

}  // namespace gputomo::sim
