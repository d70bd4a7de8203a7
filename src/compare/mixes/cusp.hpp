// Warps needed to hide latency against arithmetic intensity, one line per GPU, for a comparison report.
#pragma once

#include "machine/machine.hpp"
#include "measure/mix/mix_surface.hpp"
#include "report/compare/page.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gputomo::compare {

/// Returns a plot of the warps per SM that hide the latencies of one 4-byte load and alpha adds together. Each machine
/// with enough parameters has a line from the basic model (Volkov 2016, Fig. 4.5). A surface of streaming loads adds
/// points: the fewest warps that attained 90% of the peak (Fig. 4.6). Empty where no machine has enough parameters.
[[nodiscard]] std::vector<report::TrendPlot> cusp(const std::vector<std::pair<std::string, machine::Machine>>& machines,
                                                  const std::vector<measure::MixSurface>& surfaces);

}  // namespace gputomo::compare
