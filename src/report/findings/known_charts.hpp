// The charts that are known by name: which leaf each shows.
#pragma once

#include "report/parts/text.hpp"
#include "report/plot/mark.hpp"
#include "results/trace.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gputomo::report {

/// A trace that is plotted, the description it belongs to, and the part of its name that the row's `*` stands for.
struct Chart {
    const results::Trace& trace;
    const Facts& facts;
    std::string key;
};

/// A row: the name of a trace, with at most one `*` for any text, and what its chart shows. A chart whose leaf is
/// missing has an empty title.
struct KnownChart {
    std::string_view name;
    Finding (*finding)(const Chart& chart);
};
[[nodiscard]] std::span<const KnownChart> known_charts();

}  // namespace gputomo::report
