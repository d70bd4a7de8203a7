// A trace's plot in a page: a static picture that a script replaces by one that zooms, where the scripts were there at build time.
#pragma once

#include "deduce/estimate.hpp"

#include <string>
#include <vector>

namespace gputomo::report {

/// A figure with the static picture and, with scripts, the thinned data. Empty where there is nothing to draw.
[[nodiscard]] std::string plot_element(const deduce::Trace& trace);

/// Vega, Vega-Lite and what turns each figure into a zoomable plot once it comes into view. Empty where no trace has a plot or the build has no scripts.
[[nodiscard]] std::string plot_scripts(const std::vector<deduce::Trace>& traces);

}  // namespace gputomo::report
