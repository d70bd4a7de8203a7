#include "experiments/instruction_supply/code_ahead.hpp"

#include "deduce/cache/levels/neighbours.hpp"
#include "deduce/pipeline/fetch_blocks.hpp"
#include "measure/code_fetch/fetch_entries.hpp"
#include "measure/code_fetch/fetch_steps.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

/// Bytes of the longest and shortest line that is considered; no GPU so far has others.
constexpr std::uint64_t kLongestLine = 1024, kShortestLine = 32;
/// Confidence of a line size that neighbours show, and of a number that only lies in an interval. Both are
/// judgements and no measured frequencies.
constexpr double kNeighbours = 0.95, kInterval = 0.5;
/// Sizes of code among which the capacity is searched. More sizes narrow its interval and take longer.
constexpr std::uint64_t kSizes = 48;
/// Passes before the misses count, and passes that count.
constexpr std::uint64_t kWarmPasses = 4, kCodePasses = 8;
/// Code fits if at most the first share of visits misses, which may be outliers. It overflows if more than the second
/// does.
constexpr double kOutliers = 0.02, kOverflowing = 0.1;
/// Passes over all pieces of code at which a warp may wait.
constexpr std::size_t kEntryPasses = 12;

results::Trace trace_of(const deduce::Neighbours& neighbours, const std::string& name) {
    results::Trace trace{.name = "instruction_caches/neighbours_" + name, .experiment = "instruction_caches"};
    trace.columns = {
        {"distance", "bytes", {}}, {"inside", "share", {}}, {"outside", "share", {}}, {"cold", "visits", {}}};
    for (const auto& share : neighbours.shares) {
        trace.add_row(share.distance, share.inside, share.outside, share.cold);
    }
    trace.plot = {.title = "Code that a miss prefetches, by its distance from the line that missed",
                  .x = "distance",
                  .y = {"inside", "outside"}};
    return trace;
}

/// The capacity in bytes. Its lower bound is the largest code in which, as in all smaller code, hardly any visit
/// misses. Its upper bound is the smallest code in which, as in all larger code, one visit in ten misses. Both include
/// the code of the dispatcher, which runs as often.
deduce::Finding capacity_of(InstructionChase& chase, const PathLevel& cache, double border,
                            const PathQuestion& question) {
    const std::uint64_t from = cache.level.fits / 2, to = cache.level.overflows;
    const std::uint64_t step = std::max<std::uint64_t>((to - from) / kSizes / question.stride, 1) * question.stride;
    std::uint64_t fits = 0, overflows = to;
    bool fitted = true;
    for (std::uint64_t bytes = from; bytes <= to; bytes += step) {
        const auto sequence = deduce::strided(bytes, question.stride, question.most_loads);
        const double missing = share_above(
            chase.latencies(sequence, kWarmPasses * sequence.size(), kCodePasses * sequence.size(), std::nullopt),
            border);
        fitted = fitted && missing <= kOutliers;
        if (fitted) fits = bytes;
        if (missing <= kOverflowing) overflows = bytes + step;
    }
    const auto known = [&](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes + chase.dispatcher_bytes()); };
    return {known(fits), kInterval, {known(fits), known(overflows)}, {}};
}

/// Bytes of the block at whose beginning a warp waits for code that it jumped into; 0 if that is unknown.
std::uint64_t block_waited_for(Context& context, Outcome& outcome) {
    FetchEntries entries(context.device);
    add_code_checks(entries.compiled(), outcome);
    const auto places = entries.run(1, kEntryPasses);
    std::vector<double> cycles;
    for (const auto& place : places) cycles.insert(cycles.end(), place.cycles.begin(), place.cycles.end());
    const double border = median(cycles) + least_level_step(context.findings);
    results::Trace trace{.name = "instruction_caches/entered", .experiment = "instruction_caches"};
    trace.columns = {{"offset", "bytes", {}}, {"waits", "share", {}}};
    std::vector<deduce::FetchSample> waits;
    for (const auto& place : places) {
        const double share = share_above(place.cycles, border);
        waits.push_back({place.offset, share > 0});
        trace.add_row(place.offset, share);
    }
    trace.plot = {
        .title = "Share of visits that wait between two clock reads, by the place of the later one in the code",
        .x = "offset",
        .y = {"waits"}};
    outcome.traces.push_back(std::move(trace));
    return deduce::largest_block_of_waits(waits, bytes_of_instruction(context.device));
}

/// The line size in bytes. A visit runs through a whole piece, so lines may be shorter than a piece. They are not if a
/// warp waits for code only at the beginning of a piece.
deduce::Finding line_of(const deduce::Neighbours& neighbours, std::uint64_t piece, std::uint64_t waited_for) {
    const auto line = static_cast<std::int64_t>(neighbours.line);
    if (neighbours.line > piece || (neighbours.line == piece && waited_for >= piece))
        return {line, kNeighbours, {line, line}, {}};
    deduce::Finding open;
    for (auto shorter = static_cast<std::int64_t>(kShortestLine); shorter <= line; shorter *= 2)
        open.candidates.push_back(shorter);
    return open;
}

}  // namespace

void find_code_ahead(Context& context, InstructionChase& chase, const PathQuestion& question, PathFindings& findings,
                     Outcome& outcome) {
    std::vector<deduce::Neighbours> of_caches;
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        of_caches.push_back(
            deduce::find_neighbours(question.chase_beyond_first, {.miss_threshold = findings.borders_of(i)[1],
                                                                  .granule = question.stride,
                                                                  .buffer_bytes = question.buffer_bytes,
                                                                  .max_pass_loads = question.most_loads,
                                                                  .longest_line = kLongestLine}));
        outcome.traces.push_back(trace_of(of_caches.back(), findings.caches[i].name));
    }
    const auto farthest = std::ranges::max_element(of_caches, {}, &deduce::Neighbours::prefetched);
    if (farthest == of_caches.end() || farthest->prefetched == 0) return;
    outcome.warnings.push_back(
        fmt::format("{}: sets and ways stay unknown, because a miss prefetches up to {} bytes after the line, so that "
                    "resident lines do not show how the caches select sets",
                    question.experiment, farthest->prefetched));
    const std::uint64_t waited_for = block_waited_for(context, outcome);
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        auto& cache = findings.caches[i];
        cache.findings = {};
        cache.ahead = of_caches[i].prefetched;
        // A warp does not wait for code that the first cache gets from the second, because it arrives too soon.
        cache.findings.line = line_of(of_caches[i], question.stride, i == 0 ? 0 : waited_for);
        cache.findings.capacity = capacity_of(chase, cache, findings.borders_of(i)[1], question);
    }
}

}  // namespace gputomo::experiments
