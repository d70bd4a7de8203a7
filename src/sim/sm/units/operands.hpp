// Operands: when the registers that an instruction reads are ready, and what reading them costs.
#pragma once

#include "costs/register_ports.hpp"
#include "machine/machine.hpp"
#include "sim/exec/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gputomo::sim {

struct OperandSpec {
    costs::RegisterFile file;
    std::size_t load_limit = 0;  ///< outstanding loads of a warp (issue.scoreboard_loads); 0: no limit
};
[[nodiscard]] OperandSpec operand_spec_of(const machine::Machine& machine);

// ---- bank conflicts ------------------------------------------------------------------------------------------------

/// What each operation of a PTX program reads. PTX has no register allocation: declared registers are numbered as they
/// are declared, 64-bit ones from an even number on. Numbers start again at 0 after 256, which keeps their banks.
[[nodiscard]] std::vector<costs::OperandReads> operand_reads(const Program& program);

// ---- scoreboard ----------------------------------------------------------------------------------------------------

/// The state of one warp.
struct Scoreboard {
    std::vector<double> ready;            ///< by register slot: when its value can be used
    std::vector<double> ready_for_cores;  ///< the same for instructions of the CUDA cores (Volkov 2016, 4.7)
    std::vector<double> loads;            ///< completion of outstanding loads, where load_limit counts them
    double memory_done = 0;               ///< completion of all memory accesses so far, for fences
};

inline void reset(Scoreboard& scoreboard, std::size_t slots, double now) {
    scoreboard.ready.assign(slots, now);
    scoreboard.ready_for_cores.assign(slots, now);
    scoreboard.loads.clear();
    scoreboard.memory_done = now;
}

/// The cycle at which all `registers` are ready; `when` where they are ready before.
[[nodiscard]] inline double operands_ready(const Scoreboard& scoreboard, std::span<const std::uint16_t> registers,
                                           bool on_cores, double when) {
    const auto& ready = on_cores ? scoreboard.ready_for_cores : scoreboard.ready;
    for (const auto slot : registers) when = std::max(when, ready[slot]);
    return when;
}

/// The results of an instruction are ready at `when`, and for the CUDA cores `later_for_cores` cycles after that
/// (before it where negative).
inline void write_back(Scoreboard& scoreboard, std::span<const std::uint16_t> registers, double when,
                       double later_for_cores = 0) {
    for (const auto slot : registers) {
        scoreboard.ready[slot] = when;
        scoreboard.ready_for_cores[slot] = when + later_for_cores;
    }
}

/// The cycle, from `when` on, at which the warp has fewer than `limit` outstanding loads. Forgets loads that are done.
[[nodiscard]] double load_allowed(Scoreboard& scoreboard, std::size_t limit, double when);

/// One line for the report of a deadlock.
[[nodiscard]] std::string describe(const Scoreboard& scoreboard);

}  // namespace gputomo::sim
