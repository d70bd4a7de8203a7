#include "answer/launch_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gputomo::answer {
namespace {

using Json = nlohmann::ordered_json;
using Text = std::back_insert_iterator<std::string>;

/// Bounds below this share of the time are not shown in the text.
constexpr double kShownBound = 0.01;

void append_list(Text out, std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    fmt::format_to(out, "\n{}\n", title);
    for (const auto& line : lines) fmt::format_to(out, "  - {}\n", line);
}

void append_time(Text out, const predict::LaunchPrediction& p) {
    fmt::format_to(out, "{} on {}\n\n", p.kernel, p.gpu);
    fmt::format_to(out,
                   "  time          {:.0f} cycles, {:.4g} us, without what a launch costs before its first block\n",
                   p.cycles, p.microseconds);
    fmt::format_to(out, "  limited by    {}\n", p.limiter);
    fmt::format_to(out,
                   "  used          SM {:.0f}%, L1 {:.0f}%, L2 {:.0f}%, DRAM {:.0f}% of what all of the GPU can do at "
                   "most\n",
                   100 * p.used.sm, 100 * p.used.l1, 100 * p.used.l2, 100 * p.used.dram);
    fmt::format_to(out, "  occupancy     {:.0f} blocks of an SM at once, {:.0f} warps{}; limited by {}\n",
                   p.resident_blocks, p.resident_warps, p.max_warps > 0 ? fmt::format(" of {}", p.max_warps) : "",
                   p.residency_limit);
    fmt::format_to(out, "  grid          {} blocks, {:.3g} waves\n", p.blocks, p.waves);
    fmt::format_to(out, "  needed        {:.1f} warps of an SM, for latency not to limit\n", p.needed_warps);
    fmt::format_to(out, "  instructions  {:.6g} of warps, {:.6g} of threads\n", p.instructions, p.thread_instructions);
    fmt::format_to(out, "  sampled       {} of {} blocks executed, {} of them replayed on SMs\n", p.sampled_blocks,
                   p.blocks, p.replayed_blocks);
}

void append_bounds_of_launch(Text out, const predict::LaunchPrediction& p) {
    fmt::format_to(out, "\nCycles that the launch needs of each resource alone\n");
    fmt::format_to(out, "  {:<26}{:>14.0f}\n", "latency", p.latency_cycles);
    for (const auto& bound : p.bounds)
        if (bound.cycles >= kShownBound * p.cycles)
            fmt::format_to(out, "  {:<26}{:>14.0f}\n", bound.resource, bound.cycles);
}

void append_bytes(Text out, const predict::LaunchPrediction& p) {
    const auto& bytes = p.bytes;
    fmt::format_to(out, "\nMemory\n");
    fmt::format_to(out, "  transactions  {:.6g} lines of warp instructions\n", p.transactions);
    fmt::format_to(out, "  L1            {:.6g} bytes loaded, {:.1f}% of them hits\n", bytes.l1,
                   100 * bytes.l1_hit_rate);
    fmt::format_to(out, "  L2            {:.6g} bytes read, {:.6g} written, {:.6g} atomic\n", bytes.l2_read,
                   bytes.l2_written, bytes.l2_atomic);
    fmt::format_to(out, "  DRAM          {:.6g} bytes read, {:.6g} written\n", bytes.dram_read, bytes.dram_written);
    fmt::format_to(out, "  footprint     {:.6g} bytes read, {:.6g} written{}\n", p.footprint.read, p.footprint.written,
                   p.footprint.exact ? "" : ", estimated from the sampled blocks");
    if (p.shared_accesses > 0)
        fmt::format_to(out,
                       "  shared        {:.6g} accesses of warps, {:.3g} times as long as without bank conflicts\n",
                       p.shared_accesses, p.bank_conflict_ways);
}

void append_hot(Text out, const predict::LaunchPrediction& p) {
    fmt::format_to(out, "\nInstructions that warps wait longest for\n  {:>6}  {:>12}  instruction\n", "wait",
                   "executed");
    for (const auto& hot : p.hot)
        fmt::format_to(out, "  {:>5.1f}%  {:>12.6g}  {}\n", 100 * hot.waited, hot.executed, hot.text);
}

}  // namespace

std::string launch_text(const predict::LaunchPrediction& prediction) {
    std::string text;
    const auto out = std::back_inserter(text);
    append_time(out, prediction);
    append_bounds_of_launch(out, prediction);
    append_bytes(out, prediction);
    append_hot(out, prediction);
    append_list(out, "Warnings", prediction.warnings);
    append_list(out, "Assumed", prediction.assumptions);
    return text;
}

Json launch_json(const predict::LaunchPrediction& p) {
    Json bounds = Json::array(), hot = Json::array();
    for (const auto& bound : p.bounds) bounds.push_back({{"resource", bound.resource}, {"cycles", bound.cycles}});
    for (const auto& row : p.hot)
        hot.push_back(
            {{"address", row.address}, {"text", row.text}, {"executed", row.executed}, {"share_of_wait", row.waited}});
    const auto& bytes = p.bytes;
    return {{"schema", "gputomo-launch-prediction-1"},
            {"kernel", p.kernel},
            {"gpu", p.gpu},
            {"cycles", p.cycles},
            {"profiler_cycles", p.profiler_cycles},
            {"microseconds", p.microseconds},
            {"instructions", p.instructions},
            {"limiter", p.limiter},
            {"needed_warps", p.needed_warps},
            {"latency_cycles", p.latency_cycles},
            {"bounds", bounds},
            {"used", {{"sm", p.used.sm}, {"l1", p.used.l1}, {"l2", p.used.l2}, {"dram", p.used.dram}}},
            {"occupancy",
             {{"blocks_of_an_sm", p.resident_blocks},
              {"warps_of_an_sm", p.resident_warps},
              {"max_warps_of_an_sm", p.max_warps},
              {"limited_by", p.residency_limit},
              {"waves", p.waves}}},
            {"counters",
             {{"thread_instructions", p.thread_instructions},
              {"transactions", p.transactions},
              {"l1_bytes", bytes.l1},
              {"l1_hit_rate", bytes.l1_hit_rate},
              {"l2_read_bytes", bytes.l2_read},
              {"l2_written_bytes", bytes.l2_written},
              {"l2_atomic_bytes", bytes.l2_atomic},
              {"dram_read_bytes", bytes.dram_read},
              {"dram_written_bytes", bytes.dram_written},
              {"footprint_read_bytes", p.footprint.read},
              {"footprint_written_bytes", p.footprint.written},
              {"shared_accesses", p.shared_accesses},
              {"shared_time_over_conflict_free", p.bank_conflict_ways}}},
            {"hot_instructions", hot},
            {"sampled",
             {{"blocks", p.blocks}, {"executed_blocks", p.sampled_blocks}, {"replayed_blocks", p.replayed_blocks}}},
            {"assumptions", p.assumptions},
            {"warnings", p.warnings}};
}

}  // namespace gputomo::answer
