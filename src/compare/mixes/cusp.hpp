// Warps needed against arithmetic intensity, GPU by GPU, for a comparison.
#pragma once

#include "machine/machine.hpp"
#include "measure/mix/mix_surface.hpp"
#include "report/compare/page.hpp"

#include <string>
#include <utility>
#include <vector>

namespace gputomo::compare {

/// Warps of an SM that hide the latencies of one 4-byte load and alpha adds at once, by the basic model (Volkov 2016,
/// Fig. 4.5), of each machine that says enough; and the fewest that attained 90% of the peak where a surface of
/// streaming loads was measured (Fig. 4.6). Empty where no machine says enough.
[[nodiscard]] std::vector<report::TrendPlot> cusp(const std::vector<std::pair<std::string, machine::Machine>>& machines,
                                                  const std::vector<measure::MixSurface>& surfaces);

}  // namespace gputomo::compare
