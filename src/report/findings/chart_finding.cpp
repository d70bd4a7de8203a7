#include "report/findings/chart_finding.hpp"

#include "report/findings/curve.hpp"
#include "report/findings/known_charts.hpp"
#include "report/plot/series.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace gputomo::report {
namespace {

/// The text that stands for the `*` of a pattern; nullopt where the name does not fit it.
std::optional<std::string> matched(std::string_view pattern, std::string_view name) {
    const auto star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name ? std::optional<std::string>("") : std::nullopt;
    const auto before = pattern.substr(0, star), after = pattern.substr(star + 1);
    if (name.size() < before.size() + after.size() || !name.starts_with(before) || !name.ends_with(after))
        return std::nullopt;
    return std::string(name.substr(before.size(), name.size() - before.size() - after.size()));
}

/// The title of a chart that no row names: the shape of its first curve, or the range of its colours.
Finding shape(const results::Trace& trace) {
    const auto series = series_of(trace);
    if (series.empty() || series.front().until != nullptr) return {};
    const auto& first = series.front();
    if (first.shade != nullptr) {
        Range range;
        for (const auto i : first.points) range.add(first.shade->values[i]);
        return {.title = fmt::format("{}: {} to {}", in_words(first.shade->name), amount(range.low, *first.shade),
                                     amount(range.high, *first.shade))};
    }
    Finding found;
    if (trace.plot.split.empty() || series.size() == 1) {
        const Curve curve(trace, first.x->name, first.y->name);
        found.title = shape_of(curve, in_words(first.y->name));
        if (is_rate(*first.y) && !curve.empty())
            found.marks.push_back({Mark::Axis::y, curve.highest().second, amount(curve.highest().second, *first.y)});
        return found;
    }
    for (const double value : values_of(trace, trace.plot.split)) {
        const Curve curve(trace, first.x->name, first.y->name, trace.plot.split, value);
        if (curve.empty()) continue;
        const auto top = curve.highest(), low = curve.lowest();
        const auto* const named = trace.column(trace.plot.split);
        const auto part =
            is_rate(*first.y) ? fmt::format("at most {}", amount(top.second, *first.y))
            : low.second == top.second
                ? amount(top.second, *first.y)
                : fmt::format("{} to {}", number_text(low.second, machine::Unit::none), amount(top.second, *first.y));
        found.title += fmt::format("{}{}: {}", found.title.empty() ? "" : "; ", name_of_value(*named, value), part);
    }
    return found;
}

/// Lines at the first and the last value of the first curve, for a finding that names no other value. A map and a
/// timeline have no curve.
std::vector<Mark> ends(const results::Trace& trace) {
    const auto series = series_of(trace);
    if (series.front().shade != nullptr || series.front().until != nullptr || !trace.plot.split.empty()) return {};
    const Curve curve(trace, series.front().x->name, series.front().y->name);
    if (curve.empty()) return {};
    std::vector<Mark> marks;
    for (const double value : {curve.first().second, curve.last().second})
        if (marks.empty() || value != marks.front().at)
            marks.push_back({Mark::Axis::y, value, amount(value, curve.y())});
    return marks;
}

}  // namespace

Finding finding_of(const results::Trace& trace, const Facts& facts) {
    if (series_of(trace).empty()) return {};
    auto found = shape(trace);
    for (const auto& known : known_charts())
        if (const auto key = matched(known.name, trace.name)) {
            auto own = known.finding({trace, facts, *key});
            if (own.title.empty()) own.title = found.title;
            found = std::move(own);
            break;
        }
    if (found.marks.empty()) found.marks = ends(trace);
    return found;
}

}  // namespace gputomo::report
