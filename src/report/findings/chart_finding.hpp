// What a chart shows, in one sentence, and the lines that mark it: read from the trace and the description.
#pragma once

#include "report/parts/text.hpp"
#include "report/plot/mark.hpp"
#include "results/trace.hpp"

namespace gputomo::report {

/// The finding of a trace that is plotted. Charts that are known by name (known_charts.cpp) say which leaf they show;
/// any other says where its first curve starts, ends or is highest. The title is empty where nothing is drawn.
[[nodiscard]] Finding finding_of(const results::Trace& trace, const Facts& facts);

}  // namespace gputomo::report
