#include "compare/kernels/prediction_text.hpp"

#include "compare/finite.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gputomo::compare {
namespace {

using Json = nlohmann::ordered_json;
using Text = std::back_insert_iterator<std::string>;

Json worksheet_json(const predict::Worksheet& sheet) {
    Json resources = Json::array();
    for (const auto& resource : sheet.resources) {
        Json uses = Json::array();
        for (const auto& use : resource.uses)
            uses.push_back(
                {{"by", use.by}, {"cycles_each", use.cycles_each}, {"count", use.count}, {"cycles", use.cycles()}});
        resources.push_back({{"resource", resource.resource}, {"uses", uses}, {"cycles", resource.total()}});
    }
    return resources;
}

Json instructions_json(const predict::Prediction& p) {
    Json list = Json::array();
    for (std::size_t i = 0; i < p.code.instructions.size(); ++i)
        list.push_back({{"line", p.code.instructions[i].line},
                        {"text", p.code.instructions[i].text},
                        {"executions", p.executions[i]},
                        {"first_issue", p.issue_times[i] < 0 ? Json() : Json(p.issue_times[i])}});
    return list;
}

void append_bounds(Text out, const predict::Prediction& p) {
    fmt::format_to(
        out,
        "  latency of a warp alone   {:.6g} cycles\n  throughput bound          {:.4g} cycles per warp and SM\n"
        "  limited by                {}\n",
        p.latency, p.bound, p.limited_by);
    fmt::format_to(out, "  needed occupancy          {:.1f} warps per SM{}\n", p.needed_warps,
                   p.max_warps > 0 ? fmt::format(" of {}", p.max_warps) : "");
    fmt::format_to(out, "  with memory contention    {}\n",
                   std::isfinite(p.needed_contended) ? fmt::format("{:.1f} warps per SM", p.needed_contended)
                                                     : "no number of warps per SM is enough");
    if (p.max_warps > 0 && p.needed_warps > p.max_warps)
        fmt::format_to(out, "  an SM does not hold this many warps, so latency limits the kernel at any occupancy\n");
    if (p.bytes > 0)
        fmt::format_to(out, "  DRAM traffic              {:.6g} bytes per warp, {:.4g} GB/s at the bound\n", p.bytes,
                       p.gigabytes_per_second);
}

void append_worksheet(Text out, const predict::Worksheet& sheet, const std::string& limited_by) {
    fmt::format_to(out, "\nThroughput bound: cycles for which one warp occupies each resource of an SM\n");
    for (const auto& resource : sheet.resources) {
        fmt::format_to(out, "  {:<44} {:>34.4g}{}\n", resource.resource, resource.total(),
                       resource.resource == limited_by ? "  <- the limit" : "");
        for (const auto& use : resource.uses)
            fmt::format_to(out, "    {:<42} {:>10.4g} x {:>10.6g} = {:>8.4g}\n", use.by, use.cycles_each, use.count,
                           use.cycles());
    }
}

/// Shows kRows occupancies, which is enough for the shape of the curve; the largest is always among them.
void append_points(Text out, const predict::Prediction& p) {
    constexpr std::size_t kRows = 12;
    fmt::format_to(out,
                   "\nThroughput against occupancy, in warps per 1000 cycles and SM\n  {:>6} {:>12} {:>16} {:>12}\n",
                   "warps", "bounds", "with contention", "with queues");
    const std::size_t count = p.points.size(), rows = std::min(kRows, count);
    for (std::size_t row = 1; row <= rows; ++row) {
        const auto& point = p.points[row * count / rows - 1];
        fmt::format_to(out, "  {:>6} {:>12.4g} {:>16.4g} {:>12.4g}\n", point.warps, 1000 * point.warps_per_cycle,
                       1000 * point.contended_warps_per_cycle, 1000 * point.queued_warps_per_cycle);
    }
}

}  // namespace

std::string prediction_text(const predict::Prediction& p) {
    std::string text = fmt::format("{} on {}\n\n", p.kernel, p.gpu);
    const auto out = std::back_inserter(text);
    append_bounds(out, p);
    append_worksheet(out, p.worksheet, p.limited_by);
    append_points(out, p);
    fmt::format_to(out, "\nWhat would change the needed occupancy and the bound\n");
    for (const auto& change : p.changes)
        fmt::format_to(out, "  {:<52} {:>8.1f} warps needed, {:.4g} cycles per warp\n", change.what,
                       change.needed_warps, change.cycles_per_warp);
    fmt::format_to(out, "\nAssumed\n");
    for (const auto& assumption : p.assumptions) fmt::format_to(out, "  {}\n", assumption);
    return text;
}

Json prediction_json(const predict::Prediction& p) {
    Json points = Json::array(), changes = Json::array();
    for (const auto& point : p.points)
        points.push_back({{"warps", point.warps},
                          {"warps_per_cycle", point.warps_per_cycle},
                          {"contended_warps_per_cycle", point.contended_warps_per_cycle},
                          {"queued_warps_per_cycle", point.queued_warps_per_cycle},
                          {"first_cache_lines", point.cache_lines > 0 ? Json(point.cache_lines) : Json()}});
    for (const auto& change : p.changes)
        changes.push_back({{"what", change.what},
                           {"needed_warps", change.needed_warps},
                           {"cycles_per_warp", change.cycles_per_warp}});
    return {{"schema", "gputomo-prediction-1"},
            {"kernel", p.kernel},
            {"gpu", p.gpu},
            {"limited_by", p.limited_by},
            {"latency_cycles", p.latency},
            {"cycles_per_warp", p.bound},
            {"needed_warps", p.needed_warps},
            {"needed_warps_contended", finite(p.needed_contended)},
            {"max_warps", p.max_warps},
            {"dram_bytes_per_warp", p.bytes},
            {"dram_gigabytes_per_second", p.gigabytes_per_second},
            {"throughput", points},
            {"worksheet", worksheet_json(p.worksheet)},
            {"changes", changes},
            {"instructions", instructions_json(p)},
            {"assumptions", p.assumptions}};
}

}  // namespace gputomo::compare
