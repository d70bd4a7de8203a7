// Where a curve steps up: one change of level on top of a straight line.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gputomo::deduce {

struct Step {
    double last_before = 0;  ///< the x of the last value before the step
    double first_after = 0;
    double height = 0;
    bool significant = false;  ///< far above what the best step in mere scatter around a line would be
};

/// The line with one step that leaves the least squares; nothing for fewer than five values. `x` ascends.
[[nodiscard]] std::optional<Step> best_step(std::span<const double> x, std::span<const double> y);

/// The first of the large rises from one value to the next (at least half as large as the largest), significant where
/// the largest stands out from what values mostly rise by; nothing for fewer than five values. Finds the first stair of
/// a staircase.
[[nodiscard]] std::optional<Step> first_jump(std::span<const double> x, std::span<const double> y);

struct Stairs {
    int width = 0;  ///< from one step to the next
    double height = 0;
    bool significant = false;  ///< as of Step
    double error = 0;          ///< root of the mean square that they leave, and that a line without steps leaves
    double error_of_line = 0;
};

/// The line with a staircase of equal steps, from x = width to width + 1 and so on, that leaves the least squares;
/// nothing for fewer than five values. `x` ascends and are whole numbers from 1 on.
[[nodiscard]] std::optional<Stairs> best_stairs(std::span<const double> x, std::span<const double> y);

}  // namespace gputomo::deduce
