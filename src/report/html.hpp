// report.html: one self-contained file with the machine description and the plots it was deduced from.
#pragma once

#include "deduce/estimate.hpp"
#include "machine/machine.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

struct Page {
    std::string device;                 ///< "NVIDIA H200 (cuda:0)"
    std::vector<std::string> warnings;
    std::vector<deduce::Trace> traces;  ///< those with a plot are drawn
};

[[nodiscard]] std::string html(const machine::Machine& machine, const Page& page);

/// What each of gputomo's pages begins with: the head, its style and a heading.
[[nodiscard]] std::string page_start(std::string_view title);

/// Text made safe between tags and in attributes.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace gputomo::report
