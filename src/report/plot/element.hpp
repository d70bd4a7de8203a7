// A plot in a page: a static picture, which a script replaces with one that zooms where the build has the scripts.
#pragma once

#include "report/plot/mark.hpp"
#include "results/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// Series that are drawn as lines over the others. The page's check boxes (data-model='NAME') choose among them.
struct Overlay {
    std::vector<std::string> lines;  ///< names of y columns, in the order of their colours
    std::vector<bool> shown;         ///< whether each line is drawn before the reader chooses
    [[nodiscard]] bool has(std::string_view series) const;
};

/// Returns a figure with the finding as its title, the static picture and, where the build has the scripts, the data.
/// Empty where the trace has no plot.
[[nodiscard]] std::string plot_element(const results::Trace& trace, const Overlay& overlay = {},
                                       const Finding& finding = {});

/// Returns the script elements that turn each figure into a zoomable plot. Empty where `page` has no plot or the build
/// has no scripts.
[[nodiscard]] std::string plot_scripts(std::string_view page);

}  // namespace gputomo::report
