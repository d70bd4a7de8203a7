#include "report/plot/element.hpp"

#include "report/parts/text.hpp"
#include "report/plot/axis.hpp"
#include "report/plot/drawer.hpp"
#include "report/plot/series.hpp"
#include "report/plot/svg.hpp"
#include "report/plot/vega.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace gputomo::report {
namespace {

/// Seven digits are more than a screen shows.
nlohmann::ordered_json digits(double value) { return nlohmann::ordered_json::parse(fmt::format("{:.7g}", value)); }

nlohmann::ordered_json axis_json(const results::Trace::Column& column, bool log, bool zero) {
    const auto ticks = ticks_of(column);
    return {{"title", axis_title(column)},
            {"unit", shown_unit(column)},
            {"ticks", ticks == Ticks::binary  ? "binary"
                      : ticks == Ticks::whole ? "whole"
                                              : "decimal"},
            {"log", log},
            {"zero", zero}};
}

/// The round sizes of an axis in bytes, which a script would choose in powers of ten.
nlohmann::ordered_json sizes(const std::vector<Series>& series, bool log, bool across) {
    Range range;
    for (const auto& s : series)
        for (const auto i : s.points) range.add((across ? s.x : s.y)->values[i]);
    if (!across && !log) range.low = std::min(range.low, 0.0);
    nlohmann::ordered_json ticks = nlohmann::ordered_json::array();
    for (const double tick : Axis(range.low, range.high, log, 0, 1, Ticks::binary).ticks())
        ticks.push_back(digits(tick));
    return ticks;
}

/// The data that drawer.js reads.
std::string data_json(const results::Trace& trace, const std::vector<Series>& series, const Overlay& overlay,
                      const std::vector<Mark>& marks) {
    nlohmann::ordered_json json{{"x", axis_json(*series.front().x, trace.plot.log_x, false)},
                                {"y", axis_json(*series.front().y, trace.plot.log_y, true)},
                                {"line", true},
                                {"split", !trace.plot.split.empty()},
                                {"series", nlohmann::ordered_json::array()}};
    for (const auto& s : series) {
        nlohmann::ordered_json xs = nlohmann::ordered_json::array(), ys = nlohmann::ordered_json::array(), shades = ys,
                               untils = ys;
        double last = -std::numeric_limits<double>::infinity();
        for (const auto i : s.points) {
            if (s.x->values[i] <= last)
                json["line"] = false;  // x does not rise, so a line would cross itself: only points are drawn
            last = s.x->values[i];
            xs.push_back(digits(last));
            ys.push_back(digits(s.y->values[i]));
            if (s.shade != nullptr) shades.push_back(digits(s.shade->values[i]));
            if (s.until != nullptr) untils.push_back(digits(s.until->values[i]));
        }
        json["series"].push_back({{"name", overlay.has(s.name) ? s.name : in_words(s.name)}, {"x", xs}, {"y", ys}});
        if (overlay.has(s.name)) json["series"].back()["as"] = "line";
        if (s.shade != nullptr)
            json["series"].back()["shade"] = shades, json["shade"] = axis_json(*s.shade, false, false);
        if (s.until != nullptr)
            json["series"].back()["until"] = untils, json["until"] = axis_json(*s.until, false, false);
    }
    for (const bool across : {true, false}) {
        auto& axis = json[across ? "x" : "y"];
        if (axis["ticks"] == "binary")
            axis["values"] = sizes(series, across ? trace.plot.log_x : trace.plot.log_y, across);
    }
    for (const auto& mark : marks)
        json["marks"].push_back({{mark.axis == Mark::Axis::x ? "x" : "y", digits(mark.at)}, {"label", mark.label}});
    if (!overlay.lines.empty()) json["models"] = overlay.lines;
    auto text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at))
        text.replace(at, 1, "\\u003c");  // so that no "</script>" ends the element
    return text;
}

/// The trace without the lines that are not drawn before the reader chooses.
results::Trace at_first(const results::Trace& trace, const Overlay& overlay) {
    auto first = trace;
    for (std::size_t i = 0; i < overlay.lines.size(); ++i)
        if (!overlay.shown[i]) std::erase(first.plot.y, overlay.lines[i]);
    return first;
}

}  // namespace

bool Overlay::has(std::string_view series) const {
    return std::find(lines.begin(), lines.end(), series) != lines.end();
}

std::string plot_element(const results::Trace& trace, const Overlay& overlay, const Finding& finding) {
    const auto picture = svg(at_first(trace, overlay), overlay.lines, finding.marks);
    if (picture.empty()) return {};
    const auto& what = finding.what.empty() ? trace.plot.title : finding.what;
    const auto series = series_of(trace);
    std::string note;
    const auto kept = series.front().points.size(), all = series.front().x->values.size();
    if (series.front().thinned) note = fmt::format("; {} of {} points, those that are visible at this size", kept, all);
    std::string out =
        fmt::format("<figure id='{}'>{}<div class=plot data-name='{}'{}>{}</div>", anchor("trace", trace.name),
                    finding.title.empty() ? "" : fmt::format("<p class=finding>{}</p>", escaped(finding.title)),
                    anchor("plot", trace.name), overlay.lines.empty() ? "" : " data-models=yes", picture);
    if (!vega_scripts().empty())
        out += fmt::format("<script type='application/json'>{}</script>",
                           data_json(trace, series, overlay, finding.marks));
    return out + fmt::format("<figcaption>{} ({}{})</figcaption></figure>", escaped(what), escaped(trace.name), note);
}

std::string plot_scripts(std::string_view page) {
    if (vega_scripts().empty() || page.find("<div class=plot ") == std::string_view::npos) return {};
    return fmt::format(
        "<p class=m>Plots: drag to move, Ctrl + wheel to zoom, double-click to reset. Drawn with "
        "Vega-Lite.</p><script>{}</script><script>{}</script>",
        vega_scripts(), drawer_script());
}

}  // namespace gputomo::report
