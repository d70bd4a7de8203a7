// How much longer a page walk takes if the page-table entry comes from memory instead of a cache (Mei 2014, Table 3,
// patterns 3 and 5).
//
// One chase has three parts. It first visits enough pages to evict the timed ones from all TLBs. It then visits enough
// lines of two or three pages to evict all data and the page table from the last cache. Finally it visits the timed
// pages. A second chase visits the neighbour of each timed page just before: its entry lies in the same line of the
// page table, which a cache then holds. Data and TLBs miss in both.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/tlbs/tlb_levels.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/chase/translation_chase.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace gputomo::experiments {
namespace page_walk {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Timed pages, and the fewest page-table entries between two of them: no line of a page table holds more entries.
constexpr std::uint64_t kCounted = 6, kApart = 32;
/// Visiting this many times the entries of the TLBs, and the bytes of the caches, evicts everything else. This holds
/// even if only half of the fills replace the oldest entry.
constexpr std::uint64_t kTurnover = 3;
/// Most elements of a chase. Larger caches would take too long to flush line by line.
constexpr std::uint64_t kMostElements = 1 << 18;
constexpr std::uint64_t kLine = 64;
/// Chases of either kind, each over other lines of the pages, and the fewest cycles that a walk to memory takes longer.
constexpr std::uint64_t kRepeats = 5;
constexpr double kLeastCost = 8;

/// The path of global loads as earlier experiments found it.
struct KnownTranslation {
    std::uint64_t span = 0;     ///< bytes of the largest TLB entry
    std::uint64_t entries = 0;  ///< of all TLBs
    std::uint64_t cached = 0;   ///< most bytes that the last cache may hold
    std::uint64_t window = 0;   ///< bytes whose pages are active at once; 0: all
};

std::optional<KnownTranslation> known_translation(const Findings& findings) {
    KnownTranslation known;
    for (const auto& name : names_of(findings, "paths.global.tlbs")) {
        const auto span = findings.number("tlbs." + name + ".span"),
                   entries = findings.number("tlbs." + name + ".entries");
        if (!span || !entries) return std::nullopt;
        known.span = std::max(known.span, static_cast<std::uint64_t>(*span));
        known.entries += static_cast<std::uint64_t>(*entries);
    }
    const auto caches = names_of(findings, "paths.global.caches");
    if (known.entries == 0 || caches.empty()) return std::nullopt;
    known.cached = static_cast<std::uint64_t>(most_capacity(findings, caches.back()));
    known.window = static_cast<std::uint64_t>(findings.number("paths.global.page_window").value_or(0));
    return known.cached == 0 ? std::nullopt : std::optional(known);
}

/// The pages of a chase in a plain array.
class PageSequences {
public:
    explicit PageSequences(const KnownTranslation& known)
        : known_(known), apart_(std::max(kApart, kTurnover * known.entries / kCounted / 2 * 2)) {}
    /// Bytes of the pages that are visited and of those that flush the cache.
    [[nodiscard]] std::uint64_t bytes() const { return (kCounted * apart_ + flushing_pages()) * known_.span; }
    [[nodiscard]] std::uint64_t elements() const { return kCounted * apart_ + kTurnover * known_.cached / kLine; }

    /// Offsets in the array, the timed pages last. `repeat` shifts the lines that are visited.
    [[nodiscard]] std::vector<std::uint64_t> sequence(std::uint64_t repeat, bool neighbours_first) const {
        std::vector<std::uint64_t> offsets;
        const auto visit = [&](std::uint64_t page) {
            offsets.push_back(page * known_.span + (page * kPlaces + repeat) * kLine % known_.span);
        };
        for (std::uint64_t page = 0; page < kCounted * apart_; ++page)
            if (page % apart_ > 1) visit(page);
        for (std::uint64_t at = 0; at < kTurnover * known_.cached; at += kLine)
            offsets.push_back(kCounted * apart_ * known_.span + at);
        for (std::uint64_t i = 0; neighbours_first && i < kCounted; ++i) visit(i * apart_ + 1);
        for (std::uint64_t i = 0; i < kCounted; ++i) visit(i * apart_);
        return offsets;
    }

private:
    /// Lines by which the offsets in neighbouring pages differ: an odd number.
    static constexpr std::uint64_t kPlaces = 37;
    [[nodiscard]] std::uint64_t flushing_pages() const { return kTurnover * known_.cached / known_.span + 1; }
    KnownTranslation known_;
    std::uint64_t apart_;  ///< pages from one timed page to the next
};

class PageWalk {
public:
    PageWalk(Context& context, const PageSequences& sequences)
        : sequences_(sequences),
          memory_(MappedWindow::plain(context.device, sequences.bytes(), kPlainPage)),
          chase_(context.device, {.hint = LoadHint::l2_only,
                                  .records = kCounted + 1,
                                  .start_to_start = clock_step(context.findings) > 1}) {}

    /// Latencies of the timed loads.
    std::vector<double> latencies(bool neighbours_first) {
        std::vector<double> cycles;
        for (std::uint64_t repeat = 0; repeat < kRepeats; ++repeat) {
            auto order = sequences_.sequence(repeat, neighbours_first);
            for (auto& place : order) place += memory_.window().base;
            chase_.write_cycle(order);
            const auto once = chase_.latencies_of_cycle(order, 2 * order.size() - kCounted, kCounted, 0);
            cycles.insert(cycles.end(), once.begin(), once.end());
        }
        return cycles;
    }
    [[nodiscard]] std::array<const CompiledKernel*, 3> kernels() const { return chase_.kernels(); }

private:
    const PageSequences& sequences_;
    MappedWindow memory_;
    PointerChase chase_;
};

Outcome measure(Context& context) {
    Outcome outcome;
    const auto known = known_translation(context.findings);
    if (!known || aliased_page(context.device) > 0) return outcome;
    const PageSequences sequences(*known);
    const auto memory =
        static_cast<std::uint64_t>(context.device.attribute(device::Attribute::total_memory_bytes).value_or(0));
    const std::uint64_t most = std::min(memory / 2, known->window > 0 ? known->window : memory);
    if (sequences.bytes() > most || sequences.elements() > kMostElements) {
        outcome.warnings.push_back(fmt::format(
            "page_walk: nothing was measured, because TLBs and caches are too large to be flushed within {} MiB",
            most >> 20));
        return outcome;
    }
    context.progress(0.3, "page table entries from memory and from a cache");
    PageWalk walk(context, sequences);
    add_code_checks(walk.kernels(), outcome);
    const auto from_memory = walk.latencies(false), from_cache = walk.latencies(true);
    const double step = clock_step(context.findings);
    const double cost = mean_near_median(from_memory, step) - mean_near_median(from_cache, step);
    const Evidence evidence{
        "page_walk: loads that miss in all TLBs and caches, with and without a visit to the neighbouring page just "
        "before",
        kConfidence};
    outcome.estimates.push_back(cost > kLeastCost ? decided_integer("paths.global.page_walk_memory_penalty",
                                                                    {cost, cost - step, cost + step}, evidence)
                                                  : absent("paths.global.page_walk_memory_penalty", evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace page_walk

Experiment page_walk_experiment() {
    return {.id = "page_walk",
            .title = "what a page walk to memory takes longer than one that a cache serves",
            .source = "Mei 2014, Table 3, patterns 3 and 5",
            .method = "tlbs",
            .explanation =
                "Loads touch pages that no TLB holds and lines that no cache holds, with or without a load to the "
                "neighbouring page just before. The neighbour brings the line of the page table that both pages "
                "share. The time that a load takes longer without the neighbour is that of a page walk to memory.",
            .needs = {},
            .after = {"clock", "caches", "tlb", "page_window"},
            .provides = {"paths.global.page_walk_memory_penalty"},
            .run = page_walk::run};
}

}  // namespace gputomo::experiments
