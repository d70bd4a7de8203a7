// An evaluation of models as a table for the terminal and as JSON.
#include "compare/mixes/evaluation.hpp"

#include "compare/finite.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>

namespace gputomo::compare {
namespace {

using Json = nlohmann::ordered_json;
using Text = std::back_insert_iterator<std::string>;

Json warps_json(const std::optional<int>& warps) { return warps ? Json(*warps) : Json(); }

Json cusps_json(const std::vector<NeededWarps>& all) {
    Json cusps = Json::array();
    for (const auto& [source, needs] : all) {
        Json by_alpha = Json::array();
        for (const auto& [alpha, need] : needs)
            by_alpha.push_back({{"alpha", std::isfinite(alpha) ? Json(alpha) : Json("adds alone")},
                                {"warps", warps_json(need.warps)},
                                {"attained", need.attained}});
        Json row{{"of", source}, {"needed", by_alpha}};
        if (const auto cusp = models::cusp_of(needs))
            row.update({{"warps", warps_json(cusp->warps)},
                        {"attained", cusp->attained},
                        {"alpha", finite(cusp->alpha)},
                        {"first_alpha", finite(cusp->first_alpha)},
                        {"last_alpha", finite(cusp->last_alpha)},
                        {"above_both_ends", cusp->above_both_ends}});
        cusps.push_back(std::move(row));
    }
    return cusps;
}

std::string warps_text(const std::optional<int>& warps) { return warps ? fmt::to_string(*warps) : "-"; }
std::string alpha_text(double alpha) { return std::isfinite(alpha) ? fmt::format("{:.4g}", alpha) : "adds"; }

std::string cusp_text(const models::Cusp& cusp) {
    const bool several = cusp.first_alpha < cusp.last_alpha;
    const auto range = alpha_text(cusp.first_alpha) + " to " + alpha_text(cusp.last_alpha);
    std::string text;
    if (cusp.warps)
        text = fmt::format("{} warps, alpha {}", *cusp.warps, several ? range : alpha_text(cusp.alpha));
    else
        text =
            fmt::format("no tried number of warps is enough, alpha {}: {:.0f}% of the peak{}", alpha_text(cusp.alpha),
                        100 * cusp.attained, several ? ", nor anywhere from alpha " + range : "");
    return text + (cusp.above_both_ends ? "" : "; no more than at one of the ends, so there is no cusp");
}

void append_ratios(Text out, const MixEvaluation& evaluation) {
    fmt::format_to(out,
                   "{}: estimated over measured throughput (smallest and largest over occupancies), and warps per SM "
                   "needed for {:.0f}% of the peak\n",
                   evaluation.parameters.gpu, 100 * models::kHidden);
    std::string_view model;
    for (const auto& e : evaluation.models) {
        if (e.model != model)
            fmt::format_to(out, "\n{}\n  {:>6} {:>9} {:>9} {:>9} {:>9}\n", e.model, "alpha", "smallest", "largest",
                           "needed", "measured");
        model = e.model;
        fmt::format_to(out, "  {:>6} {:>9.3f} {:>9.3f} {:>9} {:>9}\n", e.mix.alpha, e.smallest, e.largest,
                       warps_text(e.needed_estimated), warps_text(e.needed_measured));
    }
    fmt::format_to(out,
                   "\nall mixes together; the mean error is the ratio or its reciprocal, whichever is larger, so 1 is "
                   "exact\n  {:<22} {:>9} {:>9} {:>10}\n",
                   "model", "smallest", "largest", "mean error");
    for (const auto& error : models::overall(evaluation.models))
        fmt::format_to(out, "  {:<22} {:>9.3f} {:>9.3f} {:>10.3f}\n", error.model, error.smallest, error.largest,
                       error.mean_error);
}

void append_needed(Text out, const std::vector<NeededWarps>& all) {
    fmt::format_to(
        out,
        "\nwarps per SM needed for {:.0f}% of the peak, and the largest share of it that was attained (Volkov "
        "2016, Fig. 4.6)\n  {:>6} {:>9} {:>9}",
        100 * models::kHidden, "alpha", "measured", "attained");
    for (std::size_t i = 1; i < all.size(); ++i) fmt::format_to(out, " {:>18}", all[i].source);
    for (const auto& [alpha, need] : all.front().needs) {
        fmt::format_to(out, "\n  {:>6} {:>9} {:>9.3f}", alpha_text(alpha), warps_text(need.warps), need.attained);
        for (std::size_t i = 1; i < all.size(); ++i)
            fmt::format_to(out, " {:>18}", warps_text(all[i].needs.at(alpha).warps));
    }
    fmt::format_to(out, "\n\nthe cusp: the mix that needs the most warps\n");
    for (const auto& [source, needs] : all)
        if (const auto cusp = models::cusp_of(needs)) fmt::format_to(out, "  {:<18} {}\n", source, cusp_text(*cusp));
}

}  // namespace

std::string evaluation_table(const MixEvaluation& evaluation) {
    std::string text;
    append_ratios(std::back_inserter(text), evaluation);
    append_needed(std::back_inserter(text), evaluation.needed);
    return text;
}

Json evaluation_json(const MixEvaluation& evaluation) {
    Json mixes = Json::array(), rows = Json::array();
    for (const auto& measured : evaluation.mixes) {
        Json points = Json::array();
        for (const auto& [warps, throughput] : measured.throughput)
            points.push_back({{"warps", warps}, {"instructions_per_cycle", throughput}});
        mixes.push_back({{"alpha", measured.mix.alpha}, {"ilp", measured.mix.ilp}, {"throughput", points}});
    }
    for (const auto& e : evaluation.models)
        rows.push_back({{"model", e.model},
                        {"alpha", e.mix.alpha},
                        {"smallest", finite(e.smallest)},
                        {"largest", finite(e.largest)},
                        {"mean_error", finite(e.mean_error)},
                        {"needed_warps", warps_json(e.needed_estimated)},
                        {"needed_warps_measured", warps_json(e.needed_measured)}});
    return {{"schema", "gputomo-evaluation-1"},
            {"gpu", evaluation.parameters.gpu},
            {"access", models::name_of(evaluation.parameters.access)},
            {"surface", mixes},
            {"models", rows},
            {"cusp", cusps_json(evaluation.needed)}};
}

}  // namespace gputomo::compare
