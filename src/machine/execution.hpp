// How an SM executes: issue, pipelines, operations and instruction fetch.
#pragma once

#include "machine/field.hpp"

namespace gputomo::machine {

// Tables of leaves, one entry a leaf.
// clang-format off

/// Warp schedulers, the rules of issue, branches and barriers.
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
    Flag barrier_defers;
    Text block_priority;
    Integer constant_turnaround;
    Integer yield_latency;
    Integer warp_barrier_latency;
    Integer branch_latency_taken;
    Integer branch_latency_untaken;
    Integer divergence_latency;
    Integer reissue_transactions;
    Real beside_products;
    Real store_queue;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "schedulers_per_sm", .unit = Unit::count, .doc = "warp schedulers of an SM"},
              self.schedulers_per_sm);
        visit({.name = "issue_interval", .unit = Unit::cycles,
               .doc = "cycles between two instructions that one scheduler issues (Volkov 2016, Table 2.8)"},
              self.issue_interval);
        visit({.name = "ilp_latency", .unit = Unit::cycles,
               .doc = "cycles between two independent instructions of one warp (Volkov 2016, 3.7)"}, self.ilp_latency);
        visit({.name = "dual_issue", .unit = Unit::count,
               .doc = "independent instructions of one warp that a scheduler issues in the same cycle"},
              self.dual_issue);
        visit({.name = "scoreboard_loads", .unit = Unit::count,
               .doc = "loads that a warp can have outstanding before it stalls (Lashgar 2015)"}, self.scoreboard_loads);
        visit({.name = "scoreboard_at_least", .unit = Unit::count,
               .doc = "loads that one warp was seen to have outstanding when no limit was found; the real limit, "
                      "if any, is higher"}, self.scoreboard_at_least);
        visit({.name = "divergence",
               .doc = "how a warp executes diverged paths: with a reconvergence stack, or with independent thread "
                      "scheduling",
               .choices = {"stack", "independent"}}, self.divergence);
        visit({.name = "first_path", .doc = "the side of a divergent branch that runs first",
               .choices = {"taken", "fall-through"}}, self.first_path);
        visit({.name = "reconvergence",
               .doc = "where diverged paths join again: at the immediate post-dominator of the branch, or only "
                      "when the threads exit (Wong 2010, IV-C2)",
               .choices = {"post-dominator", "exit"}}, self.reconvergence);
        visit({.name = "spin_within_warp",
               .doc = "what happens when threads spin until another thread of their warp leaves the loop (Wong "
                      "2010, Listing 4)",
               .choices = {"deadlocks", "completes"}}, self.spin_within_warp);
        visit({.name = "barrier_latency", .unit = Unit::cycles,
               .doc = "cycles that a block barrier (bar.sync) takes when the block is a single warp"},
              self.barrier_latency);
        visit({.name = "barrier_granularity", .doc = "what a block barrier counts as arrived: warps or threads",
               .choices = {"warp", "thread"}}, self.barrier_granularity);
        visit({.name = "barrier_defers",
               .doc = "whether arithmetic behind BAR.SYNC.DEFER_BLOCKING issues before the barrier is complete. A "
                      "missing value means that it waits, as all other instructions do",
               .internal = "no experiment of a scan reads the clock behind a barrier"}, self.barrier_defers);
        visit({.name = "block_priority",
               .doc = "whether a scheduler issues for warps of the oldest of its blocks first, or for the warp whose "
                      "last issue is longest ago. A missing value means the latter",
               .choices = {"oldest", "none"}}, self.block_priority);
        visit({.name = "constant_turnaround", .unit = Unit::cycles,
               .doc = "cycles from the arrival of a line of constants, which instructions have as operands, until its "
                      "scheduler asks for the next line. A missing value means that it asks for all lines at once",
               .internal = "no experiment of a scan has warps of a scheduler that wait for different constants"},
              self.constant_turnaround);
        visit({.name = "yield_latency", .unit = Unit::cycles,
               .doc = "cycles from YIELD, which compilers put into loops that wait for other threads, to the next "
                      "instruction of its warp. Where its threads are on several paths, it takes twice as long. A "
                      "missing value means its stall count",
               .internal = "PTX cannot ask for this instruction"}, self.yield_latency);
        visit({.name = "warp_barrier_latency", .unit = Unit::cycles,
               .doc = "cycles of bar.warp.sync when all threads of the warp arrive together"},
              self.warp_barrier_latency);
        visit({.name = "branch_latency_taken", .unit = Unit::cycles,
               .doc = "cycles from a taken branch to the next instruction of the warp (Volkov 2016, 3.7)"},
              self.branch_latency_taken);
        visit({.name = "branch_latency_untaken", .unit = Unit::cycles,
               .doc = "cycles from a branch that falls through to the next instruction of the warp (Volkov 2016, "
                      "3.7)"}, self.branch_latency_untaken);
        visit({.name = "divergence_latency", .unit = Unit::cycles,
               .doc = "extra cycles of a branch that splits its warp and of the reconvergence after it, over a "
                      "branch that falls through (Wong 2010, IV-C)"}, self.divergence_latency);
        visit({.name = "reissue_transactions", .unit = Unit::count,
               .doc = "transactions, or ways of a bank conflict, that one issue of a memory instruction serves; "
                      "the instruction is issued again for the rest (Volkov 2016, 3.6)",
               .internal = "no experiment measures it yet; it would take the issue slots of divergent loads"},
              self.reissue_transactions);
        visit({.name = "beside_products", .unit = Unit::cycles,
               .doc = "cycles between two arithmetic instructions of a scheduler while its tensor core adds products "
                      "of a warp group to sums of a register a cycle"}, self.beside_products);
        visit({.name = "store_queue", .unit = Unit::cycles,
               .doc = "cycles of stores that the queue of an SM holds before a store stalls its warp; a missing value "
                      "means 1000",
               .internal = "no experiment times it yet"}, self.store_queue);
    }
};

/// A kind of execution unit of the SM, keyed by its name: "sp", "sfu", "tensor".
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
        visit({.name = "latency", .unit = Unit::cycles,
               .doc = "cycles between two dependent instructions of the pipeline's simplest kind"}, self.latency);
        visit({.name = "warp_latency", .unit = Unit::cycles,
               .doc = "the latency seen by a whole warp, if it differs from that of one thread (Volkov 2016, Table "
                      "6.2)",
               .internal = "only the experiment occupancy determines it, from mixes of one kind of instruction, "
                           "and it runs on request only"}, self.warp_latency);
        visit({.name = "forward_latency", .unit = Unit::cycles,
               .doc = "the latency when the dependent instruction runs on the CUDA cores, if that differs (Volkov "
                      "2016, 4.7)"}, self.forward_latency);
        visit({.name = "lanes", .unit = Unit::operations_per_cycle,
               .doc = "thread operations that one SM starts per cycle"}, self.lanes);
        visit({.name = "scope",
               .doc = "who can use the lanes: each scheduler has a share of its own, or all schedulers of the SM "
                      "feed all lanes (the SFUs of Fermi); a missing value means scheduler",
               .choices = {"scheduler", "sm"}}, self.scope);
        visit({.name = "issue_slots", .unit = Unit::count,
               .doc = "issue slots of the scheduler that one instruction takes; a missing value means 1 (Volkov "
                      "2016, 4.7: 2 for the SFU of Maxwell)"}, self.issue_slots);
        visit({.name = "executes", .doc = "operations that the pipeline executes",
               .internal = "it lists operations[..].units from the pipeline's side"}, self.executes);
    }
};

/// An arithmetic operation, keyed by its name in PTX: "add.s32", "rsqrt.approx.f32".
struct Operation {
    Integer latency;
    Real throughput;
    Integer instructions;
    Texts units;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "latency", .unit = Unit::cycles,
               .doc = "cycles from the issue of the operation to the issue of a dependent one; if it expands to "
                      "several machine instructions, they count together"}, self.latency);
        visit({.name = "throughput", .unit = Unit::operations_per_cycle,
               .doc = "thread operations per cycle and SM when enough warps run to saturate it"}, self.throughput);
        visit({.name = "instructions", .unit = Unit::count,
               .doc = "machine instructions that the operation expands to"}, self.instructions);
        visit({.name = "units", .doc = "pipelines that execute the operation, the one with the largest share first"},
              self.units);
    }
};

/// Instruction fetch, beyond the caches of the "instruction" path.
struct InstructionSupply {
    Integer fetch_block;
    Integer prefetch_lines;
    Integer instruction_bytes;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "fetch_block", .unit = Unit::bytes,
               .doc = "bytes that one fetch reads from the first instruction cache (Wong 2010, Fig. 24)"},
              self.fetch_block);
        visit({.name = "prefetch_lines", .unit = Unit::count,
               .doc = "lines that are prefetched ahead of the program counter",
               .internal = "prefetching hides misses of the first level, and no experiment separates the two yet"},
              self.prefetch_lines);
        visit({.name = "instruction_bytes", .unit = Unit::bytes, .doc = "bytes of one machine instruction",
               .internal = "read from the machine code, not measured"}, self.instruction_bytes);
    }
};

// clang-format on

}  // namespace gputomo::machine
