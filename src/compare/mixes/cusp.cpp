#include "compare/mixes/cusp.hpp"

#include "compare/mixes/judged_mixes.hpp"
#include "models/cusp.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

namespace gputomo::compare {
namespace {

/// A plot leaves out points that are not finite.
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kModel = "volkov-basic";

/// Alphas from 1/8 to 512 in steps of the fourth root of 2. Larger steps would miss the top, beside which the curve is
/// steep.
std::set<double> intensities() {
    std::set<double> all;
    for (int i = -12; i <= 36; ++i) all.insert(std::exp2(i / 4.0));
    return all;
}

std::optional<models::Parameters> parameters_for(const machine::Machine& machine) {
    try {
        return models::parameters_of(machine);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::map<double, double> estimated(const models::Parameters& p) {
    std::map<double, double> warps;
    for (const double alpha : intensities())
        if (const auto needed = models::needed_warps(models::find_model(kModel), p, {alpha, 1})) warps[alpha] = *needed;
    return warps;
}

std::map<double, double> measured(models::Parameters p, const measure::MixSurface& surface) {
    std::map<double, double> warps;
    const auto mixes = judged_mixes(surface, {.chains = 1, .alphas = {}, .every_occupancy = true}, p);
    for (const auto& [alpha, need] : models::measured_needs(p, mixes))
        if (need.warps && alpha > 0 && std::isfinite(alpha)) warps[alpha] = *need.warps;
    return warps;
}

struct Curves {
    std::vector<std::pair<std::string, std::map<double, double>>> all;
    std::vector<std::string> lines;
    void add(const std::string& name, std::map<double, double> warps, bool line) {
        const bool known = std::ranges::any_of(all, [&](const auto& other) { return other.first == name; });
        if (warps.empty() || known) return;
        if (line) lines.push_back(name);
        all.emplace_back(name, std::move(warps));
    }
};

report::TrendPlot plot_of(const Curves& curves) {
    std::set<double> alphas;
    for (const auto& [name, warps] : curves.all)
        for (const auto& [alpha, needed] : warps) alphas.insert(alpha);
    results::Trace trace{.name = "trends/cusp", .experiment = "trends"};
    trace.plot = {.title =
                      "Warps per SM that hide the latencies of one 4-byte load and alpha adds together, by the basic "
                      "model (Volkov 2016, Fig. 4.5); points: "
                      "the fewest that attained 90% of the peak (Fig. 4.6)",
                  .x = "alpha",
                  .log_x = true};
    trace.columns = {{"alpha", "adds per load", {alphas.begin(), alphas.end()}}};
    for (const auto& [name, warps] : curves.all) {
        auto& column = trace.columns.emplace_back(results::Trace::Column{name, "warps per SM", {}});
        trace.plot.y.push_back(name);
        for (const double alpha : alphas) column.values.push_back(warps.contains(alpha) ? warps.at(alpha) : kNothing);
    }
    return {std::move(trace), curves.lines};
}

}  // namespace

std::vector<report::TrendPlot> cusp(const std::vector<std::pair<std::string, machine::Machine>>& machines,
                                    const std::vector<measure::MixSurface>& surfaces) {
    Curves curves;
    for (const auto& [name, machine] : machines) {
        const auto parameters = parameters_for(machine);
        if (!parameters) continue;
        curves.add(name, estimated(*parameters), true);
        for (const auto& surface : surfaces)
            if (surface.gpu == machine.identity.name.value_or(name))
                curves.add(fmt::format("{}, measured", name), measured(*parameters, surface), false);
    }
    if (curves.lines.empty()) return {};
    return {plot_of(curves)};
}

}  // namespace gputomo::compare
