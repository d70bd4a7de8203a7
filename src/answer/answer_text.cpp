#include "answer/answer_text.hpp"
#include "answer/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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
    if (!a.summary.empty()) fmt::format_to(out, "{}\n\n", a.summary);
    fmt::format_to(out, "  time          {:.0f} cycles, {:.4g} us, as a profiler counts them", a.time.cycles,
                   a.time.microseconds);
    if (a.time.launch_cycles)
        fmt::format_to(out, "; {:.0f} of them before and after the blocks", *a.time.launch_cycles);
    fmt::format_to(out, "\n");
    if (const auto& interval = a.time.interval)
        fmt::format_to(out, "  90% interval  {:.0f} to {:.0f} cycles: {}\n", interval->low, interval->high,
                       interval->basis);
    fmt::format_to(out, "  caches        {}", name_of(a.caches));
    if (a.time.warm_cycles)
        fmt::format_to(out, "; with warm ones {:.0f} cycles, {:.4g} us", *a.time.warm_cycles,
                       *a.time.warm_cycles * a.time.microseconds / a.time.cycles);
    fmt::format_to(out, "\n");
    if (a.coverage.error.value_or(0) > 0)
        fmt::format_to(out, "  sampling      {:.1f}% either side, by which blocks were simulated\n",
                       100 * *a.coverage.error);
}

void append_limiter(Text out, const Answer& a) {
    const Limiter& limiter = *a.limiter;
    fmt::format_to(out, "  limited by    {}\n", limiter.resource);
    fmt::format_to(out, "  of the time   ");
    for (const auto& part : limiter.parts)
        fmt::format_to(out, "{}{:.0f}% {}", &part == limiter.parts.data() ? "" : ", ",
                       100 * part.cycles / a.time.cycles, part.what);
    fmt::format_to(out, "\n");
    fmt::format_to(out,
                   "  used          SM {:.0f}%, L1 {:.0f}%, L2 {:.0f}%, DRAM {:.0f}% of what all of the GPU can do at "
                   "most\n",
                   100 * limiter.used_sm, 100 * limiter.used_l1, 100 * limiter.used_l2, 100 * limiter.used_dram);
}

void append_block(Text out, const LaunchShape& launch) {
    fmt::format_to(out, "  block         {} threads", launch.block.count());
    if (launch.registers_per_thread) fmt::format_to(out, ", {} registers of a thread", *launch.registers_per_thread);
    if (launch.shared_bytes) fmt::format_to(out, ", {} bytes of shared memory", *launch.shared_bytes);
    fmt::format_to(out, "\n");
}

void append_occupancy(Text out, const Answer& a) {
    const auto& occupancy = *a.occupancy;
    const auto most =
        occupancy.max_warps_per_sm > 0 ? fmt::format(" of {}", occupancy.max_warps_per_sm) : std::string();
    fmt::format_to(out, "  occupancy     {:.0f} blocks of an SM at once, {:.0f} warps{}; limited by {}\n",
                   occupancy.blocks_per_sm, occupancy.warps_per_sm, most, occupancy.limited_by);
    if (occupancy.achieved_warps_per_sm)
        fmt::format_to(out, "  achieved      {:.1f} warps of an SM in the mean\n", *occupancy.achieved_warps_per_sm);
    fmt::format_to(out, "  grid          {} blocks, {:.3g} waves", a.coverage.blocks, occupancy.waves);
    if (occupancy.tail_share && occupancy.waves > 1)
        fmt::format_to(out, "; {:.0f}% of all places for blocks are empty in the last one",
                       100 * *occupancy.tail_share);
    fmt::format_to(out, "\n");
    if (occupancy.needed_warps)
        fmt::format_to(out, "  needed        {:.1f} warps of an SM, for latency not to limit\n",
                       *occupancy.needed_warps);
}

void append_roofline(Text out, const Roofline& roofline) {
    if (!roofline.flop_per_second_ceiling && !roofline.dram_bytes_per_second_ceiling) return;
    const auto of = [](const std::optional<double>& value, std::string_view unit) {
        return value ? in_units(*value, unit) : "? " + std::string(unit);
    };
    fmt::format_to(out, "  roofline      {} of {} ({}), {} of {} of DRAM", of(roofline.flop_per_second, "FLOP/s"),
                   of(roofline.flop_per_second_ceiling, "FLOP/s"), roofline.type,
                   of(roofline.dram_bytes_per_second, "B/s"), of(roofline.dram_bytes_per_second_ceiling, "B/s"));
    if (roofline.flop_per_byte) fmt::format_to(out, "; {:.3g} FLOP for each byte of DRAM", *roofline.flop_per_byte);
    if (roofline.flop_per_byte && roofline.flop_per_second_ceiling && roofline.dram_bytes_per_second_ceiling)
        fmt::format_to(out, ", where the ceilings meet at {:.3g}",
                       *roofline.flop_per_second_ceiling / *roofline.dram_bytes_per_second_ceiling);
    fmt::format_to(out, "\n");
}

void append_rates(Text out, const Answer& a) {
    if (a.flop_rates.empty() && a.byte_rates.empty()) return;
    fmt::format_to(out, "\nRates\n");
    const auto append = [&](const Rate& rate, std::string_view unit) {
        fmt::format_to(out, "  {:<20}  {:>14}", rate.what, in_units(rate.per_second, unit));
        if (rate.ceiling)
            fmt::format_to(out, ", {:.1f}% of {}", 100 * rate.per_second / *rate.ceiling,
                           in_units(*rate.ceiling, unit));
        fmt::format_to(out, "\n");
    };
    for (const auto& rate : a.flop_rates) append(rate, "FLOP/s");
    for (const auto& rate : a.byte_rates)
        if (rate.per_second > 0) append(rate, "B/s");
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

/// The rows in order, so that the first one is the limiter.
void append_bounds(Text out, const Answer& a) {
    fmt::format_to(out, "\nCycles that the launch needs of each resource alone\n");
    auto rows = a.limiter->bounds;
    rows.push_back({"latency", a.limiter->latency_cycles});
    std::ranges::stable_sort(rows, std::ranges::greater(), &Bound::cycles);
    for (const auto& row : rows)
        if (row.cycles >= kShownBound * a.time.cycles)
            fmt::format_to(out, "  {:<26}{:>14.0f}\n", row.resource, row.cycles);
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

/// Reasons with less than this share of the cycles are not shown, of the launch and of one instruction.
constexpr double kShownStall = 0.01, kShownReason = 0.2;

void append_stalls(Text out, const std::vector<Instruction>& instructions) {
    if (instructions.empty()) return;
    const auto cycles = stalls_of(instructions);
    const double all = costs::sum_of(cycles);
    fmt::format_to(out, "\nWhat warps wait for, by their cycles\n");
    for (const auto stall : by_cycles(cycles))
        if (const double share = cycles[static_cast<std::size_t>(stall)] / all; share >= kShownStall)
            fmt::format_to(out, "  {:>5.1f}%  {:<19} {}\n", 100 * share, name_of(stall), meaning_of(stall));
}

void append_instructions(Text out, const std::vector<Instruction>& instructions) {
    if (instructions.empty()) return;
    fmt::format_to(out, "\nInstructions at which warps spend most cycles\n  {:>6}  {:>12}  {:<19} instruction\n",
                   "cycles", "executed", "most for");
    for (const auto* const one : costliest(instructions)) {
        const auto stall = main_stall(one->cycles);
        fmt::format_to(out, "  {:>5.1f}%  {:>12.6g}  {:<19} {}{}\n", 100 * one->share_of_wait, one->executed,
                       stall ? name_of(*stall) : "", one->text, one->source ? "  // " + short_text(*one->source) : "");
    }
}

void append_lines(Text out, const std::vector<Instruction>& instructions) {
    auto lines = lines_of(instructions);
    if (lines.empty()) return;
    if (lines.size() > kShownInstructions) lines.resize(kShownInstructions);
    fmt::format_to(out, "\nLines of source at which warps spend most cycles\n  {:>6}  {:>12}  {:<19} line\n", "cycles",
                   "executed", "most for");
    for (const auto& line : lines) {
        const auto stall = main_stall(line.cycles);
        fmt::format_to(out, "  {:>5.1f}%  {:>12.6g}  {:<19} {}\n", 100 * line.share_of_wait, line.executed,
                       stall ? name_of(*stall) : "", sass::short_text({.at = line.at, .callers = {}}));
    }
}

void append_advice(Text out, const std::vector<Advice>& advice) {
    fmt::format_to(out, "\nWhat would help, each change tried by the same model\n");
    if (advice.empty()) fmt::format_to(out, "  no change that was tried makes it faster by 5%\n");
    for (const auto& one : advice) {
        fmt::format_to(out, "  {:>6.2f} times as fast {}\n", one.factor, one.change);
        if (one.instructions.empty()) continue;
        const auto& first = one.instructions.front();
        fmt::format_to(out, "         such as {}{}\n", first.text,
                       first.source ? "  // " + short_text(*first.source) : "");
    }
}

void append_sensitivity(Text out, const Answer& a) {
    fmt::format_to(out,
                   "\nWhat the time depends on most: its change where a number is larger, and smaller, by {:.0f}%\n",
                   100 * kSensitivityStep);
    for (const auto& one : *a.sensitivity)
        fmt::format_to(out, "  {:>+6.1f}%  {:>+6.1f}%  {} = {} ({})\n", 100 * (one.larger_cycles / a.time.cycles - 1),
                       100 * (one.smaller_cycles / a.time.cycles - 1), one.path, one.value, one.evidence);
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

/// As it is, because a reader compares it with what a GPU printed. Other headings stand above indented lines.
void append_printed(Text out, std::string_view printed) {
    fmt::format_to(out, "\nPrinted by the kernel:\n{}{}", printed, printed.ends_with('\n') ? "" : "\n");
}

}  // namespace

std::string name_of(const Caches& caches) {
    switch (caches.state) {
        case Caches::State::cold: return "cold";
        case Caches::State::dirty: return "dirty";
        case Caches::State::warm: return "warm";
        case Caches::State::after: return fmt::format("after:{}", caches.launch);
    }
    return {};
}

std::string_view name_of(Method method) { return method == Method::predict ? "predict" : "simulate"; }

std::string instructions_text(const Answer& answer) {
    std::string text;
    if (answer.instructions.empty()) return "\nNo machine code was executed, so that no instructions are known\n";
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "\nAll executed instructions\n  {:>6}  {:>12}  {:<44} instruction\n", "cycles", "executed",
                   "for");
    for (const auto& one : answer.instructions) {
        std::string reasons;
        const double all = costs::sum_of(one.cycles);
        for (const auto stall : by_cycles(one.cycles))
            if (const double share = one.cycles[static_cast<std::size_t>(stall)] / all; share >= kShownReason)
                reasons += fmt::format("{}{} {:.0f}%", reasons.empty() ? "" : ", ", name_of(stall), 100 * share);
        fmt::format_to(out, "  {:>5.1f}%  {:>12.6g}  {:<44} {}{}\n", 100 * one.share_of_wait, one.executed, reasons,
                       one.text, one.source ? "  // " + short_text(*one.source) : "");
    }
    return text;
}

std::string answer_text(const Answer& answer) {
    std::string text;
    const auto out = std::back_inserter(text);
    append_time(out, answer);
    if (answer.limiter) append_limiter(out, answer);
    append_roofline(out, answer.roofline);
    append_block(out, answer.launch);
    if (answer.occupancy) append_occupancy(out, answer);
    append_coverage(out, answer);
    if (answer.limiter) append_bounds(out, answer);
    append_rates(out, answer);
    append_memory(out, answer.work);
    append_stalls(out, answer.instructions);
    append_lines(out, answer.instructions);
    append_instructions(out, answer.instructions);
    if (answer.advice) append_advice(out, *answer.advice);
    if (answer.sensitivity) append_sensitivity(out, answer);
    if (answer.differences) append_differences(out, *answer.differences);
    append_list(out, "Warnings", answer.warnings);
    if (answer.printed && !answer.printed->empty()) append_printed(out, *answer.printed);
    return text;
}

}  // namespace gputomo::answer
