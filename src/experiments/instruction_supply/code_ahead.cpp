#include "experiments/instruction_supply/code_ahead.hpp"

#include "deduce/cache/neighbours.hpp"
#include "deduce/pipeline/fetch_blocks.hpp"
#include "measure/code_fetch/fetch_entries.hpp"
#include "measure/code_fetch/fetch_steps.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

/// Lines longer than this, and shorter ones, are not expected; confidence of one whose neighbours say so, and of a
/// number that is known to lie in an interval.
constexpr std::uint64_t kLongestLine = 1024, kShortestLine = 32;
constexpr double kNeighbours = 0.95, kInterval = 0.5;
/// Sizes of code that a capacity is looked for in; laps before its misses count, and that count; shares of visits that
/// miss where it fits but for accidents, and where it does not.
constexpr std::uint64_t kSizes = 48, kWarmLaps = 4, kLaps = 8;
constexpr double kHardlyAny = 0.02, kSome = 0.1;
/// Laps through all pieces of code that a warp is to wait in.
constexpr std::size_t kEntryLaps = 12;

results::Trace trace_of(const deduce::Neighbours& neighbours, const std::string& name) {
    results::Trace trace{.name = "instruction_caches/neighbours_" + name, .experiment = "instruction_caches"};
    trace.columns = {
        {"distance", "bytes", {}}, {"inside", "share", {}}, {"outside", "share", {}}, {"cold", "visits", {}}};
    for (const auto& share : neighbours.shares) {
        const double row[] = {static_cast<double>(share.distance), share.inside, share.outside,
                              static_cast<double>(share.cold)};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
    }
    trace.plot = {.title = "Code that a miss brings along, by its distance from what was asked for",
                  .x = "distance",
                  .y = {"inside", "outside"}};
    return trace;
}

/// The largest piece of code that is walked through with hardly a miss, like all smaller ones, and the smallest from
/// which on, like in all larger ones, one visit in ten misses; with the dispatcher's, which is visited as often.
deduce::Finding capacity_of(InstructionChase& chase, const PathLevel& cache, double border,
                            const PathQuestion& question) {
    const std::uint64_t from = cache.level.fits / 2, to = cache.level.overflows;
    const std::uint64_t step = std::max<std::uint64_t>((to - from) / kSizes / question.stride, 1) * question.stride;
    std::uint64_t fits = 0, overflows = to;
    bool fitted = true;
    for (std::uint64_t bytes = from; bytes <= to; bytes += step) {
        const auto tour = deduce::strided(bytes, question.stride, question.most_loads);
        const double missing =
            share_above(chase.latencies(tour, kWarmLaps * tour.size(), kLaps * tour.size(), std::nullopt), border);
        fitted = fitted && missing <= kHardlyAny;
        if (fitted) fits = bytes;
        if (missing <= kSome) overflows = bytes + step;
    }
    const auto known = [&](std::uint64_t bytes) { return static_cast<std::int64_t>(bytes + chase.dispatcher_bytes()); };
    return {known(fits), kInterval, {known(fits), known(overflows)}, {}};
}

/// The block at whose begin a warp waits for code that it jumped into, where it waits at all; 0 where that is not
/// known.
std::uint64_t block_waited_for(Context& context, Outcome& outcome) {
    FetchEntries entries(context.device);
    add_code_checks(entries.compiled(), outcome);
    const auto places = entries.run(1, kEntryLaps);
    std::vector<double> all;
    for (const auto& place : places) all.insert(all.end(), place.cycles.begin(), place.cycles.end());
    const double border = median(all) + least_level_step(context.findings);
    results::Trace trace{.name = "instruction_caches/entered", .experiment = "instruction_caches"};
    trace.columns = {{"offset", "bytes", {}}, {"waits", "share", {}}};
    std::vector<deduce::FetchSample> waits;
    for (const auto& place : places) {
        const double share = share_above(place.cycles, border);
        waits.push_back({place.offset, share > 0});
        trace.columns[0].values.push_back(static_cast<double>(place.offset));
        trace.columns[1].values.push_back(share);
    }
    trace.plot = {.title = "Visits that wait between two clock reads, by where the later one lies in the code",
                  .x = "offset",
                  .y = {"waits"}};
    outcome.traces.push_back(std::move(trace));
    return deduce::largest_block_of_waits(waits, bytes_of_instruction(context.device));
}

/// A visit goes through all of a piece, so that lines may be shorter; but not where a warp that waits for code only
/// does so at the begin of one.
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
        of_caches.push_back(deduce::find_neighbours(question.chase_behind, {.miss_threshold = findings.borders_of(i)[1],
                                                                            .granule = question.stride,
                                                                            .buffer_bytes = question.room,
                                                                            .max_pass_loads = question.most_loads,
                                                                            .longest_line = kLongestLine}));
        outcome.traces.push_back(trace_of(of_caches.back(), findings.caches[i].name));
    }
    const auto farthest = std::ranges::max_element(of_caches, {}, &deduce::Neighbours::prefetched);
    if (farthest == of_caches.end() || farthest->prefetched == 0) return;
    outcome.warnings.push_back(
        fmt::format("{}: up to {} bytes behind a line come along with it: how the caches choose sets is not told by "
                    "which lines stay",
                    question.experiment, farthest->prefetched));
    const std::uint64_t waited_for = block_waited_for(context, outcome);
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        auto& cache = findings.caches[i];
        cache.findings = {};
        cache.ahead = of_caches[i].prefetched;
        // What the first cache gets from the second is too near to be waited for.
        cache.findings.line = line_of(of_caches[i], question.stride, i == 0 ? 0 : waited_for);
        cache.findings.capacity = capacity_of(chase, cache, findings.borders_of(i)[1], question);
    }
}

}  // namespace gputomo::experiments
