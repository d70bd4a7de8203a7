// The comparison report: machine descriptions side by side, what differs, and how it changed over generations.
#pragma once

#include "machine/machine.hpp"
#include "results/estimate.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gputomo::report {

/// A plot under the trends.
struct TrendPlot {
    results::Trace trace;
    std::vector<std::string> lines;  ///< y columns that are drawn as lines; the others are points
};

/// One self-contained HTML page of two machines and more, each with its name. Machines of the same name are numbered.
[[nodiscard]] std::string comparison(const std::vector<std::pair<std::string, machine::Machine>>& machines,
                                     const std::vector<TrendPlot>& plots = {});

/// A section of a GPU's report: where it differs from an earlier one; empty where nothing does.
[[nodiscard]] std::string differences(const std::pair<std::string, const machine::Machine*>& gpu,
                                      const std::pair<std::string, const machine::Machine*>& earlier);

}  // namespace gputomo::report
