// Shared memory and device memory, and how much of them one SM and all SMs can use.
#pragma once

#include "machine/field.hpp"

namespace gputomo::machine {

// Tables of leaves, one entry a leaf.
// clang-format off

/// Shared memory of an SM.
struct SharedMemory {
    Integer capacity;
    Integer max_per_block;
    Integer allocation_unit;
    Integer banks;
    Integer bank_width;
    Integers bank_modes;
    Integer row_words;
    Integer latency;
    Integer warp_latency;
    Integer forward_latency;
    Integer conflict_cost;
    Integer access_group;
    Real bytes_per_cycle;
    Real issue_slots;
    Integer block_overhead;
    Integer argument_overhead;
    Integers capacity_options;
    Text unified_cache;
    Flag paired_reads;
    Integer swap_accesses;
    Integer queue;
    Integer load_queue;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "capacity", .unit = Unit::bytes, .doc = "shared memory of an SM"}, self.capacity);
        visit({.name = "max_per_block", .unit = Unit::bytes,
               .doc = "most shared memory that a launch may give a block"}, self.max_per_block);
        visit({.name = "allocation_unit", .unit = Unit::bytes,
               .doc = "allocations are rounded up to a multiple of this"}, self.allocation_unit);
        visit({.name = "banks", .unit = Unit::count, .doc = "banks of shared memory"}, self.banks);
        visit({.name = "bank_width", .unit = Unit::bytes,
               .doc = "bytes that one bank delivers at a time, in the default mode"}, self.bank_width);
        visit({.name = "bank_modes", .unit = Unit::bytes,
               .doc = "bank widths that a program can select (Kepler: 4 and 8)",
               .internal = "a setting of the driver; timing sees the mode in force only"}, self.bank_modes);
        visit({.name = "row_words", .unit = Unit::count,
               .doc = "words of one bank, `banks` words apart, that a single access serves; a missing value means "
                      "1 (Kepler's 4-byte mode: 2; Mei 2014, Fig. 6)"}, self.row_words);
        visit({.name = "latency", .unit = Unit::cycles,
               .doc = "cycles of a dependent load without bank conflict, by one thread"}, self.latency);
        visit({.name = "warp_latency", .unit = Unit::cycles,
               .doc = "the latency seen by a whole warp, if it differs from that of one thread (Volkov 2016, Table "
                      "6.2)",
               .internal = "only the experiment occupancy determines it, from mixes of one kind of instruction, "
                           "and it runs on request only"}, self.warp_latency);
        visit({.name = "forward_latency", .unit = Unit::cycles,
               .doc = "the latency when the dependent instruction runs on the CUDA cores, if that differs (Volkov "
                      "2016, 4.7)"}, self.forward_latency);
        visit({.name = "conflict_cost", .unit = Unit::cycles,
               .doc = "cycles that each further way of a bank conflict adds to the latency of a warp's access "
                      "(Volkov 2016, 6.2)"}, self.conflict_cost);
        visit({.name = "access_group", .unit = Unit::count,
               .doc = "threads of a warp whose addresses are served together: 16 for half-warps, 32 for warps"},
              self.access_group);
        visit({.name = "bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "bytes per cycle that one SM loads without bank conflicts"}, self.bytes_per_cycle);
        visit({.name = "issue_slots", .unit = Unit::count,
               .doc = "issue slots that a load without conflict takes; a missing value means 1 (Volkov 2016, 4.7: "
                      "3 on Maxwell)"}, self.issue_slots);
        visit({.name = "block_overhead", .unit = Unit::bytes,
               .doc = "bytes that every block takes in addition to what it asks for (Volkov 2016, 5.7)"},
              self.block_overhead);
        visit({.name = "argument_overhead", .unit = Unit::bytes,
               .doc = "bytes that every block takes for each kernel argument (Volkov 2016, 5.7)"},
              self.argument_overhead);
        visit({.name = "capacity_options", .unit = Unit::bytes,
               .doc = "sizes that a launch can select where shared memory and a cache use the same storage, in "
                      "rising order (Mei 2014, Table 1)"}, self.capacity_options);
        visit({.name = "unified_cache",
               .doc = "key of the cache in `caches` that uses the same storage: what one of them takes the other "
                      "loses"}, self.unified_cache);
        visit({.name = "paired_reads",
               .doc = "whether loads of 8 and 16 bytes take half as long if each thread reads the same address as a "
                      "neighbour, or as the next but one; a missing value means no",
               .internal = "no experiment times it yet"}, self.paired_reads);
        visit({.name = "swap_accesses", .unit = Unit::count,
               .doc = "accesses to its bank that a thread's compare-and-swap takes; a missing value means 1",
               .internal = "no experiment times it yet"}, self.swap_accesses);
        visit({.name = "queue", .unit = Unit::count,
               .doc = "accesses of one scheduler's warps that wait for the banks while the warps go on; a missing "
                      "value means 0: a warp issues an access when the banks are free"}, self.queue);
        visit({.name = "load_queue", .unit = Unit::count,
               .doc = "loads of an SM that wait behind the schedulers' queues; a missing value means 0"},
              self.load_queue);
    }
};

/// Device memory: DRAM and the way to it.
struct Memory {
    Integer capacity;
    Integer coalescing_group;
    Integers transaction_sizes;
    Integer channels;
    Integer channel_banks;
    Real bank_cycles;
    Integer fetch_bytes;
    Integer scattered_read_bytes;
    Integer scattered_write_bytes;
    Integer burst_bytes;
    Real channel_bytes_per_cycle;
    Real peak_bandwidth;
    Real read_bandwidth;
    Real copy_bandwidth;
    Real write_delay;
    Real pause_interval;
    Real pause_time;
    Real refresh_interval;
    Real refresh_time;
    Integers refresh_parts;
    Real sm_spread;
    Real sm_bytes_per_cycle;
    Integer sm_bytes_in_flight;
    Integer bytes_in_flight;
    Real contention_base;
    Reals contention_slopes;
    Reals contention_limits;
    Real interconnect_bytes_per_cycle;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "capacity", .unit = Unit::bytes, .doc = "bytes of device memory"}, self.capacity);
        visit({.name = "coalescing_group", .unit = Unit::count,
               .doc = "threads whose accesses are coalesced together: 16 for half-warps, 32 for warps",
               .internal = "no experiment measures it yet; it would take access patterns"}, self.coalescing_group);
        visit({.name = "transaction_sizes", .unit = Unit::bytes,
               .doc = "sizes that a memory transaction can have (Volkov 2016, 2.8)",
               .internal = "no experiment measures it yet; it would take access patterns"}, self.transaction_sizes);
        visit({.name = "channels", .unit = Unit::count, .doc = "DRAM channels",
               .internal = "timing sees the bandwidth of all channels together only"}, self.channels);
        visit({.name = "channel_banks", .unit = Unit::count,
               .doc = "banks of one channel, each with an open row of its own",
               .internal = "several numbers of banks explain the same latency under load"}, self.channel_banks);
        visit({.name = "bank_cycles", .unit = Unit::cycles,
               .doc = "cycles between two rows of one bank (activate, read, precharge); the mean if accesses to "
                      "one row follow each other",
               .internal = "several numbers of banks explain the same latency under load"}, self.bank_cycles);
        visit({.name = "fetch_bytes", .unit = Unit::bytes,
               .doc = "smallest amount that DRAM reads; a smaller request takes the same time (Volkov 2016, 6.7)",
               .internal = "only the throughput of divergent loads shows it, and caches hide that"}, self.fetch_bytes);
        visit({.name = "scattered_read_bytes", .unit = Unit::bytes,
               .doc = "bytes that are streamed while a part of a line is read that lies far from others; a missing "
                      "value means the part's own",
               .internal = "no experiment times it yet"}, self.scattered_read_bytes);
        visit({.name = "scattered_write_bytes", .unit = Unit::bytes,
               .doc = "bytes that are streamed while a part of a line is written that lies far from others; a missing "
                      "value means the part's own",
               .internal = "no experiment times it yet"}, self.scattered_write_bytes);
        visit({.name = "burst_bytes", .unit = Unit::bytes,
               .doc = "consecutive bytes in one channel; the next bytes lie in the next channel",
               .internal = "only the distribution of latencies under load shows it"}, self.burst_bytes);
        visit({.name = "channel_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "bytes per cycle of one channel",
               .internal = "timing sees the bandwidth of all channels together only"}, self.channel_bytes_per_cycle);
        visit({.name = "peak_bandwidth", .unit = Unit::gigabytes_per_second,
               .doc = "theoretical bandwidth: bus width x memory clock x 2"}, self.peak_bandwidth);
        visit({.name = "read_bandwidth", .unit = Unit::gigabytes_per_second,
               .doc = "highest sustained bandwidth of streaming reads"}, self.read_bandwidth);
        visit({.name = "copy_bandwidth", .unit = Unit::gigabytes_per_second,
               .doc = "highest sustained bandwidth of copies; read and written bytes both count"}, self.copy_bandwidth);
        visit({.name = "write_delay", .unit = Unit::cycles,
               .doc = "time for which a half of the memory does writes together. A read that comes to it meanwhile "
                      "waits for the rest of this time",
               .internal = "only the experiment write_delay determines it, which scans of simulated GPUs leave out"},
              self.write_delay);
        visit({.name = "pause_interval", .unit = Unit::nanoseconds,
               .doc = "time from the start of one pause of the whole memory (a refresh, for example) to the start "
                      "of the next; measured bandwidths include the pauses"}, self.pause_interval);
        visit({.name = "pause_time", .unit = Unit::nanoseconds,
               .doc = "length of a pause: the longest that a load waits in an otherwise idle memory"}, self.pause_time);
        visit({.name = "refresh_interval", .unit = Unit::nanoseconds,
               .doc = "time from one refresh of a line's part of the memory to the next. Other parts have theirs at "
                      "other times. Measured latencies and bandwidths include the refreshes"}, self.refresh_interval);
        visit({.name = "refresh_time", .unit = Unit::nanoseconds,
               .doc = "length of a refresh: a load that arrives meanwhile waits for its end"}, self.refresh_time);
        visit({.name = "refresh_parts", .unit = Unit::count,
               .doc = "into how many parts with refreshes at different times the lines of an aligned block fall: bytes "
                      "of a block and its parts, then those of a larger one, and so on. A missing value: lines 256 "
                      "bytes apart have nothing to do with each other",
               .internal = "no experiment of a scan finds out when the refreshes of many lines are"},
              self.refresh_parts);
        visit({.name = "sm_spread", .unit = Unit::count,
               .doc = "how far SMs drift apart that move equally many bytes at the memory's highest rate: the time "
                      "from the end of the first to that of the last, over the mean. For predictions: simulated SMs "
                      "drift apart by themselves",
               .internal = "no experiment measures it yet; it takes the ends of all SMs"}, self.sm_spread);
        visit({.name = "sm_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "most bytes per cycle that a single SM reads from memory"}, self.sm_bytes_per_cycle);
        visit({.name = "sm_bytes_in_flight", .unit = Unit::bytes,
               .doc = "bytes that a single SM must have in flight to reach 90% of sm_bytes_per_cycle (Volkov 2016, "
                      "4.3)"}, self.sm_bytes_in_flight);
        visit({.name = "bytes_in_flight", .unit = Unit::bytes,
               .doc = "bytes that each SM must have in flight for all SMs together to reach 90% of their highest "
                      "rate"}, self.bytes_in_flight);
        visit({.name = "contention_base", .unit = Unit::cycles,
               .doc = "a in the mean latency a + sum of b x / (c - x) at a throughput of x GB/s (Volkov 2016, "
                      "6.4)",
               .internal = "scans of simulated GPUs leave out the experiments that determine it"},
              self.contention_base);
        visit({.name = "contention_slopes", .unit = Unit::cycles,
               .doc = "b of each term of the mean latency (see contention_base). The simulator uses slopes and limits "
                      "where channel_banks is not known",
               .internal = "scans of simulated GPUs leave out the experiments that determine it"},
              self.contention_slopes);
        visit({.name = "contention_limits", .unit = Unit::gigabytes_per_second,
               .doc = "c of each term of the mean latency (see contention_base)",
               .internal = "scans of simulated GPUs leave out the experiments that determine it"},
              self.contention_limits);
        visit({.name = "interconnect_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "bytes per cycle of one SM's port into the interconnect",
               .internal = "timing sees the slowest stage of a path only"}, self.interconnect_bytes_per_cycle);
    }
};

/// One kind of access to one place, other than plain loads: "l2_store", "memory_atomic", "l2_async" (asynchronous
/// copies to shared memory). Atomics on integers are "l2_atomic". The entries "l2_atomic_float", "l2_atomic_double" and
/// "l2_atomic_swap" (compare and swap) have the times of others.
struct Access {
    Real partial_cost;
    Integer request_bytes;
    Integer merged_lines;
    Real sm_bytes_per_cycle;
    Integer sm_bytes_in_flight;
    Real bytes_per_cycle;
    Integer bytes_in_flight;
    Integer sm_sectors_in_flight;
    Integer units;
    Integer unit_bytes;
    Text queue_scope;
    Real far_cycles;
    Real same_address_cycles;
    Real part_cycles;
    Real sector_cycles;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "partial_cost", .unit = Unit::count,
               .doc = "time of a line whose sectors are written in part, relative to that of a whole one; a missing "
                      "value means 1. Where caches.*.partial_capacity is described, fewer sectors of a line take as "
                      "much longer as all of them do",
               .internal = "no experiment times it yet"}, self.partial_cost);
        visit({.name = "request_bytes", .unit = Unit::bytes,
               .doc = "the head of a request to the last cache, in bytes of data that pass in its time; a missing "
                      "value means 0",
               .internal = "no experiment times it yet"}, self.request_bytes);
        visit({.name = "merged_lines", .unit = Unit::count,
               .doc = "stores to lines that wait to leave an SM, and that later ones to the same lines join; a missing "
                      "value means 0",
               .internal = "no experiment finds it yet"}, self.merged_lines);
        visit({.name = "sm_bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "most bytes per cycle that a single SM moves with this kind of access"}, self.sm_bytes_per_cycle);
        visit({.name = "sm_bytes_in_flight", .unit = Unit::bytes,
               .doc = "bytes that a single SM must have in flight to reach 90% of sm_bytes_per_cycle"},
              self.sm_bytes_in_flight);
        visit({.name = "bytes_per_cycle", .unit = Unit::bytes_per_cycle,
               .doc = "most bytes per cycle that all SMs together move with this kind of access"},
              self.bytes_per_cycle);
        visit({.name = "bytes_in_flight", .unit = Unit::bytes,
               .doc = "bytes that each SM must have in flight for all SMs together to reach 90% of bytes_per_cycle"},
              self.bytes_in_flight);
        visit({.name = "sm_sectors_in_flight", .unit = Unit::count,
               .doc = "sectors of atomics that an SM can have in flight. Warps with more of them stay on their SM "
                      "until the others are performed, also where they need no result",
               .internal = "a profiler shows it, by how long SMs are active"},
              self.sm_sectors_in_flight);
        visit({.name = "units", .unit = Unit::count,
               .doc = "units of the cache that perform atomics side by side, as the rate of scattered ones shows. Each "
                      "serves its part of the addresses"}, self.units);
        visit({.name = "unit_bytes", .unit = Unit::bytes,
               .doc = "consecutive bytes that one of these units serves, in the mean"}, self.unit_bytes);
        visit({.name = "queue_scope",
               .doc = "SMs whose requests wait for such a unit in one queue. The unit serves its queues in turn; a "
                      "missing value means that all requests are in one queue",
               .internal = "no experiment of a scan finds it yet: it takes swaps of all SMs on one address",
               .choices = {"sm", "tpc", "cpc", "gpc", "gpu"}},
              self.queue_scope);
        visit({.name = "far_cycles", .unit = Unit::cycles,
               .doc = "cycles by which an atomic takes longer whose unit belongs to another partition of the last "
                      "cache than its SM; a missing value means as much longer as a load",
               .internal = "no experiment of a scan finds it yet: it takes swaps of all SMs on one address"},
              self.far_cycles);
        visit({.name = "same_address_cycles", .unit = Unit::cycles,
               .doc = "least time from one atomic on an address to the next one on it, whichever threads they are of. "
                      "Threads of one warp count one by one"}, self.same_address_cycles);
        visit({.name = "part_cycles", .unit = Unit::cycles,
               .doc = "time that a unit takes for a warp's atomics on different addresses of a sector of 32 bytes that "
                      "they do not cover"}, self.part_cycles);
        visit({.name = "sector_cycles", .unit = Unit::cycles,
               .doc = "time that a unit takes for a warp's atomics that cover a sector of 32 bytes"},
              self.sector_cycles);
    }
};

/// Warp-wide loads whose threads ask for addresses of one shape ("unique", "strided", "random"), and the resource of
/// an SM that such loads saturate first.
struct Pattern {
    Text first_limit;
    Real loads_per_cycle;
    Real memory_loads_per_cycle;
    Integer outstanding_loads;
    Integer outstanding_lines;
    Integer outstanding_sectors;
    Integer partition_loads;
    Integer warp_loads;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "first_limit",
               .doc = "what saturates first when an SM issues more and more loads of this shape. Rate: a "
                      "throughput that does not depend on latency. Places: table entries, each of which a load "
                      "occupies while it is outstanding",
               .choices = {"rate", "places"}}, self.first_limit);
        visit({.name = "loads_per_cycle", .unit = Unit::operations_per_cycle,
               .doc = "warp-wide loads per cycle that one SM completes from the last cache"}, self.loads_per_cycle);
        visit({.name = "memory_loads_per_cycle", .unit = Unit::operations_per_cycle,
               .doc = "warp-wide loads per cycle that one SM completes from memory"}, self.memory_loads_per_cycle);
        visit({.name = "outstanding_loads", .unit = Unit::count,
               .doc = "warp-wide loads that one SM was seen to have outstanding: rate x latency"},
              self.outstanding_loads);
        visit({.name = "outstanding_lines", .unit = Unit::count,
               .doc = "128-byte lines of the outstanding loads, counted for each load separately"},
              self.outstanding_lines);
        visit({.name = "outstanding_sectors", .unit = Unit::count,
               .doc = "32-byte sectors of the outstanding loads, counted for each load separately"},
              self.outstanding_sectors);
        visit({.name = "partition_loads", .unit = Unit::count,
               .doc = "as outstanding_loads, but only the warps of one scheduler load"}, self.partition_loads);
        visit({.name = "warp_loads", .unit = Unit::count, .doc = "as outstanding_loads, but only one warp loads"},
              self.warp_loads);
    }
};

// clang-format on

}  // namespace gputomo::machine
