// What the whole chip has: its identity, clock, counts and limits, and the cost of a launch.
#pragma once

#include "machine/field.hpp"

namespace gputomo::machine {

// Tables of leaves, one entry a leaf.
// clang-format off

/// What the driver calls the GPU.
struct Identity {
    Text name;
    Text architecture;
    Integer compute_capability_major;
    Integer compute_capability_minor;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "name", .doc = "marketing name, as the driver reports it"}, self.name);
        visit({.name = "architecture", .doc = "generation: g80, gt200, fermi, kepler, maxwell, hopper, ...",
               .internal = "the vendor's code name; timing does not reveal it"}, self.architecture);
        visit({.name = "compute_capability_major", .doc = "major number of the compute capability"},
              self.compute_capability_major);
        visit({.name = "compute_capability_minor", .doc = "minor number of the compute capability"},
              self.compute_capability_minor);
    }
};

/// The clock register that kernels read, and the clock that drives it.
struct Clock {
    Real sm_mhz;
    Integer read_cost;
    Integer resolution;
    Text scope;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "sm_mhz", .unit = Unit::megahertz, .doc = "SM (shader) clock during the measurements"},
              self.sm_mhz);
        visit({.name = "read_cost", .unit = Unit::cycles,
               .doc = "cycles between two back-to-back reads of the clock register"}, self.read_cost);
        visit({.name = "resolution", .unit = Unit::cycles,
               .doc = "smallest difference between two readings of the clock register"}, self.resolution);
        visit({.name = "scope", .doc = "the group of SMs that shares one clock register",
               .choices = {"sm", "tpc", "gpc", "gpu"}}, self.scope);
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
    Real operand_read_cycles;
    Integer sms_per_cpc;
    Integer sms_per_gpc;
    Integers cluster_sms;
    Integer max_blocks_per_cluster;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "sms", .unit = Unit::count, .doc = "SMs of the GPU"}, self.sms);
        visit({.name = "sms_per_tpc", .unit = Unit::count,
               .doc = "SMs of a texture processing cluster (TPC); depending on the generation they share a clock "
                      "register, a texture L1 and more"}, self.sms_per_tpc);
        visit({.name = "warp_size", .unit = Unit::count, .doc = "threads of a warp"}, self.warp_size);
        visit({.name = "max_threads_per_block", .unit = Unit::count,
               .doc = "most threads that a launch may give a block"}, self.max_threads_per_block);
        visit({.name = "max_threads_per_sm", .unit = Unit::count, .doc = "most threads resident on an SM"},
              self.max_threads_per_sm);
        visit({.name = "max_blocks_per_sm", .unit = Unit::count, .doc = "most blocks resident on an SM"},
              self.max_blocks_per_sm);
        visit({.name = "registers_per_sm", .unit = Unit::count, .doc = "32-bit registers of an SM"},
              self.registers_per_sm);
        visit({.name = "register_allocation_unit", .unit = Unit::count,
               .doc = "the registers per thread are rounded up to a multiple of this"}, self.register_allocation_unit);
        visit({.name = "max_registers_per_thread", .unit = Unit::count,
               .doc = "most registers that a kernel may use per thread"}, self.max_registers_per_thread);
        visit({.name = "thread_allocation_unit", .unit = Unit::count,
               .doc = "the threads of a block are rounded up to a multiple of this when registers are allocated "
                      "(Wong 2010, Fig. 9)"}, self.thread_allocation_unit);
        visit({.name = "register_partitions", .unit = Unit::count,
               .doc = "equal parts of the register file; all registers of a warp lie in one part"},
              self.register_partitions);
        visit({.name = "register_banks", .unit = Unit::count,
               .doc = "logical banks of the register file, over which threads are distributed (Wong 2010, IV-E)",
               .internal = "Wong 2010 infers it from thread_allocation_unit; all operands of a thread lie in one "
                           "such bank, so timing shows none of them"}, self.register_banks);
        visit({.name = "operand_banks", .unit = Unit::count,
               .doc = "banks over which the registers of a thread are distributed by register number; operands of "
                      "one instruction in the same bank may have to be read one after the other"}, self.operand_banks);
        visit({.name = "operand_ports", .unit = Unit::count,
               .doc = "different registers of one operand bank that an instruction reads at once"}, self.operand_ports);
        visit({.name = "operand_read_cycles", .unit = Unit::cycles,
               .doc = "cycles of a scheduler for which a read occupies its port of an operand bank; reads of "
                      "neighbouring instructions even out; a missing value means issue.issue_interval"},
              self.operand_read_cycles);
        visit({.name = "sms_per_cpc", .unit = Unit::count,
               .doc = "SMs of a group of TPCs (CPC) that shares a TLB, for the group of SM 0; other groups may be "
                      "smaller because faulty SMs are switched off"}, self.sms_per_cpc);
        visit({.name = "sms_per_gpc", .unit = Unit::count,
               .doc = "SMs of a graphics processing cluster (GPC), for the largest one; others may be smaller "
                      "because faulty SMs are switched off"}, self.sms_per_gpc);
        visit({.name = "cluster_sms", .unit = Unit::count,
               .doc = "SMs of each group that clusters do not leave, the largest group first; a GPC may be several "
                      "such groups, down to a single TPC. A missing value means groups of sms_per_gpc"},
              self.cluster_sms);
        visit({.name = "max_blocks_per_cluster", .unit = Unit::count, .doc = "most blocks of a thread block cluster",
               .internal = "no experiment measures it yet; it would take launches that fail"},
              self.max_blocks_per_cluster);
    }
};

/// What it costs to start kernels, blocks and warps.
struct LaunchCost {
    Real empty_kernel;
    Integer block_replacement;
    Real block_interval;
    Real first_block_interval;
    Real next_block_interval;
    Integer cluster_replacement;
    Real cluster_interval;
    Real warp_interval;
    Text placement;
    Text given_back;
    Integer scheduler_step;
    Real profiler_cycles;
    Integer code_prefetch;
    Integer code_prefetch_ready;
    Real code_prefetch_rate;
    Real store_drain;
    Real load_drain;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor&& visit) {
        visit({.name = "empty_kernel", .unit = Unit::nanoseconds,
               .doc = "time per launch of an empty kernel when launches follow each other back to back"},
              self.empty_kernel);
        visit({.name = "block_replacement", .unit = Unit::cycles,
               .doc = "cycles from the end of a block to the start of the next block in its place (Volkov 2016, "
                      "3.7)"}, self.block_replacement);
        visit({.name = "block_interval", .unit = Unit::cycles,
               .doc = "SM cycles of the whole GPU for each of many small blocks. With first_block_interval described, "
                      "they pass from one end of a block to the next one that counts: only then a block replaces it, "
                      "and the launch is over. Otherwise they pass between two starts"},
              self.block_interval);
        visit({.name = "first_block_interval", .unit = Unit::cycles,
               .doc = "SM cycles between the starts of the first blocks on two SMs, when a launch begins"},
              self.first_block_interval);
        visit({.name = "next_block_interval", .unit = Unit::cycles,
               .doc = "SM cycles between the starts of two blocks on one SM that has room for both, when a launch "
                      "begins; a missing value means 0"}, self.next_block_interval);
        visit({.name = "cluster_replacement", .unit = Unit::cycles,
               .doc = "cycles from the end of the last block of a cluster to the start of the next cluster in its "
                      "place; a missing value means block_replacement"},
              self.cluster_replacement);
        visit({.name = "cluster_interval", .unit = Unit::cycles,
               .doc = "SM cycles between the starts of two clusters on the whole GPU; a missing value means that of "
                      "their blocks"}, self.cluster_interval);
        visit({.name = "warp_interval", .unit = Unit::cycles,
               .doc = "cycles between the starts of two warps on one SM"}, self.warp_interval);
        visit({.name = "placement",
               .doc = "the SMs on which the first blocks of a grid without clusters start. With sms, block i starts on "
                      "SM i. With gpcs, they are spread evenly over GPCs, and within each over TPCs; neighbouring "
                      "blocks start in one GPC. A missing value means sms",
               .internal = "no experiment looks at where the blocks of small grids start yet",
               .choices = {"sms", "gpcs"}}, self.placement);
        visit({.name = "given_back",
               .doc = "whose end makes room for other blocks. With warps, registers and slots of a warp are free when "
                      "it ends; shared memory is free when its block is over. Whenever a block ends, its SM takes as "
                      "many others as fit. A missing value means blocks",
               .internal = "no experiment looks at blocks whose warps end at different times yet",
               .choices = {"blocks", "warps"}}, self.given_back);
        visit({.name = "scheduler_step", .unit = Unit::count,
               .doc = "schedulers between the first warps of two blocks on an SM, where warps of a block divide evenly "
                      "among schedulers. Other blocks go on where the one before has ended. A missing value means 0",
               .internal = "no experiment reads the slots of warps yet"}, self.scheduler_step);
        visit({.name = "profiler_cycles", .unit = Unit::cycles,
               .doc = "SM cycles that a profiler counts for a kernel without instructions, of one block and after its "
                      "caches were flushed (NVIDIA's counter gpc__cycles_elapsed.max). What its code and its constants "
                      "take is subtracted",
               .internal = "only a profiler reads the counter, and a scan uses none"}, self.profiler_cycles);
        visit({.name = "code_prefetch", .unit = Unit::bytes,
               .doc = "bytes from the beginning of a kernel's code that a launch brings to the last cache of "
                      "instructions before the L2; a missing value means none"}, self.code_prefetch);
        visit({.name = "code_prefetch_ready", .unit = Unit::bytes,
               .doc = "bytes of code_prefetch that are there when the first block starts; a missing value means all",
               .internal = "no experiment jumps into cold code yet"}, self.code_prefetch_ready);
        visit({.name = "code_prefetch_rate", .unit = Unit::bytes_per_cycle,
               .doc = "at which the rest of code_prefetch follows; a missing value means at once",
               .internal = "no experiment jumps into cold code yet"}, self.code_prefetch_rate);
        visit({.name = "store_drain", .unit = Unit::cycles,
               .doc = "SM cycles from the last block, or the last store that leaves an SM, to the end of a launch that "
                      "stores, as a profiler counts it; a missing value means 0",
               .internal = "only a profiler shows when a launch ends"}, self.store_drain);
        visit({.name = "load_drain", .unit = Unit::cycles,
               .doc = "SM cycles from the last block to the end of a launch that loads from global memory, as a "
                      "profiler counts it; a missing value means 0",
               .internal = "only a profiler shows when a launch ends"}, self.load_drain);
    }
};

// clang-format on

}  // namespace gputomo::machine
