// How fast an SM issues, loads and stores, and what its share of the GPU's caches and memory is.
#pragma once

#include "costs/asynchronous_operations.hpp"
#include "costs/atomic_units.hpp"
#include "costs/constant_lines.hpp"
#include "costs/constant_operands.hpp"
#include "costs/fences.hpp"
#include "costs/partial_stores.hpp"
#include "costs/register_ports.hpp"
#include "costs/shared_queue.hpp"
#include "machine/dram_variation.hpp"
#include "machine/machine.hpp"
#include "predict/launch/read_only_path.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::predict {

/// Bytes that an SM moves in a cycle, and those that all SMs move together; 0: not limited.
struct Bandwidth {
    double sm = 0, gpu = 0;
};

/// A term b x / (c - x) of the wait of a read at a throughput x of all reads (Volkov 2016, 6.4).
struct ContentionTerm {
    double slope = 0;  ///< b, cycles
    double limit = 0;  ///< c, bytes per cycle
};

/// A TLB of the path of global memory.
struct TlbRate {
    double span = 0;     ///< bytes that an entry translates
    double penalty = 0;  ///< cycles of a miss
    bool of_sm = false;  ///< each SM has its own
    bool known = false;  ///< has the pages that earlier launches used
};

struct SmRates {
    std::string gpu;
    double sms = 1;
    double clock_ghz = 1;
    int schedulers = 1;
    double issue_interval = 1;
    bool oldest_block_first = false;  ///< warps of it issue before others
    int max_warps = 0;
    double store_queue = 0;  ///< cycles of stores that may wait before their warp does
    costs::RegisterFile registers;
    costs::SharedQueueSpec shared_queue;
    double access_slots = 1, shared_slots = 1;  ///< issue slots of an access to global and to shared memory
    double l1_bytes = 0, l1_latency = 0;        ///< beside the shared memory of the resident blocks
    bool l1_keeps_stores = false;               ///< later loads find in the L1 what the SM has stored
    double l2_bytes = 0, l2_granule = 32, l2_latency = 0;
    double l2_sides = 1;  ///< partitions of the L2, each of l2_bytes
    /// To a line at the mean distance that is not being refreshed, and from nearest to farthest.
    double memory_latency = 0, memory_line_range = 0;
    machine::Refresh refresh;
    machine::FarMemory far;            ///< what lines behind another partition of the L2 cost
    Bandwidth loads, stores, atomics;  ///< at the L2
    double gpc_loads = 0;              ///< bytes that the SMs of one GPC load from the L2 in a cycle; 0: not limited
    double gpcs = 1;
    double merged_loads = 1;  ///< most loads of a line by SMs of a GPC that are one request
    std::optional<costs::AtomicUnits> atomic_units;
    double atomics_in_flight = 0;  ///< sectors of one SM; 0: any number
    /// The most bytes that are stored or come from DRAM in a cycle, together. 0: not described.
    double l2_fabric = 0;
    costs::PartialStores partial_stores;
    bool stores_block_fills = false;  ///< a store to a line that is being fetched blocks the L2's part that serves it
    double memory_bandwidth = 0;      ///< bytes that the GPU reads from DRAM in a cycle
    double sm_spread = 0;             ///< how far SMs drift apart that do the same, as a share of the time
    double memory_peak = 0;           ///< bytes that the pins of DRAM move in a cycle
    double write_cost = 1;            ///< time of a byte written to DRAM, relative to one that is read, in a copy
    std::vector<ContentionTerm> contention;
    double write_delay = 0;      ///< cycles for which a half of DRAM writes at a time
    double texture_latency = 0;  ///< to data in the first cache of the path
    double constant_latency = 0, barrier_latency = 0, branch_latency = 0;
    ReadOnlyRates code, constants;
    costs::ConstantSpec constants_read;  ///< constants that are operands
    costs::ConstantLineSpec constant_lines;
    costs::BulkSpec bulk;
    costs::FenceSpec fences;
    std::vector<TlbRate> tlbs;     ///< nearest first
    double store_drain = 0;        ///< cycles from the last block or store to the end of a launch that stores
    double load_drain = 0;         ///< cycles from the last block to the end of a launch that loads
    double profiler_cycles = 0;    ///< that a profiler counts for an empty kernel
    double block_interval = 0;     ///< cycles of the GPU between two starts of blocks, or ends that count
    bool counts_ends = false;      ///< block_interval is that of ends
    double first_interval = 0;     ///< cycles between the first blocks of two SMs
    double next_interval = 0;      ///< cycles between two first blocks of one SM
    double block_replacement = 0;  ///< cycles from the end of a block to the start of its successor on the SM
    std::vector<std::string> assumptions;
};

/// Throws InputError that names a missing leaf. `shared_bytes` are taken by all resident blocks of an SM together.
[[nodiscard]] SmRates sm_rates_of(const machine::Machine& machine, std::uint64_t shared_bytes, std::string_view origin);

}  // namespace gputomo::predict
