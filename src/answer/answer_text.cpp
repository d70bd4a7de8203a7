#include "answer/answer_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace gputomo::answer {
namespace {

using Text = std::back_insert_iterator<std::string>;

/// Bounds below this share of the time are not shown.
constexpr double kShownBound = 0.01;

void append_list(Text out, std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    fmt::format_to(out, "\n{}\n", title);
    for (const auto& line : lines) fmt::format_to(out, "  - {}\n", line);
}

void append_time(Text out, const Answer& a) {
    fmt::format_to(out, "{} on {}\n\n", a.launch.kernel, a.gpu);
    fmt::format_to(out, "  time          {:.0f} cycles, {:.4g} us, as a profiler counts them", a.time.cycles,
                   a.time.microseconds);
    if (a.time.launch_cycles)
        fmt::format_to(out, "; {:.0f} of them before and after the blocks", *a.time.launch_cycles);
    fmt::format_to(out, "\n");
    fmt::format_to(out, "  caches        {}", name_of(a.caches));
    if (a.time.warm_cycles)
        fmt::format_to(out, "; with warm ones {:.0f} cycles, {:.4g} us", *a.time.warm_cycles,
                       *a.time.warm_cycles * a.time.microseconds / a.time.cycles);
    fmt::format_to(out, "\n");
    if (a.coverage.error.value_or(0) > 0)
        fmt::format_to(out, "  interval      {:.1f}% either side, by the sampling of blocks\n",
                       100 * *a.coverage.error);
}

void append_limiter(Text out, const Limiter& limiter) {
    fmt::format_to(out, "  limited by    {}\n", limiter.resource);
    fmt::format_to(out,
                   "  used          SM {:.0f}%, L1 {:.0f}%, L2 {:.0f}%, DRAM {:.0f}% of what all of the GPU can do at "
                   "most\n",
                   100 * limiter.used_sm, 100 * limiter.used_l1, 100 * limiter.used_l2, 100 * limiter.used_dram);
}

void append_occupancy(Text out, const Answer& a) {
    const auto& occupancy = *a.occupancy;
    fmt::format_to(out, "  occupancy     {:.0f} blocks of an SM at once, {:.0f} warps{}; limited by {}\n",
                   occupancy.blocks_per_sm, occupancy.warps_per_sm,
                   occupancy.max_warps_per_sm > 0 ? fmt::format(" of {}", occupancy.max_warps_per_sm) : "",
                   occupancy.limited_by);
    fmt::format_to(out, "  grid          {} blocks, {:.3g} waves\n", a.coverage.blocks, occupancy.waves);
    if (occupancy.needed_warps)
        fmt::format_to(out, "  needed        {:.1f} warps of an SM, for latency not to limit\n",
                       *occupancy.needed_warps);
}

void append_coverage(Text out, const Answer& a) {
    fmt::format_to(out, "  instructions  {:.6g} of warps, {:.6g} of threads\n", a.work.warp_instructions,
                   a.work.thread_instructions);
    const auto& coverage = a.coverage;
    if (a.method == Method::predict)
        fmt::format_to(out, "  sampled       {} of {} blocks executed, {} of them timed on SMs\n",
                       coverage.executed_blocks, coverage.blocks, coverage.timed_blocks);
    else
        fmt::format_to(out, "  simulated     {} of {} blocks, from {}\n", coverage.timed_blocks, coverage.blocks,
                       coverage.machine_code ? "machine code" : "PTX");
}

void append_bounds(Text out, const Answer& a) {
    fmt::format_to(out, "\nCycles that the launch needs of each resource alone\n");
    fmt::format_to(out, "  {:<26}{:>14.0f}\n", "latency", a.limiter->latency_cycles);
    for (const auto& bound : a.limiter->bounds)
        if (bound.cycles >= kShownBound * a.time.cycles)
            fmt::format_to(out, "  {:<26}{:>14.0f}\n", bound.resource, bound.cycles);
}

void append_memory(Text out, const Work& work) {
    fmt::format_to(out, "\nMemory\n");
    fmt::format_to(out, "  transactions  {:.6g} lines of warp instructions\n", work.transactions);
    for (const auto& [cache, accesses] : work.caches)
        fmt::format_to(out, "  {:<12}  {} hits, {} misses\n", cache, accesses.hits, accesses.misses);
    if (work.l1_bytes)
        fmt::format_to(out, "  L1            {:.6g} bytes loaded, {:.1f}% of them hits\n", *work.l1_bytes,
                       100 * work.l1_hit_rate.value_or(0));
    if (work.l2_read_bytes)
        fmt::format_to(out, "  L2            {:.6g} bytes read, {:.6g} written, {:.6g} atomic\n", *work.l2_read_bytes,
                       work.l2_written_bytes.value_or(0), work.l2_atomic_bytes.value_or(0));
    if (work.dram_read_bytes)
        fmt::format_to(out, "  DRAM          {:.6g} bytes read, {:.6g} written\n", *work.dram_read_bytes,
                       work.dram_written_bytes.value_or(0));
    else
        fmt::format_to(out, "  DRAM          {:.6g} bytes\n", work.dram_bytes);
    if (work.footprint_read_bytes)
        fmt::format_to(out, "  footprint     {:.6g} bytes read, {:.6g} written{}\n", *work.footprint_read_bytes,
                       work.footprint_written_bytes.value_or(0),
                       work.footprint_exact ? "" : ", estimated from the sampled blocks");
    if (work.shared_accesses.value_or(0) > 0)
        fmt::format_to(out,
                       "  shared        {:.6g} accesses of warps, {:.3g} times as long as without bank conflicts\n",
                       *work.shared_accesses, work.shared_time_ratio.value_or(1));
    if (work.bank_conflict_cycles)
        fmt::format_to(out, "  shared        {:.6g} cycles of bank conflicts\n", *work.bank_conflict_cycles);
}

void append_hot(Text out, const std::vector<HotInstruction>& instructions) {
    if (instructions.empty()) return;
    fmt::format_to(out, "\nInstructions that warps wait longest for\n  {:>6}  {:>12}  instruction\n", "wait",
                   "executed");
    for (const auto& hot : instructions)
        fmt::format_to(out, "  {:>5.1f}%  {:>12.6g}  {}\n", 100 * hot.share_of_wait, hot.executed, hot.text);
}

void append_differences(Text out, const std::vector<launch::Difference>& differences) {
    fmt::format_to(out, "\nResults\n");
    if (differences.empty()) fmt::format_to(out, "  as captured\n");
    for (const auto& different : differences) {
        fmt::format_to(out, "  {}: {}: byte {} is {:#04x}; expected {:#04x}; {} of {} bytes differ\n",
                       different.tolerated ? "within tolerance" : "differs", different.buffer, different.offset,
                       different.found, different.expected, different.bytes, different.compared);
        const auto& numbers = different.as_numbers;
        fmt::format_to(out, "    as {}: {} numbers differ, by at most {:.4g} units in the last place ({:.3g} relative)",
                       name_of(numbers.type), numbers.numbers - numbers.without_size, numbers.units, numbers.relative);
        if (numbers.without_size != 0)
            fmt::format_to(out, "; {} more are infinite, no number or subnormal", numbers.without_size);
        fmt::format_to(out, "\n");
    }
}

}  // namespace

std::string name_of(const Caches& caches) {
    switch (caches.state) {
        case Caches::State::cold: return "cold";
        case Caches::State::warm: return "warm";
        case Caches::State::after: return fmt::format("after:{}", caches.launch);
    }
    return {};
}

std::string_view name_of(Method method) { return method == Method::predict ? "predict" : "simulate"; }

std::string answer_text(const Answer& answer) {
    std::string text;
    const auto out = std::back_inserter(text);
    append_time(out, answer);
    if (answer.limiter) append_limiter(out, *answer.limiter);
    if (answer.occupancy) append_occupancy(out, answer);
    append_coverage(out, answer);
    if (answer.limiter) append_bounds(out, answer);
    append_memory(out, answer.work);
    append_hot(out, answer.hot);
    if (answer.differences) append_differences(out, *answer.differences);
    append_list(out, "Warnings", answer.warnings);
    return text;
}

}  // namespace gputomo::answer
