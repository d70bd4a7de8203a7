// Tables of outstanding requests put to the test: does latency step up at the launches where each table would be full?
#pragma once

#include "deduce/in_flight/outstanding_fit.hpp"
#include "experiments/outstanding/setup.hpp"

#include <limits>
#include <vector>

namespace gputomo::experiments::outstanding {

/// A table, and how many of the steps that it predicts were found.
struct Prediction {
    deduce::OutstandingUnit unit = deduce::OutstandingUnit::none;
    int entries = 0;
    int tried = 0;
    int right = 0;
    /// Fewest and most entries that explain all the steps that were found.
    int least = 1, most = std::numeric_limits<int>::max();
    [[nodiscard]] double share() const { return tried == 0 ? 0 : static_cast<double>(right) / tried; }
};

/// A table of lines (MSHRs) and a table of instructions (PRT), the one with the larger share of right predictions
/// first. Each has the number of entries that the first steps of the curves suggest, or that of the fitted model if
/// this differs and predicts better.
[[nodiscard]] std::vector<Prediction> test_tables(Setup& setup, const std::vector<deduce::OutstandingFit>& fits);

}  // namespace gputomo::experiments::outstanding
