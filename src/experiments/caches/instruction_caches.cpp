// The caches on the way to instructions.
#include "experiments/experiments.hpp"

#include "deduce/statistics.hpp"
#include "experiments/caches/cached_path.hpp"
#include "experiments/caches/instruction_chase.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/device_facts.hpp"
#include "experiments/sharing/scope_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

namespace gputomo::experiments {
namespace {

/// 96 KiB of code before compute capability 7.0, 192 KiB since; more takes seconds to compile.
constexpr std::uint32_t kSlots = 1536;

/// A tour of so much of a cache, together with as many constants, is more than the cache holds; what a cache shared with nothing
/// loses to accidents, and what a shared one loses at least.
constexpr double kPart = 0.75, kUndisturbed = 0.1, kDisturbed = 0.5;
constexpr std::uint64_t kMostConstants = 64 * 1024;
constexpr std::uint64_t kLaps = 8;
/// Capacities of one cache on two paths differ by no more than this share.
constexpr double kSameCapacity = 0.1;

double share_above(const std::vector<double>& latencies, double border) {
    const auto above = std::ranges::count_if(latencies, [border](double latency) { return latency > border; });
    return static_cast<double>(above) / static_cast<double>(std::max<std::size_t>(1, latencies.size()));
}

/// One visit of each line: of several only the first can miss.
std::uint64_t step_through(const PathLevel& cache, const PathQuestion& question) {
    return cache.findings.line.confidence > 0 ? static_cast<std::uint64_t>(cache.findings.line.value) : 2 * question.stride;
}

/// The constant cache of that capacity; empty where there is none.
std::string constant_cache_of(const Findings& findings, double capacity) {
    for (int level = 1; level <= 3; ++level) {
        auto name = fmt::format("constant_l{}", level);
        const auto known = findings.number(fmt::format("caches.{}.capacity", name));
        if (known && std::abs(*known - capacity) <= kSameCapacity * capacity) return name;
    }
    return {};
}

/// Which of the caches constants take room in (Wong 2010, IV-J5), and what the branch to a slot hides of a latency: the difference
/// of one and the same cache on both paths.
void find_shared(Context& context, InstructionChase& chase, const PathQuestion& question, PathFindings& findings, Outcome& outcome) {
    std::vector<double> hidden;
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        auto& cache = findings.caches[i];
        const auto capacity = static_cast<double>(cache.least_capacity());
        const auto code = deduce::strided(static_cast<std::uint64_t>(kPart * capacity), step_through(cache, question));
        const double border = findings.borders_of(i)[1];
        const auto constants = static_cast<std::uint32_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(kPart * capacity), kMostConstants));
        const double alone = share_above(chase.walk_beside_constants(code, 0, kLaps), border);
        const double beside = share_above(chase.walk_beside_constants(code, constants, kLaps), border);
        if (alone > kUndisturbed || beside < kDisturbed) continue;
        const auto name = constant_cache_of(context.findings, capacity);
        if (name.empty()) {
            outcome.warnings.push_back(
                fmt::format("{}: constants take room in {}, but none of the caches found on their path has its capacity", question.experiment, cache.name));
            continue;
        }
        if (const auto latency = context.findings.number(fmt::format("caches.{}.latency", name))) {
            // Of all SMs, as the constants' latency is: that of a cache of the whole GPU depends on the SM.
            if (const auto seen = seen_latency(context, findings, i, question)) hidden.push_back(*latency - *seen);
        }
        cache.name = name;
        cache.elsewhere = true;
    }
    findings.hidden_unknown = hidden.empty() && context.findings.find("paths.constant.caches") != nullptr;
    if (!hidden.empty()) findings.hidden = deduce::median(hidden);
}

/// What the code of others pushes out of SM 0's, in parts of that.
class CodeLosses {
public:
    /// The caches' latency is less than `border`.
    CodeLosses(InstructionChase& chase, std::uint32_t sms, std::uint32_t schedulers, double border)
        : chase_(chase), sms_(sms), schedulers_(schedulers), border_(border) {}
    /// Both blocks' code, and how often the rival runs through its own.
    void set(std::vector<std::uint64_t> own, std::vector<std::uint64_t> rivals, std::uint32_t laps) {
        code_ = {.own = std::move(own), .rivals = std::move(rivals), .warps = schedulers_};
        laps_ = laps;
        // A rival that only waits does so in code as well: far away.
        alone_ = slow(sms_ - 1, 0, 0);
    }
    /// To each warp of a block on SM 0, one for each scheduler; `rival` is then the warp's number.
    [[nodiscard]] Sharing to_warps() {
        Sharing sharing;
        for (std::uint32_t warp = 0; warp < schedulers_; ++warp)
            if (const auto lost = to(0, warp)) sharing.losses.push_back({warp, *lost});
        return sharing;
    }
    [[nodiscard]] Sharing to_sms(std::uint32_t warp) {
        Sharing sharing;
        for (std::uint32_t rival = 0; rival < sms_; ++rival)
            if (const auto lost = to(rival, warp)) sharing.losses.push_back({rival, *lost});
        return sharing;
    }

private:
    /// The least of some: blocks that come and leave at once run through code as well, and may do so on the first block's scheduler meanwhile.
    [[nodiscard]] std::optional<double> to(std::uint32_t rival, std::uint32_t warp) {
        constexpr int kRuns = 3;
        std::optional<double> least;
        for (int i = 0; alone_ && i < kRuns && (!least || *least > kUndisturbed); ++i) {
            const auto beside = slow(rival, warp, laps_);
            if (!beside) break;
            least = std::min(least.value_or(1), *beside - *alone_);
        }
        return least;
    }
    std::optional<double> slow(std::uint32_t rival, std::uint32_t warp, std::uint32_t laps) {
        code_.rival = rival, code_.rival_warp = warp, code_.laps = laps;
        const auto latencies = chase_.compete(code_);
        return latencies ? std::optional(share_above(*latencies, border_)) : std::nullopt;
    }
    InstructionChase& chase_;
    std::uint32_t sms_, schedulers_;
    double border_;
    InstructionChase::Competition code_;
    std::uint32_t laps_ = 0;
    std::optional<double> alone_;
};

/// Of each cache that is not known by another path: which SMs' code pushes out that of SM 0 (Wong 2010, IV-K1), or which of its warps'.
void find_scopes(Context& context, InstructionChase& chase, const PathQuestion& question, const PathFindings& findings, Outcome& outcome) {
    constexpr std::uint32_t kRivalLaps = 3, kLapsOfAll = 2;
    const auto schedulers = static_cast<std::uint32_t>(context.findings.number("issue.schedulers_per_sm").value_or(1));
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        const auto& cache = findings.caches[i];
        if (cache.elsewhere) continue;
        const auto line = step_through(cache, question);
        const Footprints bytes(cache.least_capacity(), cache.most_capacity());
        // The rival's code begins at the next way of any size, so that it covers the same sets.
        const std::uint64_t begin = std::bit_ceil(bytes.own);
        const auto rivals = [&](std::uint64_t length) {
            auto offsets = deduce::strided(length, line);
            for (auto& offset : offsets) offset += begin;
            return offsets;
        };
        if (begin + bytes.together - bytes.own > question.room) continue;
        CodeLosses losses(chase, sms_of(context.device), schedulers, findings.borders_of(i)[1]);
        losses.set(deduce::strided(bytes.own, line), rivals(bytes.together - bytes.own), kRivalLaps);
        auto warps = losses.to_warps();
        if (!warps.any_takes()) {  // what is a little more than a cache holds leaves most of it there if it does not go by age
            losses.set(deduce::strided(bytes.own, line), rivals(question.room - begin), kLapsOfAll);
            warps = losses.to_warps();
        }
        const auto leaf = fmt::format("caches.{}.scope", cache.name);
        if (report_scheduler(leaf, warps, question.experiment + ": code of another block's warps on SM 0 competes with one warp's", outcome)) continue;
        report_scope(context, leaf, losses.to_sms(warps.most_taking()), question.experiment + ": code on the other SMs competes with code on SM 0", outcome);
    }
}

/// Levels that were not shown to be the constants' may still be: what is said of them is a candidate.
void leave_open_behind_the_first(Outcome& outcome) {
    for (auto& estimate : outcome.estimates) {
        if (estimate.verdict != deduce::Verdict::decided || estimate.path.starts_with("caches.instruction_l1.")) continue;
        estimate.verdict = deduce::Verdict::undecided;
        estimate.candidates = {estimate.value};
    }
    outcome.warnings.emplace_back("instruction_caches: no level behind the first was shown to be the constants', so that they and their latencies stay open");
}

Outcome measure(Context& context) {
    Outcome outcome;
    InstructionChase chase(context, kSlots);
    chase.describe(0.1, "instructions");
    PathQuestion question{.experiment = "instruction_caches",
                          .path = "instruction",
                          .smallest = 1024,
                          .largest = chase.room(),
                          .room = chase.room(),
                          .stride = chase.slot_bytes(),
                          .word = chase.slot_bytes()};
    question.least_step = least_level_step(context.findings);
    question.walk = [&](const auto& offsets, std::uint64_t warm, std::uint64_t loads, std::optional<std::uint32_t> sm) {
        return chase.walk(offsets, warm, loads, sm);
    };
    question.occupied = InstructionChase::kHead;
    question.chase_behind = chase.chase_behind();
    auto findings = measure_caches(context, chase.chase(), question, outcome);
    if (findings.caches.empty()) {  // nothing that a fetch could take time for
        outcome.warnings.push_back(question.experiment + ": all code is served alike, up to the largest walk");
        return outcome;
    }
    chase.describe(0.7, "instructions beside constants");
    find_shared(context, chase, question, findings, outcome);
    report_caches(findings, question, outcome);
    chase.describe(0.75, "instructions beside those of other SMs");
    find_scopes(context, chase, question, findings, outcome);
    if (findings.hidden_unknown) leave_open_behind_the_first(outcome);
    chase.describe(0.8, "latency by SM");
    measure_latencies(context, findings, question, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment instruction_caches_experiment() {
    return {.id = "instruction_caches",
            .title = "caches on the way to instructions, and what they share with constants",
            .source = "Wong 2010, IV-K, Figs. 21-23",
            .needs = {},
            .after = {"clock", "caches", "constant_caches", "issue"},
            .provides = {"caches.*.scope", "caches.*.latency", "caches.*.latency_range", "caches.*.capacity", "caches.*.line", "caches.*.sector",
                         "caches.*.ways", "caches.*.sets", "caches.*.index", "caches.*.policy", "paths.instruction.caches", "paths.instruction.memory_latency",
                         "paths.instruction.memory_latency_range"},
            .run = run,
            .compile_ahead = [](const Context& context) { InstructionChase::compile_ahead(context.device, kSlots); }};
}

}  // namespace gputomo::experiments
