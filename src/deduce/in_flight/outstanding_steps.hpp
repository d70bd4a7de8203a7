// What fills up where latency first steps up? Every curve of a surface says between which numbers of threads it does;
// in the right unit all say the same number.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"
#include "deduce/series/change_point.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// Numbers of entries with which a table of this unit explains the most first steps.
struct StepVotes {
    OutstandingUnit unit = OutstandingUnit::none;
    int least_entries = 0;
    int most_entries = 0;
    int explained = 0;     ///< curves whose first step they explain ...
    int contradicted = 0;  ///< ... and those with a first step elsewhere, or none though they go further
};

/// For threads, sectors, lines and instructions, the best first. Points that take longer than a larger launch of their
/// curve are accidents and left out.
[[nodiscard]] std::vector<StepVotes> step_votes(std::span<const OutstandingPoint> points);

/// Which values no later one is clearly below: of launches of more and more requests, those without accidents.
[[nodiscard]] std::vector<std::size_t> without_outliers(std::span<const double> cycles);
/// The points that are so within their curve.
[[nodiscard]] std::vector<OutstandingPoint> without_outliers(std::span<const OutstandingPoint> points);

/// The first step of one curve, between which numbers `x` of units; nothing where no rise is much larger than the
/// curve's others.
[[nodiscard]] std::optional<Step> first_step(std::span<const double> x, std::span<const double> cycles);

}  // namespace gputomo::deduce
