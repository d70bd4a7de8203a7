// The machine description: everything known of one GPU, as plain structs of Field leaves.
// Each struct names its leaves once in fields(); maps of structs are keyed by the name of the thing ("l1", "sp",
// "add.s32"). A leaf's path is the dotted chain of names, e.g. "caches.l1.capacity"; a map key that has dots itself is
// quoted in the path with brackets: operations[add.s32].latency.
#pragma once

#include "machine/field.hpp"

#include <map>
#include <string>
#include <vector>

namespace gputomo::machine {

// A table: one line a leaf.
// clang-format off

using Integer = Field<std::int64_t>;
using Real = Field<double>;
using Flag = Field<bool>;
using Text = Field<std::string>;
using Integers = Field<std::vector<std::int64_t>>;
using Reals = Field<std::vector<double>>;
using Texts = Field<std::vector<std::string>>;

struct Identity {
    Text name;
    Text architecture;
    Integer compute_capability_major;
    Integer compute_capability_minor;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "name", .doc = "marketing name as the driver gives it"}, self.name);
        visit({.name = "architecture", .doc = "generation: g80, gt200, fermi, kepler, maxwell, hopper, ...",
               .internal = "the vendor's code name; no timing tells it"}, self.architecture);
        visit({.name = "compute_capability_major", .doc = "major compute capability"}, self.compute_capability_major);
        visit({.name = "compute_capability_minor", .doc = "minor compute capability"}, self.compute_capability_minor);
    }
};

struct Clock {
    Real sm_mhz;
    Integer read_cost;
    Integer resolution;
    Text scope;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "sm_mhz", .unit = Unit::megahertz, .doc = "SM (shader) clock during the measurements"}, self.sm_mhz);
        visit({.name = "read_cost", .unit = Unit::cycles, .doc = "cycles between two back-to-back reads of the clock register"}, self.read_cost);
        visit({.name = "resolution", .unit = Unit::cycles, .doc = "smallest step by which clock readings differ"}, self.resolution);
        visit({.name = "scope", .doc = "SMs that share one clock register", .choices = {"sm", "tpc", "gpc", "gpu"}}, self.scope);
    }
};

/// Counts and limits of one SM and of the whole chip.
struct Topology {
    Integer sms;
    Integer sms_per_tpc;
    Integer warp_size;
    Integer max_threads_per_block;
    Integer max_threads_per_sm;
    Integer max_blocks_per_sm;
    Integer registers_per_sm;
    Integer register_allocation_unit;
    Integer max_registers_per_thread;
    Integer thread_allocation_unit;
    Integer register_partitions;
    Integer register_banks;
    Integer operand_banks;
    Integer operand_ports;
    Integer sms_per_cpc;
    Integer sms_per_gpc;
    Integer max_blocks_per_cluster;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "sms", .unit = Unit::count, .doc = "SMs on the GPU"}, self.sms);
        visit({.name = "sms_per_tpc", .unit = Unit::count, .doc = "SMs that share one TPC (clock register, texture L1, ...)"}, self.sms_per_tpc);
        visit({.name = "warp_size", .unit = Unit::count, .doc = "threads of a warp"}, self.warp_size);
        visit({.name = "max_threads_per_block", .unit = Unit::count, .doc = "limit of a launch"}, self.max_threads_per_block);
        visit({.name = "max_threads_per_sm", .unit = Unit::count, .doc = "resident threads of an SM"}, self.max_threads_per_sm);
        visit({.name = "max_blocks_per_sm", .unit = Unit::count, .doc = "resident blocks of an SM"}, self.max_blocks_per_sm);
        visit({.name = "registers_per_sm", .unit = Unit::count, .doc = "32-bit registers of an SM"}, self.registers_per_sm);
        visit({.name = "register_allocation_unit", .unit = Unit::count, .doc = "registers per thread are rounded up to a multiple of this"}, self.register_allocation_unit);
        visit({.name = "max_registers_per_thread", .unit = Unit::count, .doc = "limit of a kernel"}, self.max_registers_per_thread);
        visit({.name = "thread_allocation_unit", .unit = Unit::count, .doc = "threads of a block are rounded up to a multiple of this when registers are handed out (Wong 2010, Fig. 9)"}, self.thread_allocation_unit);
        visit({.name = "register_partitions", .unit = Unit::count, .doc = "equal parts of the register file; a warp's registers lie within one"}, self.register_partitions);
        visit({.name = "register_banks", .unit = Unit::count, .doc = "logical banks of the register file, to which threads are dealt (Wong 2010, IV-E)",
               .internal = "the authors infer it from thread_allocation_unit; a thread's operands lie in one bank and show nothing of it"}, self.register_banks);
        visit({.name = "operand_banks", .unit = Unit::count, .doc = "banks to which the registers of a thread are dealt by number; operands of one instruction in the same bank may have to wait for each other"},
              self.operand_banks);
        visit({.name = "operand_ports", .unit = Unit::count, .doc = "different registers of one bank that an instruction reads at once; further ones take an issue slot each time"}, self.operand_ports);
        visit({.name = "sms_per_cpc", .unit = Unit::count, .doc = "SMs of the TPCs of a processing cluster that share a TLB, SM 0 among them; other groups may be smaller, since faulty SMs are switched off"}, self.sms_per_cpc);
        visit({.name = "sms_per_gpc", .unit = Unit::count, .doc = "SMs of a processing cluster, the most of any, since faulty ones are switched off"}, self.sms_per_gpc);
        visit({.name = "max_blocks_per_cluster", .unit = Unit::count, .doc = "limit of a launch with block clusters",
               .internal = "determined by launches that fail, which no experiment does yet"}, self.max_blocks_per_cluster);
    }
};

/// Warp schedulers and the rules of issue.
struct Issue {
    Integer schedulers_per_sm;
    Real issue_interval;
    Integer ilp_latency;
    Integer dual_issue;
    Integer scoreboard_loads;
    Integer scoreboard_at_least;
    Text divergence;
    Text first_path;
    Text reconvergence;
    Text spin_within_warp;
    Integer barrier_latency;
    Text barrier_granularity;
    Integer warp_barrier_latency;
    Integer branch_latency_taken;
    Integer branch_latency_untaken;
    Integer divergence_latency;
    Integer reissue_transactions;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "schedulers_per_sm", .unit = Unit::count, .doc = "warp schedulers of an SM"}, self.schedulers_per_sm);
        visit({.name = "issue_interval", .unit = Unit::cycles, .doc = "cycles between two issues of one scheduler (Volkov 2016, Table 2.8)"}, self.issue_interval);
        visit({.name = "ilp_latency", .unit = Unit::cycles, .doc = "cycles between two independent instructions of one warp (Volkov 2016, 3.7)"}, self.ilp_latency);
        visit({.name = "dual_issue", .unit = Unit::count, .doc = "independent instructions of one warp issued at once"}, self.dual_issue);
        visit({.name = "scoreboard_loads", .unit = Unit::count, .doc = "outstanding loads of a warp before it stalls (Lashgar 2015)"}, self.scoreboard_loads);
        visit({.name = "scoreboard_at_least", .unit = Unit::count, .doc = "loads that one warp was seen to have under way at once where nothing limits them within reach"}, self.scoreboard_at_least);
        visit({.name = "divergence", .doc = "how diverged paths are handled", .choices = {"stack", "independent"}}, self.divergence);
        visit({.name = "first_path", .doc = "which side of a diverging branch runs first", .choices = {"taken", "fall-through"}}, self.first_path);
        visit({.name = "reconvergence", .doc = "where diverged paths join: at the immediate post-dominator of their branch, or not before they end (Wong 2010, IV-C2)",
               .choices = {"post-dominator", "exit"}}, self.reconvergence);
        visit({.name = "spin_within_warp", .doc = "what becomes of threads that spin until another thread of their warp has left the loop (Wong 2010, Listing 4)",
               .choices = {"deadlocks", "completes"}}, self.spin_within_warp);
        visit({.name = "barrier_latency", .unit = Unit::cycles, .doc = "cycles of a block barrier for a single warp"}, self.barrier_latency);
        visit({.name = "barrier_granularity", .doc = "what a barrier counts", .choices = {"warp", "thread"}}, self.barrier_granularity);
        visit({.name = "warp_barrier_latency", .unit = Unit::cycles, .doc = "cycles of bar.warp.sync for a whole warp that is together"}, self.warp_barrier_latency);
        visit({.name = "branch_latency_taken", .unit = Unit::cycles, .doc = "cycles from a branch that is taken to the next instruction of the warp (Volkov 2016, 3.7)"}, self.branch_latency_taken);
        visit({.name = "branch_latency_untaken", .unit = Unit::cycles, .doc = "the same for a branch that falls through (Volkov 2016, 3.7)"}, self.branch_latency_untaken);
        visit({.name = "divergence_latency", .unit = Unit::cycles, .doc = "cycles that a branch which splits its warp, and the joining behind it, take more than one that falls through (Wong 2010, IV-C)"},
              self.divergence_latency);
        visit({.name = "reissue_transactions", .unit = Unit::count, .doc = "transactions or bank-conflict ways of a memory instruction that one issue serves; for the rest it is issued again (Volkov 2016, 3.6)",
               .internal = "determined by issue slots that diverging loads take, which no experiment does yet"}, self.reissue_transactions);
    }
};

/// A kind of execution unit of the SM.
struct Pipeline {
    Integer latency;
    Integer warp_latency;
    Integer forward_latency;
    Real lanes;
    Text scope;
    Real issue_slots;
    Texts executes;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "latency", .unit = Unit::cycles, .doc = "dependent-issue latency of its simplest instruction"}, self.latency);
        visit({.name = "warp_latency", .unit = Unit::cycles, .doc = "the same for a whole warp, where it differs from one thread's (Volkov 2016, Table 6.2)",
               .internal = "determined by homogeneous mixes of whole warps: the experiment occupancy, which runs on request only"}, self.warp_latency);
        visit({.name = "forward_latency", .unit = Unit::cycles, .doc = "the same where the dependent instruction runs on the CUDA cores and that makes a difference (Volkov 2016, 4.7)"}, self.forward_latency);
        visit({.name = "lanes", .unit = Unit::operations_per_cycle, .doc = "thread operations started per cycle and SM"}, self.lanes);
        visit({.name = "scope", .doc = "whose lanes these are: every scheduler has a share of its own, or all schedulers of an SM feed all of them (the SFUs of Fermi); a scheduler's where not given",
               .choices = {"scheduler", "sm"}}, self.scope);
        visit({.name = "issue_slots", .unit = Unit::count, .doc = "issue slots of its scheduler that one of its instructions takes; 1 where not given (Volkov 2016, 4.7: 2 for the SFU of Maxwell)"}, self.issue_slots);
        visit({.name = "executes", .doc = "operations it executes", .internal = "the list of operations[..].units seen from the unit"}, self.executes);
    }
};

/// An arithmetic operation as PTX names it ("add.s32", "rsqrt.approx.f32").
struct Operation {
    Integer latency;
    Real throughput;
    Integer instructions;
    Texts units;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "latency", .unit = Unit::cycles, .doc = "cycles from issue to the issue of a dependent operation, whole expansion"}, self.latency);
        visit({.name = "throughput", .unit = Unit::operations_per_cycle, .doc = "thread operations per cycle and SM, all warps busy"}, self.throughput);
        visit({.name = "instructions", .unit = Unit::count, .doc = "machine instructions that the operation expands to"}, self.instructions);
        visit({.name = "units", .doc = "pipelines that execute it, the one that does most first"}, self.units);
    }
};

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

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "capacity", .unit = Unit::bytes, .doc = "per SM"}, self.capacity);
        visit({.name = "max_per_block", .unit = Unit::bytes, .doc = "limit of a launch"}, self.max_per_block);
        visit({.name = "allocation_unit", .unit = Unit::bytes, .doc = "allocations are rounded up to a multiple of this"}, self.allocation_unit);
        visit({.name = "banks", .unit = Unit::count, .doc = "banks"}, self.banks);
        visit({.name = "bank_width", .unit = Unit::bytes, .doc = "bytes of a bank's word in the default mode"}, self.bank_width);
        visit({.name = "bank_modes", .unit = Unit::bytes, .doc = "selectable bank widths (Kepler: 4 and 8)",
               .internal = "a launch setting of the driver; timing sees the mode in force"}, self.bank_modes);
        visit({.name = "row_words", .unit = Unit::count, .doc = "words of a bank that one access serves, `banks` words apart (Kepler's 4-byte mode: 2; Mei 2014, Fig. 6); 1 where not given"},
              self.row_words);
        visit({.name = "latency", .unit = Unit::cycles, .doc = "dependent load without conflict, one thread"}, self.latency);
        visit({.name = "warp_latency", .unit = Unit::cycles, .doc = "the same for a whole warp, where it differs from one thread's (Volkov 2016, Table 6.2)",
               .internal = "determined by homogeneous mixes of whole warps: the experiment occupancy, which runs on request only"}, self.warp_latency);
        visit({.name = "forward_latency", .unit = Unit::cycles, .doc = "the same where the dependent instruction runs on the CUDA cores and that makes a difference (Volkov 2016, 4.7)"}, self.forward_latency);
        visit({.name = "conflict_cost", .unit = Unit::cycles, .doc = "latency that each further way of a bank conflict adds to a whole warp's access (Volkov 2016, 6.2)"}, self.conflict_cost);
        visit({.name = "access_group", .unit = Unit::count, .doc = "threads whose addresses are served together (half-warp 16, warp 32)"}, self.access_group);
        visit({.name = "bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "conflict-free load throughput per SM"}, self.bytes_per_cycle);
        visit({.name = "issue_slots", .unit = Unit::count, .doc = "issue slots that a load without conflict takes; 1 where not given (Volkov 2016, 4.7: 3 on Maxwell)"}, self.issue_slots);
        visit({.name = "block_overhead", .unit = Unit::bytes, .doc = "taken from every block besides what it asks for (Volkov 2016, 5.7)"}, self.block_overhead);
        visit({.name = "argument_overhead", .unit = Unit::bytes, .doc = "taken from every block for each kernel argument (Volkov 2016, 5.7)"}, self.argument_overhead);
        visit({.name = "capacity_options", .unit = Unit::bytes, .doc = "what a launch may set aside of storage that a cache shares, in rising order (Mei 2014, Table 1)"}, self.capacity_options);
        visit({.name = "unified_cache", .doc = "key of the cache that shares its storage: what one takes the other loses"}, self.unified_cache);
    }
};

/// One cache. The same struct serves data, texture, constant and instruction caches.
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
    Text outstanding_design;
    Integer outstanding_entries;
    Integer outstanding_merge;
    Integer outstanding_at_least;
    Real bytes_per_cycle;
    Real sm_bytes_per_cycle;
    Integer sm_bytes_in_flight;
    Integer bytes_in_flight;
    Integer copy_capacity;
    Integers capacity_options;
    Integer partitions;
    Integer far_latency;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "scope", .doc = "what shares one instance", .choices = {"scheduler", "sm", "tpc", "cpc", "gpc", "gpu"}}, self.scope);
        visit({.name = "capacity", .unit = Unit::bytes, .doc = "data bytes of one instance; less than sets x ways x line where there are more tags than data"}, self.capacity);
        visit({.name = "line", .unit = Unit::bytes, .doc = "bytes that share one tag"}, self.line);
        visit({.name = "sector", .unit = Unit::bytes, .doc = "bytes filled by one miss; equals line where there are no sectors"}, self.sector);
        visit({.name = "ways", .unit = Unit::count, .doc = "ways of a set; the largest where sets differ (see set_ways)"}, self.ways);
        visit({.name = "sets", .unit = Unit::count, .doc = "sets"}, self.sets);
        visit({.name = "set_ways", .unit = Unit::count, .doc = "ways of each set, where sets are unequal (Mei 2014: 17 + 6 x 8)"}, self.set_ways);
        visit({.name = "index", .doc = "how the set is chosen: 'modulo' of the line number, 'bits' (index_bits of the address), 'hash' (each set bit is the XOR of the address bits under an index_hash mask)",
               .choices = {"modulo", "bits", "hash"}}, self.index);
        visit({.name = "index_bits", .doc = "address bits that form the set number, lowest first; with index 'bits'"}, self.index_bits);
        visit({.name = "index_hash", .doc = "one mask of address bits per set-number bit, lowest first; with index 'hash'"}, self.index_hash);
        visit({.name = "policy", .doc = "replacement policy; slru: half of the ways are protected, those used again last",
               .choices = {"lru", "fifo", "random", "tree-plru", "bit-plru", "nru", "srrip", "brrip", "slru", "way-odds", "not-lru"}}, self.policy);
        visit({.name = "way_odds", .doc = "probability of each way to be the victim (Mei 2014: 1/6 1/2 1/6 1/6); with policy 'way-odds'"}, self.way_odds);
        visit({.name = "latency", .unit = Unit::cycles, .doc = "dependent load that hits here, translation hit included; the mean over partitions, where there are some"}, self.latency);
        visit({.name = "latency_range", .unit = Unit::cycles, .doc = "[smallest, largest] over SM placement, or over the partitions of the cache"}, self.latency_range);
        visit({.name = "allocation", .doc = "what allocates a line",
               .internal = "determined by store traces, which no experiment does yet", .choices = {"load", "load-store"}}, self.allocation);
        visit({.name = "write_policy", .doc = "what a store that hits does",
               .internal = "determined by store traces, which no experiment does yet", .choices = {"write-through", "write-back"}}, self.write_policy);
        visit({.name = "outstanding_design", .doc = "how outstanding misses are tracked (Lashgar 2015)", .choices = {"mshr", "prt"}}, self.outstanding_design);
        visit({.name = "outstanding_entries", .unit = Unit::count, .doc = "entries of the MSHR file or pending request table"}, self.outstanding_entries);
        visit({.name = "outstanding_merge", .unit = Unit::count, .doc = "requests one MSHR entry merges"}, self.outstanding_merge);
        visit({.name = "outstanding_at_least", .unit = Unit::count, .doc = "lines that one SM was seen to wait for at once where nothing limits them within reach; the interval ends at what Little's law makes of the rate"}, self.outstanding_at_least);
        visit({.name = "bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "hit throughput of one instance"}, self.bytes_per_cycle);
        visit({.name = "sm_bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "the most that a single SM reads from it"}, self.sm_bytes_per_cycle);
        visit({.name = "sm_bytes_in_flight", .unit = Unit::bytes, .doc = "bytes that a single SM must have under way for 90% of that (Volkov 2016, 4.3)"}, self.sm_bytes_in_flight);
        visit({.name = "bytes_in_flight", .unit = Unit::bytes, .doc = "bytes that each SM must have under way for 90% of the rate of all SMs together"}, self.bytes_in_flight);
        visit({.name = "copy_capacity", .unit = Unit::bytes, .doc = "bytes of source and destination together up to which a copy by all SMs gains from what it holds (Lashgar 2015, Fig. 2)"}, self.copy_capacity);
        visit({.name = "capacity_options", .unit = Unit::bytes, .doc = "selectable capacities (Fermi L1: 16 and 48 KB; 0 where it can be switched off); as many as shared.capacity_options where each leaves one of them"}, self.capacity_options);
        visit({.name = "partitions", .unit = Unit::count, .doc = "partitions that each serve a part of the SMs directly (two on the largest chips)"}, self.partitions);
        visit({.name = "far_latency", .unit = Unit::cycles, .doc = "of a hit whose line belongs to a partition that is not the SM's own"}, self.far_latency);
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

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "scope", .doc = "what shares one instance",
               .choices = {"scheduler", "sm", "tpc", "cpc", "gpc", "gpu"}}, self.scope);
        visit({.name = "reach", .unit = Unit::bytes, .doc = "address range that the level can map"}, self.reach);
        visit({.name = "entries", .unit = Unit::count, .doc = "reach / span"}, self.entries);
        visit({.name = "ways", .unit = Unit::count, .doc = "ways of a set; the largest where sets differ"}, self.ways);
        visit({.name = "sets", .unit = Unit::count, .doc = "sets"}, self.sets);
        visit({.name = "set_ways", .unit = Unit::count, .doc = "ways of each set, where sets are unequal"}, self.set_ways);
        visit({.name = "index", .doc = "how an entry's number chooses the set: modulo the sets; or dealt: modulo all entries, dealt to the sets in turn, of which full ones are passed over",
               .internal = "timing sees which entries share a set; in ranges that one level can map whole, both look alike",
               .choices = {"modulo", "dealt"}}, self.index);
        visit({.name = "span", .unit = Unit::bytes, .doc = "address range of one entry (Wong 2010 calls it the TLB line size)"}, self.span);
        visit({.name = "page", .unit = Unit::bytes, .doc = "translation page size",
               .internal = "an entry may hold several pages; timing sees the entry's span"}, self.page);
        visit({.name = "miss_penalty", .unit = Unit::cycles, .doc = "latency added to an access that misses here and hits the next level"}, self.miss_penalty);
        visit({.name = "policy", .doc = "replacement policy",
               .choices = {"lru", "fifo", "random", "tree-plru", "bit-plru", "nru", "srrip", "brrip", "slru", "way-odds", "not-lru"}}, self.policy);
    }
};

/// A way from the SM to memory ("global", "local", "texture", "constant", "instruction"): which caches and TLBs, in order.
/// "local" is described only where it differs from "global" (Kepler's L1 serves local memory alone; Mei 2014, 2).
struct Path {
    Texts caches;
    Texts tlbs;
    Integer memory_latency;
    Integers memory_latency_range;
    Integers memory_latency_line_range;
    Integer warp_latency;
    Real transaction_cost;
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
        visit({.name = "caches", .doc = "keys of `caches`, nearest first; an empty list is an uncached path"}, self.caches);
        visit({.name = "tlbs", .doc = "keys of `tlbs`, nearest first"}, self.tlbs);
        visit({.name = "memory_latency", .unit = Unit::cycles, .doc = "dependent load served by DRAM, translation hit, unloaded, mean over SMs"}, self.memory_latency);
        visit({.name = "memory_latency_range", .unit = Unit::cycles, .doc = "[smallest, largest] over SM placement (Wong 2010, IV-G)"}, self.memory_latency_range);
        visit({.name = "memory_latency_line_range", .unit = Unit::cycles, .doc = "[smallest, largest] over lines of memory, which lie at different distances, mean over SMs (Volkov 2016, Table 6.6)",
               .internal = "seen only in the spread of single loads' latencies, beside queues: the experiment memory_latencies, which runs on request only"}, self.memory_latency_line_range);
        visit({.name = "warp_latency", .unit = Unit::cycles, .doc = "dependent streaming load of whole warps, coalesced, served by DRAM, where it differs from one thread's (Volkov 2016, Table 6.2)",
               .internal = "determined by homogeneous mixes of whole warps: the experiment occupancy, which runs on request only"}, self.warp_latency);
        visit({.name = "transaction_cost", .unit = Unit::cycles, .doc = "latency that each further transaction adds to a load that diverges (Volkov 2016, Table 6.7)",
               .internal = "determined by loads of one warp that diverge: the experiment random_access, which scans of simulated GPUs leave out"}, self.transaction_cost);
        visit({.name = "issue_slots", .unit = Unit::count, .doc = "issue slots that a coalesced access takes; 1 where not given"}, self.issue_slots);
        visit({.name = "page_window", .unit = Unit::bytes, .doc = "memory whose page entries are active at once (Mei 2014, 4.2: 512 MB on Kepler)"}, self.page_window);
        visit({.name = "page_window_penalty", .unit = Unit::cycles, .doc = "latency added by an access outside the active window, which switches it"}, self.page_window_penalty);
        visit({.name = "page_walk_memory_penalty", .unit = Unit::cycles, .doc = "latency added by a translation that no TLB has, where the entry of the page table comes from memory instead of the last cache (Mei 2014, Table 3, patterns 3 and 5)"},
              self.page_walk_memory_penalty);
        visit({.name = "tlb_position", .doc = "number of caches that are looked up before translation",
               .internal = "virtually indexed caches hide the TLB; timing sees it only through a path's levels",
               .choices = {"before-caches", "after-first-cache"}}, self.tlb_position);
        visit({.name = "outstanding_design", .doc = "how an SM tracks outstanding loads where no cache of its own does (Lashgar 2015)",
               .choices = {"mshr", "prt"}}, self.outstanding_design);
        visit({.name = "outstanding_entries", .unit = Unit::count, .doc = "entries of that table"}, self.outstanding_entries);
        visit({.name = "outstanding_merge", .unit = Unit::count, .doc = "requests one MSHR entry of that table merges"}, self.outstanding_merge);
        visit({.name = "outstanding_at_least", .unit = Unit::count, .doc = "lines that one SM was seen to wait for at once where nothing limits them within reach"}, self.outstanding_at_least);
    }
};

struct Memory {
    Integer capacity;
    Integer coalescing_group;
    Integers transaction_sizes;
    Integer channels;
    Integer channel_banks;
    Real bank_cycles;
    Integer fetch_bytes;
    Integer burst_bytes;
    Real channel_bytes_per_cycle;
    Real peak_bandwidth;
    Real read_bandwidth;
    Real copy_bandwidth;
    Real write_delay;
    Real pause_interval;
    Real pause_time;
    Real sm_bytes_per_cycle;
    Integer sm_bytes_in_flight;
    Integer bytes_in_flight;
    Real contention_base;
    Reals contention_slopes;
    Reals contention_limits;
    Real interconnect_bytes_per_cycle;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "capacity", .unit = Unit::bytes, .doc = "device memory"}, self.capacity);
        visit({.name = "coalescing_group", .unit = Unit::count, .doc = "threads whose accesses are merged (half-warp 16, warp 32)",
               .internal = "determined by access patterns, which no experiment does yet"}, self.coalescing_group);
        visit({.name = "transaction_sizes", .unit = Unit::bytes, .doc = "sizes of a memory transaction (Volkov 2016, 2.8)",
               .internal = "determined by access patterns, which no experiment does yet"}, self.transaction_sizes);
        visit({.name = "channels", .unit = Unit::count, .doc = "DRAM channels", .internal = "only their sum is seen as bandwidth"}, self.channels);
        visit({.name = "channel_banks", .unit = Unit::count, .doc = "banks of one channel, which open rows on their own",
               .internal = "seen only as latency under load, which several numbers of banks explain"}, self.channel_banks);
        visit({.name = "bank_cycles", .unit = Unit::cycles, .doc = "time between two rows of one bank: activate, read, precharge; the mean where accesses to one row follow each other",
               .internal = "seen only as latency under load, which several numbers of banks explain"}, self.bank_cycles);
        visit({.name = "fetch_bytes", .unit = Unit::bytes, .doc = "what DRAM reads at once; a smaller read takes as much of its time (Volkov 2016, 6.7)",
               .internal = "seen only as throughput of loads that diverge, which caches hide"}, self.fetch_bytes);
        visit({.name = "burst_bytes", .unit = Unit::bytes, .doc = "part of that which one channel holds; the next lies in the next channel",
               .internal = "seen only as the distribution of latencies under load"}, self.burst_bytes);
        visit({.name = "channel_bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "rate of one channel",
               .internal = "only their sum is seen as bandwidth"}, self.channel_bytes_per_cycle);
        visit({.name = "peak_bandwidth", .unit = Unit::gigabytes_per_second, .doc = "pin rate: bus width x memory clock x 2"}, self.peak_bandwidth);
        visit({.name = "read_bandwidth", .unit = Unit::gigabytes_per_second, .doc = "best sustained streaming read"}, self.read_bandwidth);
        visit({.name = "copy_bandwidth", .unit = Unit::gigabytes_per_second, .doc = "best sustained copy, read and written bytes counted"}, self.copy_bandwidth);
        visit({.name = "write_delay", .unit = Unit::cycles,
               .doc = "by how much reads take longer beside writes, for each share of the memory's time that the writes take; for models, the simulator turns at every write",
               .internal = "determined by copies over occupancy: the experiment write_delay, which scans of simulated GPUs leave out"}, self.write_delay);
        visit({.name = "pause_interval", .unit = Unit::nanoseconds, .doc = "from the begin of one pause, in which all of the memory stands still (refresh, for one), to that of the next; bandwidths are net of pauses"},
              self.pause_interval);
        visit({.name = "pause_time", .unit = Unit::nanoseconds, .doc = "how long it then stands still: the most that a load waits in an idle memory"}, self.pause_time);
        visit({.name = "sm_bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "the most that a single SM reads from memory"}, self.sm_bytes_per_cycle);
        visit({.name = "sm_bytes_in_flight", .unit = Unit::bytes, .doc = "bytes that a single SM must have under way for 90% of that (Volkov 2016, 4.3)"}, self.sm_bytes_in_flight);
        visit({.name = "bytes_in_flight", .unit = Unit::bytes, .doc = "bytes that each SM must have under way for 90% of the rate of all SMs together"}, self.bytes_in_flight);
        visit({.name = "contention_base", .unit = Unit::cycles, .doc = "a of the mean latency a + sum of b x / (c - x) at a streaming throughput of x GB/s (Volkov 2016, 6.4); for models, the simulator queues instead",
               .internal = "determined by mean latency against attained throughput: the experiment occupancy, which runs on request only"}, self.contention_base);
        visit({.name = "contention_slopes", .unit = Unit::cycles, .doc = "b of each term",
               .internal = "determined by mean latency against attained throughput: the experiment occupancy, which runs on request only"}, self.contention_slopes);
        visit({.name = "contention_limits", .unit = Unit::gigabytes_per_second, .doc = "c of each term",
               .internal = "determined by mean latency against attained throughput: the experiment occupancy, which runs on request only"}, self.contention_limits);
        visit({.name = "interconnect_bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "rate of one SM's port into the interconnect",
               .internal = "only the slowest stage of a path is seen"}, self.interconnect_bytes_per_cycle);
    }
};

/// One kind of access to one place other than plain loads: "l2_store", "memory_atomic", "l2_async" (asynchronous copies to shared memory).
struct Access {
    Real sm_bytes_per_cycle;
    Integer sm_bytes_in_flight;
    Real bytes_per_cycle;
    Integer bytes_in_flight;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "sm_bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "the most that a single SM moves by it"}, self.sm_bytes_per_cycle);
        visit({.name = "sm_bytes_in_flight", .unit = Unit::bytes, .doc = "bytes that a single SM must have under way for 90% of that"}, self.sm_bytes_in_flight);
        visit({.name = "bytes_per_cycle", .unit = Unit::bytes_per_cycle, .doc = "the most that all SMs together move by it"}, self.bytes_per_cycle);
        visit({.name = "bytes_in_flight", .unit = Unit::bytes, .doc = "bytes that each SM must have under way for 90% of that"}, self.bytes_in_flight);
    }
};

/// Loads of which the threads of a warp ask for addresses of one shape ("unique", "strided", "random"): what of an SM is full first.
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
        visit({.name = "first_limit", .doc = "what more loads of this shape than an SM can take meet first: a rate that is the same whatever the latency, or places of which the longer a latency takes them the fewer loads get through",
               .choices = {"rate", "places"}}, self.first_limit);
        visit({.name = "loads_per_cycle", .unit = Unit::operations_per_cycle, .doc = "loads of whole warps per cycle that one SM gets from the last cache"}, self.loads_per_cycle);
        visit({.name = "memory_loads_per_cycle", .unit = Unit::operations_per_cycle, .doc = "loads of whole warps per cycle that one SM gets from memory"}, self.memory_loads_per_cycle);
        visit({.name = "outstanding_loads", .unit = Unit::count, .doc = "loads of whole warps that one SM was seen to have under way at once: rate times latency"}, self.outstanding_loads);
        visit({.name = "outstanding_lines", .unit = Unit::count, .doc = "lines of 128 bytes of those loads, each load's own"}, self.outstanding_lines);
        visit({.name = "outstanding_sectors", .unit = Unit::count, .doc = "sectors of 32 bytes of those loads, each load's own"}, self.outstanding_sectors);
        visit({.name = "partition_loads", .unit = Unit::count, .doc = "the same as outstanding_loads where only warps of one scheduler load"}, self.partition_loads);
        visit({.name = "warp_loads", .unit = Unit::count, .doc = "the same where only one warp loads"}, self.warp_loads);
    }
};

struct LaunchCost {
    Real empty_kernel;
    Integer block_replacement;
    Real block_interval;
    Real warp_interval;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "empty_kernel", .unit = Unit::nanoseconds, .doc = "back-to-back launches of an empty kernel, per launch"}, self.empty_kernel);
        visit({.name = "block_replacement", .unit = Unit::cycles, .doc = "from the end of a block to the start of the next in its place (Volkov 2016, 3.7)"}, self.block_replacement);
        visit({.name = "block_interval", .unit = Unit::cycles, .doc = "SM cycles between two blocks that the whole GPU starts, however small they are"}, self.block_interval);
        visit({.name = "warp_interval", .unit = Unit::cycles, .doc = "cycles between two warps that one SM starts"}, self.warp_interval);
    }
};

/// What the simulator needs of instruction supply beyond the caches of the "instruction" path.
struct InstructionSupply {
    Integer fetch_block;
    Integer prefetch_lines;
    Integer instruction_bytes;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "fetch_block", .unit = Unit::bytes, .doc = "bytes fetched from the first instruction cache at once (Wong 2010, Fig. 24)"}, self.fetch_block);
        visit({.name = "prefetch_lines", .unit = Unit::count, .doc = "lines prefetched ahead",
               .internal = "hides the first level; no experiment separates it yet"}, self.prefetch_lines);
        visit({.name = "instruction_bytes", .unit = Unit::bytes, .doc = "bytes of one machine instruction",
               .internal = "read from the machine code, not from time"}, self.instruction_bytes);
    }
};

/// Everything known of one GPU.
struct Machine {
    Identity identity;
    Clock clock;
    Topology topology;
    Issue issue;
    std::map<std::string, Pipeline> pipelines;
    std::map<std::string, Operation> operations;
    SharedMemory shared;
    std::map<std::string, Cache> caches;
    std::map<std::string, Tlb> tlbs;
    std::map<std::string, Path> paths;
    std::map<std::string, Pattern> patterns;
    std::map<std::string, Access> accesses;
    Memory memory;
    InstructionSupply instruction_supply;
    LaunchCost launch;

    /// Sections instead of leaves: visit(name, struct) or visit(name, map of structs).
    template <class Self, class Visitor>
    static void sections(Self& self, Visitor&& visit) {
        visit("identity", self.identity);
        visit("clock", self.clock);
        visit("topology", self.topology);
        visit("issue", self.issue);
        visit("pipelines", self.pipelines);
        visit("operations", self.operations);
        visit("shared", self.shared);
        visit("caches", self.caches);
        visit("tlbs", self.tlbs);
        visit("paths", self.paths);
        visit("patterns", self.patterns);
        visit("accesses", self.accesses);
        visit("memory", self.memory);
        visit("instruction_supply", self.instruction_supply);
        visit("launch", self.launch);
    }
};

// clang-format on

}  // namespace gputomo::machine
