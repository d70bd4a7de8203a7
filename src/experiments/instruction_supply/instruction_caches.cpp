// The caches on the way to instructions.
#include "experiments/experiments.hpp"

#include "experiments/caches/cached_path.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/instruction_supply/code_ahead.hpp"
#include "experiments/instruction_supply/code_scopes.hpp"
#include "measure/code_fetch/fetch_entries.hpp"
#include "measure/code_fetch/instruction_chase.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gputomo::experiments {
namespace instruction_caches {
namespace {

/// Slots of the chase's code: a little more than 96 KiB before compute capability 7.0 and 192 KiB since. More takes
/// seconds to compile; less does not overflow the caches of current SMs.
constexpr std::uint32_t kSlots = 1544;

/// Code that takes this share of a cache overflows it together with as many constants.
constexpr double kPart = 0.75;
/// A cache that constants do not share misses on at most the first share of visits, by outliers; one that they share on
/// at least the second. Between the two nothing is concluded.
constexpr double kUndisturbed = 0.1, kDisturbed = 0.5;
/// Bytes of constants that a kernel can address.
constexpr std::uint64_t kMostConstants = 64 * 1024;
/// Passes over the code and the constants. More take longer; with fewer, one disturbed pass counts more.
constexpr std::uint64_t kPasses = 8;
/// Confidence of the bytes that are fetched ahead, a judgement and no measured frequency.
constexpr double kAhead = 0.95;
/// Capacities of one cache on two paths differ by no more than this share.
constexpr double kSameCapacity = 0.1;

/// The constant cache with this capacity in bytes; empty if there is none.
std::string constant_cache_of(const Findings& findings, double capacity) {
    for (int level = 1; level <= 3; ++level) {
        auto name = fmt::format("constant_l{}", level);
        const auto known = findings.number(fmt::format("caches.{}.capacity", name));
        if (known && std::abs(*known - capacity) <= kSameCapacity * capacity) return name;
    }
    return {};
}

/// Finds the caches that constants share (Wong 2010, IV-J5), and the part of a latency that the branch to a slot
/// overlaps with. The overlapped part is the difference between the latencies of one cache on both paths.
void find_shared(Context& context, InstructionChase& chase, const PathQuestion& question, PathFindings& findings,
                 Outcome& outcome) {
    std::vector<double> overlapped;
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        auto& cache = findings.caches[i];
        const auto capacity = static_cast<double>(cache.least_capacity());
        const auto bytes = static_cast<std::uint64_t>(kPart * capacity);
        const auto code = deduce::strided(bytes, step_through(cache, question), question.most_loads);
        const double border = findings.borders_of(i)[1];
        const auto constants = static_cast<std::uint32_t>(std::min(bytes, kMostConstants));
        const double alone = share_above(chase.latencies_beside_constants(code, 0, kPasses), border);
        const double beside = share_above(chase.latencies_beside_constants(code, constants, kPasses), border);
        if (alone > kUndisturbed || beside < kDisturbed) continue;
        const auto name = constant_cache_of(context.findings, capacity);
        if (name.empty()) {
            outcome.warnings.push_back(
                fmt::format("{}: constants evict code from {}, but no cache on the path of constants has its capacity; "
                            "it is reported under "
                            "both paths",
                            question.experiment, cache.name));
            continue;
        }
        if (const auto latency = context.findings.number(fmt::format("caches.{}.latency", name))) {
            // Both latencies are means of all SMs, because that of a cache of the whole GPU depends on the SM.
            if (const auto measured = measured_latency(context, findings, i, question))
                overlapped.push_back(*latency - *measured);
        }
        cache.name = name;
        cache.elsewhere = true;
    }
    findings.overlap_unknown = overlapped.empty() && context.findings.find("paths.constant.caches") != nullptr;
    if (!overlapped.empty()) findings.overlapped = median(overlapped);
}

/// Turns estimates of levels beyond the first into candidates, because these levels may be those of constants.
void leave_open_beyond_the_first(Outcome& outcome) {
    for (auto& estimate : outcome.estimates) {
        if (estimate.knowledge != results::Knowledge::known || estimate.path.starts_with("caches.instruction_l1."))
            continue;
        estimate.knowledge = results::Knowledge::undecided;
        estimate.candidates = {estimate.value};
    }
    outcome.warnings.emplace_back(
        "instruction_caches: levels beyond the first and their latencies stay undecided, because none was shown to be "
        "a "
        "cache that constants share");
}

/// Adds what the nearest cache whose misses bring further lines requests with them. Farther caches seem to do so as
/// well, because they serve these requests.
void report_ahead(const PathFindings& findings, Outcome& outcome) {
    const auto cache = std::ranges::find_if(findings.caches, [](const PathLevel& level) { return level.ahead > 0; });
    if (cache == findings.caches.end() || cache->elsewhere) return;
    outcome.estimates.push_back(
        decided(fmt::format("caches.{}.fetched_ahead", cache->name), static_cast<std::int64_t>(cache->ahead),
                {"instruction_caches: neighbours that a miss brings along, behind its line", kAhead}));
}

Outcome measure(Context& context) {
    Outcome outcome;
    InstructionChase chase(context, kSlots, context.findings.number("caches.constant_l1.capacity"));
    chase.describe(0.1, "instructions");
    PathQuestion question{.experiment = "instruction_caches",
                          .path = "instruction",
                          .smallest = 1024,
                          .largest = chase.code_bytes(),
                          .buffer_bytes = chase.code_bytes(),
                          .stride = chase.slot_bytes(),
                          .word = chase.slot_bytes()};
    question.least_step = least_level_step(context.findings);
    question.latencies_of = [&](const auto& offsets, std::uint64_t warm, std::uint64_t loads,
                                std::optional<std::uint32_t> sm) { return chase.latencies(offsets, warm, loads, sm); };
    question.occupied = chase.dispatcher_bytes();
    question.most_loads = chase.most_visits();
    question.chase_beyond_first = chase.chase_beyond_first();
    auto findings = measure_caches(context, chase.chase(), question, outcome);
    if (findings.caches.empty()) {
        outcome.warnings.push_back(question.experiment +
                                   ": no cache was found, because all code takes equally long up to the largest size");
        return outcome;
    }
    chase.describe(0.6, "code beside code");
    find_code_ahead(context, chase, question, findings, outcome);
    chase.describe(0.7, "instructions beside constants");
    find_shared(context, chase, question, findings, outcome);
    report_caches(findings, question, outcome);
    report_ahead(findings, outcome);
    chase.describe(0.75, "instructions beside those of other SMs");
    find_code_scopes(context, chase, question, findings, outcome);
    if (findings.overlap_unknown) leave_open_beyond_the_first(outcome);
    chase.describe(0.8, "latency by SM");
    measure_latencies(context, findings, question, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace instruction_caches

Experiment instruction_caches_experiment() {
    return {.id = "instruction_caches",
            .title = "caches on the way to instructions, and what they share with constants",
            .source = "Wong 2010, IV-K, Figs. 21-23",
            .method = "instruction-supply",
            .explanation =
                "A dispatcher reads the clock and jumps through code of growing size, in an order that no "
                "prefetcher follows. Where loads of constants evict code, both share a cache.",
            .needs = {},
            .after = {"clock", "caches", "constant_caches", "issue"},
            .provides = {"caches.*.scope", "caches.*.latency", "caches.*.latency_range", "caches.*.capacity",
                         "caches.*.line", "caches.*.sector", "caches.*.ways", "caches.*.sets", "caches.*.index",
                         "caches.*.policy", "caches.*.fetched_ahead", "paths.instruction.caches",
                         "paths.instruction.memory_latency", "paths.instruction.memory_latency_range"},
            .run = instruction_caches::run,
            .compile_ahead = [](const Context& context) {
                InstructionChase::compile_ahead(context.device, instruction_caches::kSlots);
                FetchEntries::compile_ahead(context.device);
            }};
}

}  // namespace gputomo::experiments
