// A trace's plot in a page: a static picture that a script replaces by one that zooms, where the scripts were there at
// build time.
#pragma once

#include "results/estimate.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// Series that are lines without points over the others, and that a page's check boxes (data-model='NAME') choose.
struct Overlay {
    std::vector<std::string> lines;  ///< names of y columns, in the order of their colours
    std::vector<bool> shown;         ///< of each, at first
    [[nodiscard]] bool has(std::string_view series) const;
};

/// A figure with the static picture and, with scripts, the thinned data. Empty where there is nothing to draw.
[[nodiscard]] std::string plot_element(const results::Trace& trace, const Overlay& overlay = {});

/// Vega, Vega-Lite and what turns each figure into a zoomable plot once it comes into view. Empty where `page` has no
/// plot or the build has no scripts.
[[nodiscard]] std::string plot_scripts(std::string_view page);

}  // namespace gputomo::report
