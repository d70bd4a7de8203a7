#include "report/modelled.hpp"

#include "report/parts/text.hpp"
#include "report/plot/element.hpp"
#include "report/plot/vega.hpp"
#include "results/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

namespace gputomo::report {
namespace {

/// Number of mixes that are drawn of each access, evenly spread over the measured ones. Each is a plot: more make
/// the page longer.
constexpr std::size_t kMixes = 6;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kMeasured = "measured";

results::Trace::Column column(std::string_view name, std::string_view unit = "") {
    return {std::string(name), std::string(unit), {}};
}

/// A trace with a column for x, one for what was measured, and one for each model, in the models' order.
results::Trace empty_trace(std::string name, const std::vector<ModelName>& models, results::Trace::Column x,
                           std::string_view unit) {
    results::Trace trace{.name = std::move(name), .experiment = "models"};
    trace.plot.x = x.name;
    trace.columns = {std::move(x), column(kMeasured, unit)};
    for (const auto& model : models) trace.columns.push_back(column(model.id, unit));
    for (std::size_t i = 1; i < trace.columns.size(); ++i) trace.plot.y.push_back(trace.columns[i].name);
    return trace;
}

double or_nothing(const std::map<double, double>& curve, double x) {
    const auto found = curve.find(x);
    return found == curve.end() ? kNothing : found->second;
}

results::Trace mix_trace(const ModelledAccess& access, const ModelledMix& mix, const std::vector<ModelName>& models) {
    auto trace = empty_trace(fmt::format("models/{}_alpha_{:g}", access.id, mix.alpha), models,
                             column("warps", "per SM"), "instructions/cycle");
    trace.plot.title = fmt::format("Throughput over occupancy: adds and {}, alpha {:g}", access.title, mix.alpha);
    std::set<double> warps;
    for (const auto& [count, rate] : mix.measured) warps.insert(count);
    for (const double count : warps) {
        trace.columns[0].values.push_back(count);
        trace.columns[1].values.push_back(or_nothing(mix.measured, count));
        for (std::size_t m = 0; m < models.size(); ++m)
            trace.columns[m + 2].values.push_back(m < mix.estimated.size() ? or_nothing(mix.estimated[m], count)
                                                                           : kNothing);
    }
    return trace;
}

double or_nothing(const std::optional<int>& warps) { return warps ? *warps : kNothing; }

/// The cusp: where arithmetic and accesses both take time, hiding both needs the most warps (Volkov 2016, 4.5).
results::Trace cusp_trace(const ModelledAccess& access, const std::vector<ModelName>& models) {
    auto trace = empty_trace(fmt::format("models/{}_needed", access.id), models, column("alpha", "adds per access"),
                             "warps per SM");
    trace.plot.title = fmt::format(
        "Fewest warps for 90% of the peak over alpha, adds and {}; no point where the most warps that fit do not "
        "attain it "
        "(Volkov 2016, Fig. 4.6)",
        access.title);
    trace.plot.log_x = true;
    for (const auto& mix : access.mixes) {
        trace.columns[0].values.push_back(mix.alpha);
        trace.columns[1].values.push_back(or_nothing(mix.needed_measured));
        for (std::size_t m = 0; m < models.size(); ++m)
            trace.columns[m + 2].values.push_back(m < mix.needed_estimated.size() ? or_nothing(mix.needed_estimated[m])
                                                                                  : kNothing);
    }
    return trace;
}

Overlay overlay_of(const std::vector<ModelName>& models) {
    Overlay overlay;
    for (const auto& model : models) overlay.lines.push_back(model.id), overlay.shown.push_back(model.shown);
    return overlay;
}

std::vector<const ModelledMix*> some_mixes(const std::vector<ModelledMix>& mixes) {
    std::vector<const ModelledMix*> some;
    const auto count = std::min(kMixes, mixes.size());
    for (std::size_t i = 0; i < count; ++i)
        some.push_back(&mixes[count == 1 ? 0 : i * (mixes.size() - 1) / (count - 1)]);
    return some;
}

/// The mix that needs most warps: where neither kind of instruction hides the other's latency alone.
Finding cusp_finding(const ModelledAccess& access) {
    const ModelledMix* most = nullptr;
    for (const auto& mix : access.mixes)
        if (mix.needed_measured && (most == nullptr || *mix.needed_measured > *most->needed_measured)) most = &mix;
    if (most == nullptr) return {};
    return {.title = fmt::format("Most warps are needed with {:g} adds for each of the {}: {}", most->alpha,
                                 access.title, *most->needed_measured),
            .marks = {{Mark::Axis::x, most->alpha, fmt::format("{} warps", *most->needed_measured)}}};
}

Finding mix_finding(const ModelledAccess& access, const ModelledMix& mix) {
    if (mix.measured.empty()) return {};
    const auto top = std::ranges::max_element(mix.measured, {}, [](const auto& point) { return point.second; })->second;
    Finding found{.title = fmt::format("{:g} adds for each of the {}: at most {:.3g} instructions per cycle", mix.alpha,
                                       access.title, top)};
    if (mix.needed_measured) {
        found.title += fmt::format(", 90% of it from {} warps", *mix.needed_measured);
        found.marks.push_back({Mark::Axis::x, static_cast<double>(*mix.needed_measured),
                               fmt::format("90%: {} warps", *mix.needed_measured)});
    }
    return found;
}

std::string access_section(const ModelledAccess& access, const Modelled& modelled) {
    const bool judged = !access.mean_error.empty();
    const auto models = judged ? modelled.models : std::vector<ModelName>{};
    std::string out =
        fmt::format("<section id='{}'><h3>Adds and {}</h3>", anchor("modelled", access.id), escaped(access.title));
    if (!judged) out += fmt::format("<p class=m>Without models: {}</p>", escaped(access.why_no_models));
    out += "<div class=plots>";
    if (judged) out += plot_element(cusp_trace(access, models), overlay_of(models), cusp_finding(access));
    for (const auto* mix : some_mixes(access.mixes))
        out += plot_element(mix_trace(access, *mix, models), overlay_of(models), mix_finding(access, *mix));
    return out + "</div></section>";
}

/// Indices of the models, sorted by their mean error over all accesses.
std::vector<std::size_t> best_first(const Modelled& modelled) {
    std::vector<std::size_t> order(modelled.models.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto error = [&](std::size_t m) {
        double sum = 0;
        for (const auto& access : modelled.accesses) sum += access.mean_error.empty() ? 0 : access.mean_error[m];
        return sum;
    };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return error(a) < error(b); });
    return order;
}

std::string model_table(const Modelled& modelled) {
    std::string out = "<div class=scroll><table class=models><thead><tr><th>model";
    for (const auto& access : modelled.accesses)
        if (!access.mean_error.empty())
            out += fmt::format("<th><a href='#{}'>{}</a>", anchor("modelled", access.id), escaped(access.title));
    out += "<th>what it models</thead><tbody>";
    for (const auto m : best_first(modelled)) {
        const auto& model = modelled.models[m];
        // Without scripts there is nothing to choose.
        if (vega_scripts().empty())
            out += fmt::format("<tr><th scope=row>{}</th>", escaped(model.id));
        else
            out += fmt::format("<tr><th scope=row><label><input type=checkbox data-model='{0}'{1}> {0}</label></th>",
                               escaped(model.id), model.shown ? " checked" : "");
        for (const auto& access : modelled.accesses)
            if (!access.mean_error.empty()) out += fmt::format("<td>{:.1f}%</td>", 100 * (access.mean_error[m] - 1));
        out += fmt::format("<td class=m>{} ({})</td>", escaped(model.title), escaped(model.source));
    }
    return out + "</tbody></table></div>";
}

}  // namespace

std::string modelled_section(const Modelled& modelled) {
    if (modelled.empty()) return {};
    std::string out =
        "<p>Every warp repeats one load, or another "
        "instruction, and alpha adds; each instruction depends on the one before. Points are measured. Lines are "
        "estimates of models that know the latency and the throughput of each kind of instruction alone.";
    const bool judged = std::any_of(modelled.accesses.begin(), modelled.accesses.end(),
                                    [](const auto& access) { return !access.mean_error.empty(); });
    out += judged ? fmt::format(" The table shows the mean error of each over all mixes and occupancies{}:</p>{}",
                                vega_scripts().empty() ? "" : ", and chooses which to draw", model_table(modelled))
                  : "</p>";
    for (const auto& access : modelled.accesses) out += access_section(access, modelled);
    return out;
}

}  // namespace gputomo::report
