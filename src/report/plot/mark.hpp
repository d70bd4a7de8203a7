// A line across a plot at the value that the plot's title names.
#pragma once

#include <string>
#include <vector>

namespace gputomo::report {

struct Mark {
    enum class Axis { x, y } axis = Axis::x;
    double at = 0;
    std::string label;  ///< a few words beside the line
};

/// What a plot shows, beside what is plotted.
struct Finding {
    std::string title{};  ///< "L1: 32 cycles up to 233 KiB"; empty where nothing is known to say
    std::string what{};   ///< what is plotted, in place of the trace's own title; empty to keep that
    std::vector<Mark> marks{};
};

}  // namespace gputomo::report
