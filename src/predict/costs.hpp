// What an instruction costs on a GPU: latency, and the time that it keeps each resource busy, for a whole warp.
#pragma once

#include "machine/machine.hpp"
#include "models/parameters.hpp"
#include "predict/code.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::predict {

/// What the user knows of the kernel's memory accesses; by line of the file.
struct AccessChoices {
    std::map<int, double> transactions;  ///< lines of 128 bytes that one access of a warp touches
    std::map<int, double> ways;          ///< bank-conflict ways of one access of a warp
    double l1_hit_rate = 0;
    double l2_hit_rate = 0;  ///< of what misses in the L1
};

/// Groups of instructions that share a throughput limit (Volkov 2016, 3.6).
enum class Resource : std::uint8_t { cores, sfu, double_precision, shared, memory };
[[nodiscard]] std::string_view name_of(Resource resource);

struct Cost {
    double latency = 0;  ///< cycles from issue to the issue of a dependent instruction
    double spread = 0;   ///< by which that is shorter or longer from time to time, all in between alike
    Resource resource = Resource::cores;
    double cycles = 0;          ///< that the resource of one SM is busy
    double reissues = 0;        ///< further issues of the same instruction
    double bytes = 0;           ///< that it moves from and to DRAM
    double lines = 0;           ///< of the first cache that wait for what it loads
    bool scattered = false;     ///< and lie in any sets
    std::string worksheet_row;  ///< row of the worksheet

    /// Cycles in which it is issued, further issues included; `throughput`: issues of an SM per cycle.
    [[nodiscard]] double issue_cycles(double throughput) const { return (1 + reissues) / throughput; }
    /// Whether the resource takes it in the time of its issue: nobody waits there who has been issued.
    [[nodiscard]] bool uncontended(double throughput) const { return cycles <= issue_cycles(throughput); }
};

/// Reads a description. Throws InputError naming the leaf that is missing.
class Costs {
public:
    Costs(const machine::Machine& machine, const AccessChoices& choices, std::string_view origin);

    /// `memory_latency` is the DRAM latency under the load at hand; unloaded_latency() without any.
    [[nodiscard]] Cost of(const Instruction& instruction, double memory_latency);

    [[nodiscard]] const models::Parameters& parameters() const { return parameters_; }
    [[nodiscard]] double unloaded_latency() const { return parameters_.memory.latency; }
    [[nodiscard]] double barrier_latency() const;
    /// Cycles from a branch to the next instruction; 0 where unknown.
    [[nodiscard]] double branch_latency(bool taken) const;
    [[nodiscard]] double block_replacement() const;  ///< 0 where unknown
    /// Cycles of one SM for each warp of blocks of so many that start; 0 where unknown.
    [[nodiscard]] double start_cycles(int warps_of_block) const;
    /// Cycles by which reads take longer, for each share of the memory's time that writes take; 0 where unknown.
    [[nodiscard]] double write_delay() const;
    [[nodiscard]] bool dual_issue() const;
    [[nodiscard]] std::int64_t max_outstanding_loads() const;  ///< outstanding of one warp; 0: not limited
    /// Bytes that a block which asks for so many takes of its SM's shared memory.
    [[nodiscard]] std::int64_t shared_allocated(std::int64_t asked) const;
    [[nodiscard]] const machine::Machine& machine() const { return machine_; }

    /// What was taken for granted so far.
    [[nodiscard]] const std::set<std::string>& assumptions() const { return assumptions_; }

private:
    /// Of one warp access to global or local memory.
    struct Footprint {
        double transactions = 1;  ///< lines touched
        double bytes = 0;         ///< in whole sectors
    };
    [[nodiscard]] Footprint footprint(const Instruction& instruction);
    [[nodiscard]] double conflict_ways(const Instruction& instruction);
    [[nodiscard]] Cost arithmetic(const Instruction& instruction);
    [[nodiscard]] Cost global(const Instruction& instruction, double memory_latency);
    [[nodiscard]] Cost shared(const Instruction& instruction);
    [[nodiscard]] double unit_slots(const std::string& unit) const;
    [[nodiscard]] double filled_by_memory() const;
    [[nodiscard]] double write_cost() const;
    [[nodiscard]] double served_latency(double memory_latency) const;
    [[nodiscard]] double served_spread(double memory_latency) const;

    const machine::Machine& machine_;
    AccessChoices choices_;
    std::string origin_;
    models::Parameters parameters_;
    std::set<std::string> assumptions_;
};

}  // namespace gputomo::predict
