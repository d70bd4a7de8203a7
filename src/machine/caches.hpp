// Caches, TLBs and the paths that lead through them to memory.
#pragma once

#include "machine/field.hpp"

namespace gputomo::machine {

// Tables of leaves, one entry a leaf.
// clang-format off

/// One cache: of data, textures, constants or instructions.
struct Cache {
    Text scope;
    Integer capacity;
    Integer line;
    Integer sector;
    Integer ways;
    Integer sets;
    Integers set_ways;
    Text index;
    Integers index_bits;
    Integers index_hash;
    Text policy;
    Reals way_odds;
    Integer latency;
    Integers latency_range;
    Text allocation;
    Text write_policy;
    Text filling_store;
    Integer partial_capacity;
    Text outstanding_design;
    Integer outstanding_entries;
    Integer outstanding_merge;
    Integer outstanding_at_least;
    Real bytes_per_cycle;
    Text port_of;
    Real sm_bytes_per_cycle;
    Integer sm_bytes_in_flight;
    Integer bytes_in_flight;
    Integer copy_capacity;
    Integers capacity_options;
    Integer partitions;
    Integer far_latency;
    Real fabric_bytes_per_cycle;
    Real gpc_bytes_per_cycle;
    Integer merged_requests;
    Integer merged_within;
    Integer fetched_ahead;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "scope", .doc = "the unit that one instance of the cache belongs to",
               .choices = {"scheduler", "sm", "tpc", "cpc", "gpc", "gpu"}}, self.scope);
        visit({.name = "capacity", .unit = Unit::bytes,
               .doc = "data bytes of one instance; less than sets x ways x line if there are more tags than data"},
              self.capacity);
        visit({.name = "line", .unit = Unit::bytes, .doc = "bytes that share one tag"}, self.line);
        visit({.name = "sector", .unit = Unit::bytes,
               .doc = "bytes that one miss fills; equal to the line if lines have no sectors"}, self.sector);
        visit({.name = "ways", .unit = Unit::count,
               .doc = "ways of a set; of the largest set if sets differ (see set_ways)"}, self.ways);
        visit({.name = "sets", .unit = Unit::count, .doc = "sets of one instance"}, self.sets);
        visit({.name = "set_ways", .unit = Unit::count,
               .doc = "ways of each set, if sets differ (Mei 2014: 17 and six times 8)"}, self.set_ways);
        visit({.name = "index",
               .doc = "how an address selects its set. Modulo: the line number modulo the sets. Bits: the address "
                      "bits in index_bits. Hash: each bit of the set number is the XOR of the address bits under "
                      "one mask of index_hash",
               .choices = {"modulo", "bits", "hash"}}, self.index);
        visit({.name = "index_bits",
               .doc = "with index 'bits': the address bits that form the set number, lowest bit of the set number "
                      "first"}, self.index_bits);
        visit({.name = "index_hash",
               .doc = "with index 'hash': one mask of address bits for each bit of the set number, lowest first"},
              self.index_hash);
        visit({.name = "policy",
               .doc = "replacement policy. With slru, half of the ways are protected and hold the lines that were "
                      "reused last. The value not-lru means that only LRU is excluded",
               .choices = {"lru", "fifo", "random", "tree-plru", "bit-plru", "nru", "srrip", "brrip", "slru",
                           "way-odds", "not-lru"}}, self.policy);
        visit({.name = "way_odds",
               .doc = "with policy 'way-odds': probability that each way holds the victim (Mei 2014: 1/6, 1/2, "
                      "1/6, 1/6)"}, self.way_odds);
        visit({.name = "latency", .unit = Unit::cycles,
               .doc = "cycles of a dependent load that hits in this cache and in the TLBs; the mean if the cache "
                      "has partitions"}, self.latency);
        visit({.name = "latency_range", .unit = Unit::cycles,
               .doc = "[smallest, largest] latency over the positions of SMs, or over the partitions of the cache"},
              self.latency_range);
        visit({.name = "allocation", .doc = "the accesses that allocate a line",
               .internal = "no experiment measures it yet; it would take traces of stores",
               .choices = {"load", "load-store"}}, self.allocation);
        visit({.name = "write_policy", .doc = "what a store that hits does",
               .internal = "no experiment measures it yet; it would take traces of stores",
               .choices = {"write-through", "write-back"}}, self.write_policy);
        visit({.name = "partial_capacity", .unit = Unit::bytes,
               .doc = "bytes of the lines that it keeps although stores have written sectors of them in part; of "
                      "further lines memory reads what the stores left out. A missing value means that "
                      "accesses.*.partial_cost includes that",
               .internal = "no experiment finds it yet"}, self.partial_capacity);
        visit({.name = "filling_store",
               .doc = "what a store does to a line that the cache of all SMs is still fetching from memory. It merges "
                      "with it, or blocks the part of the cache that serves the line until the line is there. Parts "
                      "are those of accesses.l2_atomic.units; a missing value stands for merges",
               .choices = {"merges", "blocks"}}, self.filling_store);
        visit({.name = "outstanding_design",
               .doc = "how the cache tracks outstanding misses: miss status holding registers (MSHRs) or a pending "
                      "request table (Lashgar 2015)",
               .choices = {"mshr", "prt"}}, self.outstanding_design);
        visit({.name = "outstanding_entries", .unit = Unit::count,
               .doc = "entries of the MSHR file or pending request table"}, self.outstanding_entries);
        visit({.name = "outstanding_merge", .unit = Unit::count, .doc = "requests that one MSHR entry merges"},
              self.outstanding_merge);
        visit({.name = "outstanding_at_least", .unit = Unit::count,
               .doc = "lines that one SM was seen to have outstanding when no limit was found; the interval ends "
                      "at throughput x latency (Little's law)"}, self.outstanding_at_least);
        visit({.name = "bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "bytes per cycle that one instance delivers when all loads hit; a part of a sector takes as long "
                      "as the whole sector"}, self.bytes_per_cycle);
        visit({.name = "port_of",
               .doc = "key of another cache with the same scope whose port this one's bytes pass, at this one's "
                      "bytes_per_cycle. A missing value means a port of its own",
               .internal = "no experiment finds it yet"}, self.port_of);
        visit({.name = "sm_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "most bytes per cycle that a single SM reads from this cache"}, self.sm_bytes_per_cycle);
        visit({.name = "sm_bytes_in_flight", .unit = Unit::bytes,
               .doc = "bytes that a single SM must have in flight to reach 90% of sm_bytes_per_cycle (Volkov 2016, "
                      "4.3)"}, self.sm_bytes_in_flight);
        visit({.name = "bytes_in_flight", .unit = Unit::bytes,
               .doc = "bytes that each SM must have in flight for all SMs together to reach 90% of their highest "
                      "rate"}, self.bytes_in_flight);
        visit({.name = "copy_capacity", .unit = Unit::bytes,
               .doc = "largest source plus destination for which a copy by all SMs is faster because this cache "
                      "holds part of it (Lashgar 2015, Fig. 2)"}, self.copy_capacity);
        visit({.name = "capacity_options", .unit = Unit::bytes,
               .doc = "capacities that a program can select; 0 stands for a cache that can be switched off "
                      "(Fermi's L1: 16 and 48 KB). If shared memory uses the same storage, the entries pair with "
                      "shared.capacity_options"}, self.capacity_options);
        visit({.name = "partitions", .unit = Unit::count,
               .doc = "partitions that each serve part of the SMs directly (two on the largest chips)"},
              self.partitions);
        visit({.name = "far_latency", .unit = Unit::cycles,
               .doc = "cycles of a hit in a partition that does not serve the SM directly"}, self.far_latency);
        visit({.name = "fabric_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "bytes per cycle that stores and reads of DRAM share on their way through this cache, for all "
                      "SMs together; loads that hit do not use it"}, self.fabric_bytes_per_cycle);
        visit({.name = "gpc_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "most bytes per cycle that the SMs of one GPC together read from this cache"},
              self.gpc_bytes_per_cycle);
        visit({.name = "merged_requests", .unit = Unit::count,
               .doc = "most requests of a GPC's SMs for one line that reach this cache as one; those of different SMs "
                      "then pass the way of the GPC once. A missing value means 1",
               .internal = "only a profiler counts the requests that reach the cache, and a scan uses none"},
              self.merged_requests);
        visit({.name = "merged_within", .unit = Unit::cycles,
               .doc = "cycles between the first and the last of these requests, at most",
               .internal = "only a profiler counts the requests that reach the cache, and a scan uses none"},
              self.merged_within);
        visit({.name = "fetched_ahead", .unit = Unit::bytes,
               .doc = "bytes behind a line that is requested which the cache requests as well; a missing value means "
                      "none"}, self.fetched_ahead);
    }
};

/// One level of address translation on one path.
struct Tlb {
    Text scope;
    Integer reach;
    Integer entries;
    Integer ways;
    Integer sets;
    Integers set_ways;
    Text index;
    Integer span;
    Integer page;
    Integer miss_penalty;
    Text policy;
    Flag outlasts_launches;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "scope", .doc = "the unit that one instance of the TLB belongs to",
               .choices = {"scheduler", "sm", "tpc", "cpc", "gpc", "gpu"}}, self.scope);
        visit({.name = "reach", .unit = Unit::bytes, .doc = "bytes of address space that the TLB can map"}, self.reach);
        visit({.name = "entries", .unit = Unit::count, .doc = "entries: reach / span"}, self.entries);
        visit({.name = "ways", .unit = Unit::count, .doc = "ways of a set; of the largest set if sets differ"},
              self.ways);
        visit({.name = "sets", .unit = Unit::count, .doc = "sets of one instance"}, self.sets);
        visit({.name = "set_ways", .unit = Unit::count, .doc = "ways of each set, if sets differ"}, self.set_ways);
        visit({.name = "index",
               .doc = "how the number of an entry selects its set. Modulo: the number modulo the sets. Dealt: the "
                      "number modulo all entries, which are dealt to the sets in turn, skipping full ones",
               .internal = "timing shows which entries share a set; in ranges that the TLB maps whole, both rules "
                           "look the same",
               .choices = {"modulo", "dealt"}}, self.index);
        visit({.name = "span", .unit = Unit::bytes,
               .doc = "bytes of address space that one entry maps (Wong 2010 calls it the TLB line size)"}, self.span);
        visit({.name = "page", .unit = Unit::bytes, .doc = "page size of the translation",
               .internal = "an entry may map several pages; timing sees the span of the entry"}, self.page);
        visit({.name = "miss_penalty", .unit = Unit::cycles,
               .doc = "cycles that a miss in this TLB adds to an access if the next level hits"}, self.miss_penalty);
        visit({.name = "policy", .doc = "replacement policy. The value not-lru means that only LRU is excluded",
               .choices = {"lru", "fifo", "random", "tree-plru", "bit-plru", "nru", "srrip", "brrip", "slru",
                           "way-odds", "not-lru"}}, self.policy);
        visit({.name = "outlasts_launches",
               .doc = "whether a launch finds entries of earlier launches. A missing value means that those of an "
                      "earlier launch of the same simulation are there, and no others"}, self.outlasts_launches);
    }
};

/// A way from the SM to memory, with its caches and TLBs. Keys: "global", "local", "texture", "constant",
/// "instruction". "local" is described only if it differs from "global": Kepler's L1 serves local memory alone
/// (Mei 2014, 2).
struct Path {
    Texts caches;
    Texts tlbs;
    Integer memory_latency;
    Integers memory_latency_range;
    Integers memory_latency_line_range;
    Integer memory_latency_unrefreshed;
    Integer memory_latency_partition_range;
    Integer memory_far_extra;
    Integer memory_far_request;
    Integer warp_latency;
    Real transaction_cost;
    Real access_interval;
    Real transaction_interval;
    Real store_interval;
    Real partial_interval;
    Real wide_fetches;
    Real plane_fetches;
    Real issue_slots;
    Integer page_window;
    Integer page_window_penalty;
    Integer page_walk_memory_penalty;
    Text tlb_position;
    Text outstanding_design;
    Integer outstanding_entries;
    Integer outstanding_merge;
    Integer outstanding_at_least;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "caches",
               .doc = "keys of `caches` in the order of look-up; an empty list is an uncached path"}, self.caches);
        visit({.name = "tlbs", .doc = "keys of `tlbs` in the order of look-up"}, self.tlbs);
        visit({.name = "memory_latency", .unit = Unit::cycles,
               .doc = "cycles of a dependent load from idle DRAM whose translation hits; mean over SMs"},
              self.memory_latency);
        visit({.name = "memory_latency_range", .unit = Unit::cycles,
               .doc = "[smallest, largest] memory_latency over the positions of SMs (Wong 2010, IV-G)"},
              self.memory_latency_range);
        visit({.name = "memory_latency_line_range", .unit = Unit::cycles,
               .doc = "[smallest, largest] memory_latency over lines, which lie at different distances; all latencies "
                      "between them are equally likely; mean over SMs (Volkov 2016, Table 6.6)"},
              self.memory_latency_line_range);
        visit({.name = "memory_latency_unrefreshed", .unit = Unit::cycles,
               .doc = "cycles of a dependent load from idle DRAM that waits for no refresh; mean over lines and SMs. A "
                      "missing value follows from memory_latency, the median, and from what refreshes add to it",
               .internal = "no experiment of a scan loads one line until no refresh delays it"},
              self.memory_latency_unrefreshed);
        visit({.name = "memory_latency_partition_range", .unit = Unit::cycles,
               .doc = "cycles from the nearest to the farthest line of one partition of the last cache, for loads that "
                      "wait for no refresh. A missing value follows from memory_latency_line_range",
               .internal = "no experiment of a scan loads one line until no refresh delays it"},
              self.memory_latency_partition_range);
        visit({.name = "memory_far_extra", .unit = Unit::cycles,
               .doc = "cycles that a load from DRAM takes longer if its line belongs to another partition of the last "
                      "cache than its SM. The mean over all partitions is memory_latency. The difference is part of "
                      "memory_latency_line_range",
               .internal = "no experiment of a scan lets SMs of all partitions ask for one cold line"},
              self.memory_far_extra);
        visit({.name = "memory_far_request", .unit = Unit::cycles,
               .doc = "the part of memory_far_extra that passes before the line's own partition asks DRAM. A load of "
                      "an SM of that partition that comes earlier spares it",
               .internal = "no experiment of a scan lets SMs of all partitions ask for one cold line"},
              self.memory_far_request);
        visit({.name = "warp_latency", .unit = Unit::cycles,
               .doc = "cycles of a dependent, coalesced load of a whole warp from DRAM, if it differs from that of "
                      "one thread (Volkov 2016, Table 6.2)",
               .internal = "only the experiment occupancy determines it, from mixes of one kind of instruction, "
                           "and it runs on request only"}, self.warp_latency);
        visit({.name = "transaction_cost", .unit = Unit::cycles,
               .doc = "cycles that each further transaction adds to the latency of a divergent load (Volkov 2016, "
                      "Table 6.7). Not simulated for paths.local and paths.instruction",
               .internal = "of global loads, only the experiment random_access determines it, which scans of "
                           "simulated GPUs leave out"}, self.transaction_cost);
        visit({.name = "access_interval", .unit = Unit::cycles,
               .doc = "cycles from one load of a warp to the next that an SM takes, from whichever warps, if the "
                      "threads of a warp load the same word. A missing value: loads do not wait for those of other "
                      "warps"}, self.access_interval);
        visit({.name = "transaction_interval", .unit = Unit::cycles,
               .doc = "cycles that an SM takes for each transaction of loads, from whichever warps: for each line, "
                      "or for each word of constants"}, self.transaction_interval);
        visit({.name = "store_interval", .unit = Unit::cycles,
               .doc = "cycles for which a sector of 32 bytes that a store writes occupies the storage of L1 and shared "
                      "memory; a missing value means 1",
               .internal = "no experiment times it yet"}, self.store_interval);
        visit({.name = "partial_interval", .unit = Unit::cycles,
               .doc = "cycles that a line takes longer there if a store writes only a part of its sectors; a missing "
                      "value means 1",
               .internal = "no experiment times it yet"}, self.partial_interval);
        visit({.name = "wide_fetches", .unit = Unit::count,
               .doc = "time of a texture fetch of 16 bytes, relative to one of 4 bytes; a missing value means 2",
               .internal = "no experiment times it yet"}, self.wide_fetches);
        visit({.name = "plane_fetches", .unit = Unit::count,
               .doc = "time of a texture fetch of two or three dimensions, relative to one of one dimension; a missing "
                      "value means 2",
               .internal = "no experiment times it yet"}, self.plane_fetches);
        visit({.name = "issue_slots", .unit = Unit::count,
               .doc = "issue slots that a coalesced access takes; a missing value means 1"}, self.issue_slots);
        visit({.name = "page_window", .unit = Unit::bytes,
               .doc = "bytes of memory whose page entries are active at the same time (Mei 2014, 4.2: 512 MB on "
                      "Kepler)"}, self.page_window);
        visit({.name = "page_window_penalty", .unit = Unit::cycles,
               .doc = "cycles that an access outside the active window adds, since it has to switch the window"},
              self.page_window_penalty);
        visit({.name = "page_walk_memory_penalty", .unit = Unit::cycles,
               .doc = "cycles that a page walk takes longer if the page table entry comes from DRAM instead of the "
                      "last cache (Mei 2014, Table 3, patterns 3 and 5)"}, self.page_walk_memory_penalty);
        visit({.name = "tlb_position",
               .doc = "where addresses are translated: before all caches, or after the first one",
               .internal = "a virtually indexed cache hides the TLB; timing sees the position only through the "
                           "levels of a path",
               .choices = {"before-caches", "after-first-cache"}}, self.tlb_position);
        visit({.name = "outstanding_design",
               .doc = "how an SM tracks outstanding loads on a path without a cache of the SM: miss status holding "
                      "registers (MSHRs) or a pending request table (Lashgar 2015)",
               .choices = {"mshr", "prt"}}, self.outstanding_design);
        visit({.name = "outstanding_entries", .unit = Unit::count,
               .doc = "entries of that MSHR file or pending request table"}, self.outstanding_entries);
        visit({.name = "outstanding_merge", .unit = Unit::count, .doc = "requests that one MSHR entry merges"},
              self.outstanding_merge);
        visit({.name = "outstanding_at_least", .unit = Unit::count,
               .doc = "lines that one SM was seen to have outstanding when no limit was found; the real limit, if "
                      "any, is higher"}, self.outstanding_at_least);
    }
};

// clang-format on

}  // namespace gputomo::machine
