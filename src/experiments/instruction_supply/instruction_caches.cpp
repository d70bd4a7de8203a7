// The caches on the way to instructions.
#include "experiments/experiments.hpp"

#include "experiments/caches/cached_path.hpp"
#include "experiments/caches/scope_report.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/instruction_supply/code_ahead.hpp"
#include "measure/code_fetch/fetch_entries.hpp"
#include "measure/code_fetch/instruction_chase.hpp"
#include "measure/kernel/device_facts.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace gputomo::experiments {
namespace {

/// A little more than 96 KiB of code before compute capability 7.0, 192 KiB since; more takes seconds to compile.
constexpr std::uint32_t kSlots = 1544;

/// A tour of so much of a cache, together with as many constants, is more than the cache holds; what a cache shared
/// with nothing loses to accidents, and what a shared one loses at least.
constexpr double kPart = 0.75, kUndisturbed = 0.1, kDisturbed = 0.5;
constexpr std::uint64_t kMostConstants = 64 * 1024;
constexpr std::uint64_t kLaps = 8;
/// Capacities of one cache on two paths differ by no more than this share.
constexpr double kSameCapacity = 0.1;

/// One visit of each line: of several only the first can miss.
std::uint64_t step_through(const PathLevel& cache, const PathQuestion& question) {
    const auto& line = cache.findings.line;
    if (!line.candidates.empty()) return static_cast<std::uint64_t>(line.candidates.back());
    return line.confidence > 0 ? static_cast<std::uint64_t>(line.value) : 2 * question.stride;
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

/// Which of the caches constants take room in (Wong 2010, IV-J5), and what the branch to a slot hides of a latency: the
/// difference of one and the same cache on both paths.
void find_shared(Context& context, InstructionChase& chase, const PathQuestion& question, PathFindings& findings,
                 Outcome& outcome) {
    std::vector<double> hidden;
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        auto& cache = findings.caches[i];
        const auto capacity = static_cast<double>(cache.least_capacity());
        const auto bytes = static_cast<std::uint64_t>(kPart * capacity);
        const auto code = deduce::strided(bytes, step_through(cache, question), question.most_loads);
        const double border = findings.borders_of(i)[1];
        const auto constants = static_cast<std::uint32_t>(std::min(bytes, kMostConstants));
        const double alone = share_above(chase.latencies_beside_constants(code, 0, kLaps), border);
        const double beside = share_above(chase.latencies_beside_constants(code, constants, kLaps), border);
        if (alone > kUndisturbed || beside < kDisturbed) continue;
        const auto name = constant_cache_of(context.findings, capacity);
        if (name.empty()) {
            outcome.warnings.push_back(fmt::format(
                "{}: constants take room in {}, but none of the caches found on their path has its capacity",
                question.experiment, cache.name));
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
    if (!hidden.empty()) findings.hidden = median(hidden);
}

/// What the code of others pushes out of SM 0's, in parts of that.
class CodeLosses {
public:
    /// The caches' latency is less than `border`.
    CodeLosses(InstructionChase& chase, std::uint32_t sms, std::uint32_t schedulers, double border)
        : chase_(chase), sms_(sms), schedulers_(schedulers), border_(border) {}
    /// Both blocks' code. The rival runs through its own again and again, since a cache that does not go by age gives
    /// its lines up one by one.
    void set(std::vector<std::uint64_t> own, std::vector<std::uint64_t> rivals) {
        constexpr std::size_t kFewestLaps = 2, kMostLaps = 12;
        laps_ = static_cast<std::uint32_t>(
            std::clamp(chase_.most_interfering_visits() / (rivals.size() + 1), kFewestLaps, kMostLaps));
        code_ = {.own = std::move(own), .rivals = std::move(rivals), .warps = schedulers_};
        // A rival that only waits does so in code as well: far away.
        const auto competed = beside(sms_ - 1, 0, 0);
        alone_ = competed ? std::optional(share_above(competed->latencies, border_)) : std::nullopt;
    }
    /// To warps of a block on SM 0, one for each scheduler; `rival` is then how many schedulers its own is behind that
    /// of the first one's warp. Blocks get their schedulers as they come, so that one and the same warp of a block may
    /// have another one the next time.
    [[nodiscard]] Sharing to_warps() {
        std::map<std::uint32_t, double> least;
        for (std::uint32_t run = 0; run < kRuns * schedulers_ && alone_; ++run) {
            const auto competed = beside(0, run % schedulers_, laps_);
            if (!competed) continue;
            const std::uint32_t behind =
                (competed->rivals_slot + schedulers_ - competed->slot % schedulers_) % schedulers_;
            const double lost = share_above(competed->latencies, border_) - *alone_;
            const auto [at, added] = least.emplace(behind, lost);
            if (!added) at->second = std::min(at->second, lost);
        }
        Sharing sharing;
        for (const auto& [behind, lost] : least) sharing.losses.push_back({behind, lost});
        return sharing;
    }
    [[nodiscard]] Sharing to_sms() {
        Sharing sharing;
        for (std::uint32_t rival = 0; rival < sms_; ++rival)
            if (const auto lost = to(rival)) sharing.losses.push_back({rival, *lost});
        return sharing;
    }

private:
    /// The least of so many: blocks that come and leave at once run through code as well, and may do so on the first
    /// block's scheduler meanwhile.
    static constexpr std::uint32_t kRuns = 3;

    [[nodiscard]] std::optional<double> to(std::uint32_t rival) {
        std::optional<double> least;
        for (std::uint32_t i = 0; alone_ && i < kRuns && (!least || *least > kUndisturbed); ++i) {
            const auto competed = beside(rival, 0, laps_);
            if (!competed) break;
            least = std::min(least.value_or(1), share_above(competed->latencies, border_) - *alone_);
        }
        return least;
    }
    std::optional<InstructionChase::InterferedRun> beside(std::uint32_t rival, std::uint32_t warp, std::uint32_t laps) {
        code_.rival = rival, code_.rival_warp = warp, code_.passes = laps;
        return chase_.run_with_rival(code_);
    }
    InstructionChase& chase_;
    std::uint32_t sms_, schedulers_;
    double border_;
    InstructionChase::Interference code_;
    std::uint32_t laps_ = 0;
    std::optional<double> alone_;
};

/// Of each cache that is not known by another path: which SMs' code pushes out that of SM 0 (Wong 2010, IV-K1), or
/// which of its warps'.
void find_scopes(Context& context, InstructionChase& chase, const PathQuestion& question, const PathFindings& findings,
                 Outcome& outcome) {
    const auto schedulers = static_cast<std::uint32_t>(context.findings.number("issue.schedulers_per_sm").value_or(1));
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        const auto& cache = findings.caches[i];
        if (cache.elsewhere) continue;
        const Footprints bytes(cache.least_capacity(), cache.most_capacity());
        // Both blocks may share a cache of constants.
        const std::uint64_t most_visits = question.most_loads / 2;
        const std::uint64_t step = step_through(cache, question);
        // Of lines that a miss brings along none would be seen to be lost.
        const auto own = deduce::strided(bytes.own, step + cache.ahead, most_visits);
        // The rival's code begins at the next way of any size, so that it covers the same sets, or where there is no
        // room for that, behind the other one.
        const std::uint64_t rest = bytes.together - bytes.own,
                            behind = (bytes.own / code_chase::kAlignment + 1) * code_chase::kAlignment;
        const std::uint64_t begin =
            std::bit_ceil(bytes.own) + rest <= question.room ? std::bit_ceil(bytes.own) : behind;
        const auto rivals = [&](std::uint64_t length) {
            auto offsets = deduce::strided(length, step, most_visits);
            for (auto& offset : offsets) offset += begin;
            return offsets;
        };
        if (begin + rest > question.room) continue;
        CodeLosses losses(chase, sms_of(context.device), schedulers, findings.borders_of(i)[1]);
        losses.set(own, rivals(rest));
        auto warps = losses.to_warps();
        if (!warps.any_takes()) {  // what is a little more than a cache holds leaves most of it there if it does not go
                                   // by age
            losses.set(own, rivals(std::min(question.room - begin, std::max(bytes.together, most_visits * step))));
            warps = losses.to_warps();
        }
        const auto leaf = fmt::format("caches.{}.scope", cache.name);
        if (report_scheduler(leaf, warps,
                             question.experiment + ": code of another block's warps on SM 0 competes with one warp's",
                             outcome))
            continue;
        report_scope(context, leaf, losses.to_sms(),
                     question.experiment + ": code on the other SMs competes with code on SM 0", outcome);
    }
}

/// Levels that were not shown to be the constants' may still be: what is said of them is a candidate.
void leave_open_behind_the_first(Outcome& outcome) {
    for (auto& estimate : outcome.estimates) {
        if (estimate.knowledge != results::Knowledge::known || estimate.path.starts_with("caches.instruction_l1."))
            continue;
        estimate.knowledge = results::Knowledge::undecided;
        estimate.candidates = {estimate.value};
    }
    outcome.warnings.emplace_back(
        "instruction_caches: no level behind the first was shown to be the constants', so that they and their "
        "latencies stay open");
}

Outcome measure(Context& context) {
    Outcome outcome;
    InstructionChase chase(context, kSlots, context.findings.number("caches.constant_l1.capacity"));
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
        return chase.latencies(offsets, warm, loads, sm);
    };
    question.occupied = chase.dispatcher_bytes();
    question.most_loads = chase.most_visits();
    question.chase_behind = chase.chase_behind();
    auto findings = measure_caches(context, chase.chase(), question, outcome);
    if (findings.caches.empty()) {  // nothing that a fetch could take time for
        outcome.warnings.push_back(question.experiment + ": all code is served alike, up to the largest walk");
        return outcome;
    }
    chase.describe(0.6, "code beside code");
    find_code_ahead(context, chase, question, findings, outcome);
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
            .method = "instruction-supply",
            .explanation =
                "A dispatcher reads the clock and jumps through code of growing size, in an order that no "
                "prefetcher follows. Where loads of constants evict code, both share a cache.",
            .needs = {},
            .after = {"clock", "caches", "constant_caches", "issue"},
            .provides = {"caches.*.scope", "caches.*.latency", "caches.*.latency_range", "caches.*.capacity",
                         "caches.*.line", "caches.*.sector", "caches.*.ways", "caches.*.sets", "caches.*.index",
                         "caches.*.policy", "paths.instruction.caches", "paths.instruction.memory_latency",
                         "paths.instruction.memory_latency_range"},
            .run = run,
            .compile_ahead = [](const Context& context) {
                InstructionChase::compile_ahead(context.device, kSlots);
                FetchEntries::compile_ahead(context.device);
            }};
}

}  // namespace gputomo::experiments
