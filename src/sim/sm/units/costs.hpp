// How long each operation takes and which units can run it, from machine.operations and machine.pipelines.
#pragma once

#include "machine/machine.hpp"
#include "sim/memory/global_loads.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sim {

/// One execution unit that can take an operation.
struct UnitUse {
    std::uint16_t unit = 0;
    double interval = 0;  ///< cycles for which one step of a warp keeps the scheduler's share, or the SM's unit, busy
};

struct Cost {
    double latency = 0;          ///< of one step
    double last_latency = 0;     ///< of the last step, which includes the remainder of the division into steps
    double whole_warp = 0;       ///< cycles added where both halves of a warp take part (Volkov 2016, 6.1)
    double value_latency = 0;    ///< of MATCH.ANY: cycles for each further value that the threads have
    double value_interval = 0;   ///< and for which a further value keeps the unit busy
    double to_cores = 0;         ///< cycles by which the result comes later for the CUDA cores; negative where it comes
                                 ///< earlier (Volkov 2016, 4.7)
    std::uint32_t steps = 1;     ///< dependent machine instructions
    double issue_slots = 1;      ///< issue slots that each step takes
    std::vector<UnitUse> units;  ///< alternatives
    double beside = 0;           ///< of a product of a warp group: cycles between arithmetic instructions beside it
    bool on_cores = false;       ///< runs on the CUDA cores: its first unit also adds integers or floats
};

class CostModel {
public:
    /// Throws InputError when the description has no operations, or a unit without lanes.
    explicit CostModel(const machine::Machine& machine);

    /// The cost of a PTX mnemonic: its own row of machine.operations, else the nearest described one of its family
    /// (machine/relatives.hpp). An operation without a described unit has a unit of its own. Throws InputError naming
    /// the mnemonic when no row of the family is described, or the leaf that the row lacks.
    [[nodiscard]] Cost cost_of(const std::string& mnemonic) const;

    [[nodiscard]] std::size_t unit_count() const { return units_.size(); }
    [[nodiscard]] std::uint32_t schedulers() const { return schedulers_; }
    [[nodiscard]] const GlobalLoads& global_loads() const { return global_loads_; }
    /// The unit of a described pipeline; nothing where the description has none of that name.
    [[nodiscard]] std::optional<std::size_t> pipeline_named(std::string_view name) const;
    /// A unit that machine code names and that is no described pipeline; nothing where there is none of that name.
    [[nodiscard]] std::optional<std::size_t> machine_unit(std::string_view name) const;
    [[nodiscard]] const std::string& name_of(std::size_t unit) const { return units_[unit]; }
    /// What the description says of a pipeline.
    [[nodiscard]] std::optional<double> latency_of(std::string_view pipeline) const;
    [[nodiscard]] double lanes_of(std::size_t pipeline) const { return lanes_[pipeline]; }
    [[nodiscard]] double slots_of_unit(std::size_t pipeline) const { return slots_[pipeline]; }
    [[nodiscard]] double to_cores_of(std::size_t pipeline) const { return to_cores_[pipeline]; }
    /// Whether all schedulers of an SM feed this unit together, instead of a share of it each.
    [[nodiscard]] bool is_shared(std::size_t unit) const { return unit < shared_.size() && shared_[unit]; }

private:
    [[nodiscard]] Cost row_cost(const std::string& key, const machine::Operation& row) const;

    [[nodiscard]] std::vector<std::string> units_of(const std::string& key, const machine::Operation& row) const;
    [[nodiscard]] std::size_t unit_named(const std::string& name, const std::string& path) const;

    const machine::Machine& machine_;
    std::uint32_t schedulers_ = 1;
    GlobalLoads global_loads_;
    std::vector<std::string> units_;  ///< pipelines, then those of single operations
    std::vector<double> lanes_;       ///< of the pipelines, per SM
    std::vector<bool> shared_;        ///< of the pipelines, by all schedulers
    std::vector<double> slots_;       ///< of the pipelines, for one instruction
    std::vector<double>
        whole_warp_;                ///< cycles by which the pipelines are slower with a whole warp than with one thread
    std::vector<double> to_cores_;  ///< cycles by which the results of the pipelines come later for the CUDA cores
    std::vector<std::string> cores_;  ///< the units of additions
};

}  // namespace gputomo::sim
