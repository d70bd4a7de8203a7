// Caches, TLBs and paths of a machine, built from the description and connected.
#pragma once

#include "machine/dram_variation.hpp"
#include "machine/machine.hpp"
#include "sim/memory/gpc_requests.hpp"
#include "sim/memory/outstanding.hpp"
#include "sim/memory/placement.hpp"
#include "sim/memory/server.hpp"
#include "sim/memory/tag_array.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sim {

/// All instances of one described cache.
struct CacheLevel {
    Scope scope = Scope::sm;
    std::vector<TagArray> instances;
    std::vector<double> latency;                ///< of a hit, by SM
    double cycles_per_byte = 0;                 ///< of an instance's port; 0: not limited
    std::vector<Server> ports;                  ///< by instance, where limited
    CacheLevel* port_of = nullptr;              ///< the cache whose ports it uses; nullptr: its own
    double cycles_per_sm_byte = 0;              ///< of what one SM reads from a cache that several SMs share
    std::vector<Server> sm_ports;               ///< by SM, where limited
    std::vector<GpcRequests> of_gpcs;           ///< of a cache of all SMs: loads by GPC, where described
    std::vector<OutstandingTable> outstanding;  ///< by instance, where described
    bool merges_lines = true;                   ///< MSHRs are found by line, PRT entries by warp instruction
    bool allocates_stores = false;
    bool write_back = false;
    bool stores_block_fills = false;  ///< a store to a line that is being filled blocks the part that serves it
    std::uint32_t partitions = 1;
    double far_extra = 0;           ///< cycles by which a hit in another partition than the SM's own takes longer
    std::uint64_t lines_ahead = 0;  ///< lines that are requested behind one that is
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;

    [[nodiscard]] std::vector<Server>& ports_used() { return port_of != nullptr ? port_of->ports : ports; }
};

/// All instances of one described TLB.
struct TlbLevel {
    Scope scope = Scope::sm;
    std::vector<TagArray> instances;
    double penalty = 0;
    bool outlasts_launches = false;  ///< entries of earlier launches are there
    bool is_emptied = false;         ///< a launch begins without entries
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
};

struct MemoryPath {
    bool described = false;
    std::vector<CacheLevel*> caches;  ///< nearest first
    std::size_t near = 0;             ///< number of caches before the interconnect, which only a part of the GPU uses
    std::vector<TlbLevel*> tlbs;
    bool translates_after_first = false;
    std::vector<double> memory_latency;  ///< by SM
    double line_range = 0;               ///< cycles by which the farthest line of memory takes longer than the nearest
    machine::FarMemory far;              ///< what lines behind another partition of the last cache cost
    std::uint64_t window = 0;            ///< bytes whose page entries are active at once; 0: all
    double window_penalty = 0;
    std::uint64_t active_window = ~std::uint64_t{0};
    double page_walk_penalty = 0;  ///< cycles that are added where the page table's entry is not in the last cache
    /// By SM, where described for the path itself; its first cache then belongs to the whole GPU.
    std::vector<OutstandingTable> outstanding;
    bool merges_lines = true;
};

/// Owns the levels that paths share.
struct Levels {
    /// Throws InputError naming the leaf that is missing, wrong, or asks for what cannot be simulated.
    Levels(const machine::Machine& machine, const Placement& placement, std::uint64_t seed);
    Levels(const Levels&) = delete;
    Levels& operator=(const Levels&) = delete;

    std::map<std::string, CacheLevel> caches;
    std::map<std::string, TlbLevel> tlbs;
    std::array<MemoryPath, 5> paths;
};

}  // namespace gputomo::sim
