// Finds what a full table counts from the first latency step of each curve: in the right unit, all curves step at the
// same number of entries.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"
#include "deduce/series/change_point.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// The range of table sizes that explains the most first steps, if each `unit` occupies one entry.
struct StepVotes {
    OutstandingUnit unit = OutstandingUnit::none;
    int least_entries = 0;
    int most_entries = 0;
    int explained = 0;     ///< curves whose first step lies at such a size
    int contradicted = 0;  ///< curves that step elsewhere, or that go far beyond such a size without a step
};

/// One entry each for threads, sectors, lines and instructions, the best explanation first. Launches that take longer
/// than a larger launch of their curve are outliers and left out.
[[nodiscard]] std::vector<StepVotes> step_votes(std::span<const OutstandingPoint> points);

/// Indices of the launches that are no outliers. `cycles` are times of launches with ever more requests, so a time that
/// a later one clearly undercuts is an outlier.
[[nodiscard]] std::vector<std::size_t> without_outliers(std::span<const double> cycles);
/// Drops the outliers of each curve.
[[nodiscard]] std::vector<OutstandingPoint> without_outliers(std::span<const OutstandingPoint> points);

/// The first step of one curve over `x` occupied entries. nullopt if no rise is much larger than the curve's others.
[[nodiscard]] std::optional<Step> first_step(std::span<const double> x, std::span<const double> cycles);

}  // namespace gputomo::deduce
