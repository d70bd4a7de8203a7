// How much all blocks of a grid ask of each unit that performs atomics, and how much of that one SM asks.
#pragma once

#include "costs/atomic_units.hpp"
#include "launch/profile/launch_profile.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace gputomo::predict {

/// What the other SMs ask of the units while an SM asks for a cycle of one of them. They ask for each unit as often as
/// the whole grid does. Even SMs that go through memory in one order do so. Whoever has been served by a busy unit goes
/// on to the next one, and soon all units are used at the same time.
struct AtomicShares {
    double own = 0;             ///< cycles of all units that the SM's blocks ask for
    double others = 0;          ///< cycles of all units that the others ask for, over `own`
    std::vector<double> parts;  ///< by unit: its part of `others`; empty where nothing asks for units
    double largest = 0;         ///< of these parts
};

class AtomicLoad {
public:
    AtomicLoad(const launch::LaunchProfile& profile, const costs::AtomicUnits& units);

    [[nodiscard]] bool empty() const { return most_ == 0; }
    [[nodiscard]] std::size_t unit_of(const launch::TouchedLine& line) const {
        return units_.unit_of(line.line * launch::kTouchedLineBytes);
    }
    /// Cycles for which a request occupies its unit, in the mean over what may come before it there.
    [[nodiscard]] double cycles(const launch::TouchedLine& line, costs::AtomicClass kind) const;
    /// The SM runs `factor` times as many blocks as these, while all SMs run `part` of the grid.
    [[nodiscard]] AtomicShares shares_of(std::span<const launch::BlockTrace> blocks, double factor,
                                         double part = 1) const;
    /// Whether one sector has most of what the busiest unit serves.
    [[nodiscard]] bool is_one_sector() const { return 2 * most_of_sector_ > most_; }
    /// Whether the busiest unit serves far more than the mean one.
    [[nodiscard]] bool is_uneven() const { return most_ > 2 * mean_; }

private:
    const costs::AtomicUnits& units_;
    std::vector<double> requests_;                         ///< by unit
    std::unordered_map<std::uint64_t, double> of_sector_;  ///< those with more than one request
    double most_ = 0, mean_ = 0, most_of_sector_ = 0;
};

}  // namespace gputomo::predict
