#include "report/plot/element.hpp"

#include "report/parts/text.hpp"
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

nlohmann::ordered_json axis_json(const results::Trace::Column& column, bool log, bool zero) {
    return {{"name", column.name}, {"unit", shown_unit(column.unit)}, {"log", log}, {"zero", zero}};
}

/// The data that drawer.js reads. Seven digits are more than a screen shows.
std::string data_json(const results::Trace& trace, const std::vector<Series>& series, const Overlay& overlay) {
    const auto digits = [](double value) { return nlohmann::ordered_json::parse(fmt::format("{:.7g}", value)); };
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
        json["series"].push_back({{"name", s.name}, {"x", xs}, {"y", ys}});
        if (overlay.has(s.name)) json["series"].back()["as"] = "line";
        if (s.shade != nullptr)
            json["series"].back()["shade"] = shades, json["shade"] = axis_json(*s.shade, false, false);
        if (s.until != nullptr)
            json["series"].back()["until"] = untils, json["until"] = axis_json(*s.until, false, false);
    }
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

std::string plot_element(const results::Trace& trace, const Overlay& overlay) {
    const auto picture = svg(at_first(trace, overlay), overlay.lines);
    if (picture.empty()) return {};
    const auto series = series_of(trace);
    std::string note;
    const auto kept = series.front().points.size(), all = series.front().x->values.size();
    if (series.front().thinned) note = fmt::format("; {} of {} points, those that are visible at this size", kept, all);
    std::string out =
        fmt::format("<figure id='{}'><div class=plot data-name='{}'{}>{}</div>", anchor("trace", trace.name),
                    anchor("plot", trace.name), overlay.lines.empty() ? "" : " data-models=yes", picture);
    if (!vega_scripts().empty())
        out += fmt::format("<script type='application/json'>{}</script>", data_json(trace, series, overlay));
    return out + fmt::format("<figcaption>{} ({}{})</figcaption></figure>", escaped(trace.plot.title),
                             escaped(trace.name), note);
}

std::string plot_scripts(std::string_view page) {
    if (vega_scripts().empty() || page.find("<div class=plot ") == std::string_view::npos) return {};
    return fmt::format(
        "<p class=m>Plots: drag to move, Ctrl + wheel to zoom, double-click to reset. Drawn with "
        "Vega-Lite.</p><script>{}</script><script>{}</script>",
        vega_scripts(), drawer_script());
}

}  // namespace gputomo::report
