// Finds steps of a curve: a change of level on top of a straight line.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gputomo::deduce {

struct Step {
    double last_before = 0;    ///< the x of the last value before the step
    double first_after = 0;    ///< the x of the first value after it
    double height = 0;         ///< in the unit of y
    bool significant = false;  ///< whether scatter around a straight line would not look like such a step
};

/// The least-squares fit of a line with one step. Returns nullopt for fewer than five values. `x` ascends.
[[nodiscard]] std::optional<Step> best_step(std::span<const double> x, std::span<const double> y);

/// The first stair of a staircase: the first rise between neighbours that is at least 0.55 of the largest rise.
/// It is significant if the largest rise stands out from the median one. Returns nullopt for fewer than five values.
[[nodiscard]] std::optional<Step> first_jump(std::span<const double> x, std::span<const double> y);

struct Stairs {
    int width = 0;             ///< x from one step to the next; 0 if no staircase fits better than a line
    double height = 0;         ///< of each step, in the unit of y
    bool significant = false;  ///< as for Step
    double error = 0;          ///< root mean square residual of the staircase
    double error_of_line = 0;  ///< error of a line without steps
};

/// The least-squares fit of a line with a staircase of equal steps, the first of which lies between x = width and
/// x = width + 1. Returns nullopt for fewer than five values. `x` are ascending whole numbers from 1 on.
[[nodiscard]] std::optional<Stairs> best_stairs(std::span<const double> x, std::span<const double> y);

}  // namespace gputomo::deduce
