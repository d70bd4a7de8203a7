// The comparison report: machine descriptions side by side, their differences, and trends over generations.
#pragma once

#include "machine/machine.hpp"
#include "results/trace.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gputomo::report {

/// A plot below the trends.
struct TrendPlot {
    results::Trace trace;
    std::vector<std::string> lines;  ///< names of the y columns that are drawn as lines; the others are drawn as points
};

/// Returns one self-contained HTML page of two or more named machines. Machines with the same name are numbered.
[[nodiscard]] std::string comparison(const std::vector<std::pair<std::string, machine::Machine>>& machines,
                                     const std::vector<TrendPlot>& plots = {});

/// Returns the section of a GPU's report that lists where it differs from an earlier GPU; empty where nothing does.
[[nodiscard]] std::string differences(const std::pair<std::string, const machine::Machine*>& gpu,
                                      const std::pair<std::string, const machine::Machine*>& earlier);

}  // namespace gputomo::report
