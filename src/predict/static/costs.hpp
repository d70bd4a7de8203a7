// The cost of an instruction of a warp on a GPU: its latency, and for how long it occupies which resource.
#pragma once

#include "machine/machine.hpp"
#include "models/parameters.hpp"
#include "predict/static/code.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::predict {

/// What the user states about the kernel's memory accesses; maps are keyed by line of the file.
struct AccessChoices {
    std::map<int, double> transactions;  ///< lines of 128 bytes that one access of a warp touches
    std::map<int, double> ways;          ///< bank-conflict ways of one access of a warp
    double l1_hit_rate = 0;
    double l2_hit_rate = 0;  ///< of the accesses that miss in the L1
};

/// Groups of instructions that share a throughput limit (Volkov 2016, 3.6).
enum class Resource : std::uint8_t { cores, sfu, double_precision, shared, memory };
[[nodiscard]] std::string_view name_of(Resource resource);

struct Cost {
    double latency = 0;  ///< cycles from issue to the issue of a dependent instruction
    double spread = 0;   ///< single latencies are uniformly distributed over latency +- spread, in cycles
    Resource resource = Resource::cores;
    double cycles = 0;          ///< cycles for which it occupies the resource of one SM
    double reissues = 0;        ///< further issue slots that the same instruction takes
    double bytes = 0;           ///< moved from and to DRAM
    double lines = 0;           ///< lines of the first-level cache that it allocates
    bool scattered = false;     ///< whether these lines lie in random sets
    std::string worksheet_row;  ///< row of the worksheet

    /// Cycles that its issue takes, reissues included; `throughput`: issues of an SM per cycle.
    [[nodiscard]] double issue_cycles(double throughput) const { return (1 + reissues) / throughput; }
    /// Whether the resource is at least as fast as issue, so that no issued instruction waits for it.
    [[nodiscard]] bool uncontended(double throughput) const { return cycles <= issue_cycles(throughput); }
};

/// Costs on the GPU of a machine description. Throws InputError that names the missing leaf.
class Costs {
public:
    Costs(const machine::Machine& machine, const AccessChoices& choices, std::string_view origin);

    /// `memory_latency`: DRAM latency in cycles under the current load; unloaded_latency() without load.
    [[nodiscard]] Cost of(const Instruction& instruction, double memory_latency);

    [[nodiscard]] const models::Parameters& parameters() const { return parameters_; }
    [[nodiscard]] double unloaded_latency() const { return parameters_.memory.latency; }
    [[nodiscard]] double barrier_latency() const;
    /// Cycles from a branch to the next instruction; 0 where unknown.
    [[nodiscard]] double branch_latency(bool taken) const;
    [[nodiscard]] double block_replacement() const;  ///< 0 where unknown
    /// Cycles of an SM that starting one warp takes, for blocks of `warps_of_block` warps; 0 if unknown.
    [[nodiscard]] double start_cycles(int warps_of_block) const;
    /// Cycles that writes add to a read's latency, per unit share of the memory's time that writes take; 0 if unknown.
    [[nodiscard]] double write_delay() const;
    [[nodiscard]] bool dual_issue() const;
    [[nodiscard]] std::int64_t max_outstanding_loads() const;  ///< of one warp; 0: not limited
    /// Bytes of shared memory that a block which asks for `asked` bytes occupies on its SM.
    [[nodiscard]] std::int64_t shared_allocated(std::int64_t asked) const;
    [[nodiscard]] const machine::Machine& machine() const { return machine_; }

    /// Assumptions that costs so far rest on, one sentence each.
    [[nodiscard]] const std::set<std::string>& assumptions() const { return assumptions_; }

private:
    /// The memory that one access of a warp to global or local memory touches.
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
    [[nodiscard]] double served_latency(double memory_latency) const;
    [[nodiscard]] double served_spread(double memory_latency) const;

    const machine::Machine& machine_;
    AccessChoices choices_;
    std::string origin_;
    models::Parameters parameters_;
    std::set<std::string> assumptions_;
};

}  // namespace gputomo::predict
