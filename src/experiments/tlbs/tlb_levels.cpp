#include "experiments/tlbs/tlb_levels.hpp"

#include "deduce/cache/findings/cache_estimates.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/tlbs/translation_levels.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kLevelConfidence = 0.95;
/// Most loads of one pass; TLBs have fewer entries.
constexpr std::uint64_t kMostLoads = 1 << 14;
/// Budget of the eviction-set search in loads. Each costs several others, which measure the latency of the data.
constexpr std::uint64_t kGroupTestLoads = 1 << 20;
/// A level is measured within one window of active pages, which avoids switches between windows, if the window is large
/// enough. It must be at least this many times the smallest range that overflows the level.
constexpr double kEnoughOfWindow = 1.5;

/// The TLB and how many other entries evict one of its own. Policies other than LRU and FIFO now and then keep an entry
/// for longer than there are ways, so more entries are needed. FIFO does so too if accesses come in any order. Twice as
/// many entries would suffice then, but would also evict the entry from a farther TLB.
UpperTlb near_tlb(const deduce::CacheFindings& findings) {
    const auto ways = static_cast<std::uint64_t>(findings.ways.value);
    const bool in_order = findings.policy.name == "lru" || findings.policy.name == "fifo";
    return {static_cast<std::uint64_t>(findings.line.value), static_cast<std::uint64_t>(findings.sets.value),
            in_order ? ways : ways + ways / 2 + 2};
}

void add_tlb(const std::string& name, const FoundTlb& tlb, const std::string& experiment, Outcome& outcome) {
    const auto prefix = "tlbs." + name;
    for (auto& estimate : deduce::tlb_estimates(tlb.findings, prefix, experiment))
        outcome.estimates.push_back(std::move(estimate));
    for (const auto& remark : tlb.findings.remarks) outcome.warnings.push_back(fmt::format("{}: {}", name, remark));
    if (!tlb.confirmed()) return;
    auto penalty =
        decided(prefix + ".miss_penalty", static_cast<std::int64_t>(std::llround(tlb.penalty)),
                {experiment + ": difference of the median latencies of loads that hit here and in the next level",
                 kLevelConfidence});
    penalty.interval = {tlb.penalty - tlb.spread, tlb.penalty + tlb.spread};
    outcome.estimates.push_back(std::move(penalty));
}

results::Trace levels_trace(const std::string& name) {
    results::Trace trace{.name = name, .experiment = name.substr(0, name.find('/'))};
    trace.columns = {{"range", "bytes", {}}, {"median", "cycles", {}}, {"low", "cycles", {}}, {"high", "cycles", {}}};
    trace.plot = {"Time of a dependent load for translation against the range of addresses",
                  "range",
                  {"median", "high"},
                  true,
                  false};
    return trace;
}

}  // namespace

DataCaches data_caches(const Findings& findings, const std::string& path, const std::string& prefix) {
    DataCaches caches;
    for (int level = 1; level <= 3; ++level) {
        caches.capacity = std::max(
            caches.capacity, static_cast<std::uint64_t>(most_capacity(findings, fmt::format("{}{}", prefix, level))));
        const auto cached = findings.number(fmt::format("caches.{}{}.latency", prefix, level));
        const auto memory = findings.number(fmt::format("paths.{}.memory_latency", path));
        if (cached && memory) caches.miss_cost = *memory - *cached;
    }
    return caches;
}

std::vector<FoundTlb> find_tlbs(Context& context, const MappedWindow& mapped, const TlbQuestion& asked,
                                Outcome& outcome) {
    TranslationChase translation(context, mapped, asked.caches, asked.hint, asked.page_windows);
    add_code_checks(translation.kernels(), outcome);
    const Window& window = translation.window();
    translation.describe(0.1, "levels of translation");
    auto trace = levels_trace(asked.trace);
    const auto levels = find_translation_levels(translation, asked.stride, clock_step(context.findings), trace);
    outcome.traces.push_back(std::move(trace));
    std::vector<FoundTlb> found;
    deduce::CacheQuestion question{.buffer_bytes = window.bytes,
                                   .word = window.word,
                                   .probe_stride = window.word,
                                   .max_pass_loads = kMostLoads,
                                   .group_test_loads = kGroupTestLoads,
                                   .seed = context.seed};
    deduce::Chase chase = translation.chase();
    // The cost of a switch between windows looks like a miss and is known to some cycles only.
    const std::uint64_t active =
        asked.page_windows.bytes > 0 ? std::min(asked.page_windows.bytes, window.bytes) : window.bytes;
    const auto suffices = [&](std::uint64_t bytes, std::size_t level) {
        return static_cast<double>(bytes) >= kEnoughOfWindow * static_cast<double>(levels[level].overflows);
    };
    if (suffices(active, 0)) question.buffer_bytes = active;
    std::vector<UpperTlb> near;
    for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
        question.threshold = (levels[level].latency + levels[level + 1].latency) / 2;
        question.fits = levels[level].fits;
        question.overflows = levels[level].overflows;
        translation.describe(0.3 + 0.3 * static_cast<double>(level), fmt::format("geometry of level {}", level + 1));
        found.push_back({deduce::deduce_geometry(chase, question), levels[level + 1].latency - levels[level].latency,
                         std::max(levels.front().spread(), levels[level].uncertainty + levels[level + 1].uncertainty)});
        if (!found.back().has_geometry()) continue;
        near.push_back(near_tlb(found.back().findings));
        UnfilteredTlbChase unfiltered(translation, near, active);
        if (!suffices(unfiltered.end(), level + 1)) unfiltered = UnfilteredTlbChase(translation, near, window.bytes);
        if (unfiltered.end() == 0) continue;
        question.buffer_bytes = unfiltered.end();
        question.probe_stride = near.back().span;
        question.filtered = true;
        chase = unfiltered;
    }
    return found;
}

void report_tlbs(const std::vector<FoundTlb>& found, const std::string& path, std::uint64_t range,
                 const std::string& experiment, Outcome& outcome) {
    std::vector<std::string> names;
    for (const auto& tlb : found) {
        names.push_back(fmt::format("{}_l{}", path, names.size() + 1));
        add_tlb(names.back(), tlb, experiment, outcome);
    }
    Evidence evidence{experiment + ": levels of latency against the range of addresses, less the latency of the data",
                      kLevelConfidence};
    if (names.empty()) evidence.note = fmt::format("no load missed a TLB within {} MiB of addresses", range >> 20);
    const bool confirmed = std::ranges::all_of(found, &FoundTlb::confirmed);
    const auto leaf = fmt::format("paths.{}.tlbs", path);
    outcome.estimates.push_back(confirmed ? decided(leaf, names, evidence) : undecided(leaf, {}, evidence));
}

}  // namespace gputomo::experiments
