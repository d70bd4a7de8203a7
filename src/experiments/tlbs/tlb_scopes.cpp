// Which SMs share each TLB: blocks on two SMs touch different pages (Wong 2010, IV-I and IV-J4).
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/caches/scope_report.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/interference_chase.hpp"
#include "measure/chase/translation_chase.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace gputomo::experiments {
namespace tlb_scopes {
namespace {

constexpr auto kMethod = "tlb_scopes: a block on each other SM competes with a block on SM 0 for entries";
/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Loads of an array: every SM touches it, and more would take minutes.
constexpr std::uint64_t kMostLoads = 16384;
/// Pages that are mapped at most, which takes half a second.
constexpr std::uint64_t kMostMappings = 16384;
/// Without aliasing, bytes of the largest array and of the smallest page of any GPU so far.
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30, kSmallPage = 4096;
/// Bytes by which loads differ within their pages: more than any line, and at least a word.
constexpr std::uint64_t kSpread = 264, kWord = 8;
/// Share of the last cache that the lines of both arrays take at most, so that the data stay resident.
constexpr double kPartOfCache = 0.5;

struct KnownTlb {
    std::string name;
    std::uint64_t reach = 0, most = 0;  ///< bytes: the lower and upper end of the reach
    std::uint64_t step = 0;             ///< bytes; addresses this far apart have different entries, as far as is known
    std::uint64_t filtered = 0;  ///< bytes that an entry of the previous level spans, within which it filters lookups
    double penalty = 0;          ///< cycles of a miss
};

/// The TLBs of a path as earlier experiments found them, up to the first whose reach is unknown.
std::vector<KnownTlb> tlbs_of(const Findings& findings, const std::string& path) {
    std::vector<KnownTlb> tlbs;
    std::uint64_t step = 0;
    for (const auto& name : names_of(findings, fmt::format("paths.{}.tlbs", path))) {
        const auto leaf = [&](std::string_view what) { return fmt::format("tlbs.{}.{}", name, what); };
        const auto reach = least_of(findings, leaf("reach"));
        const auto penalty = findings.number(leaf("miss_penalty"));
        if (!reach || !penalty || *reach <= 0 || *penalty <= 0) break;
        const auto span = findings.number(leaf("span"));
        const std::uint64_t before = step;
        // If the span is undecided, that of the previous level counts.
        step = span ? static_cast<std::uint64_t>(*span) : step;
        const auto most = most_of(findings, leaf("reach")).value_or(*reach);
        tlbs.push_back(
            {name, static_cast<std::uint64_t>(*reach), static_cast<std::uint64_t>(most), step, before, *penalty});
    }
    return tlbs;
}

using Arrays = std::array<std::vector<device::Address>, 2>;

/// One load for each entry. The rival's entries begin at the next power of two, so that they cover the same sets.
Arrays arrays_in(const Window& window, std::uint64_t page, const KnownTlb& tlb, std::uint64_t step) {
    const Footprints bytes(tlb.reach, tlb.most);
    const std::uint64_t count = bytes.own / step, rivals = bytes.together / step - count;
    const std::uint64_t second = std::bit_ceil(count * step);
    if (count == 0 || rivals > kMostLoads || second + rivals * step > window.bytes) return {};
    const std::uint64_t apart = std::clamp(page / (2 * rivals) / kWord * kWord, kWord, kSpread);
    // Neighbours are visited long after each other, when the previous level has evicted the entry that spans both.
    const std::uint64_t neighbours = std::clamp<std::uint64_t>(tlb.filtered / step, 1, count);
    const auto fill = [&](std::vector<device::Address>& array, device::Address begin, std::uint64_t entries,
                          std::uint64_t odd) {
        for (std::uint64_t first = 0; first < neighbours; ++first)
            for (std::uint64_t i = first; i < entries; i += neighbours)
                array.push_back(begin + i * step + (2 * i + odd) * apart % page / kWord * kWord);
    };
    Arrays arrays;
    fill(arrays[0], window.base, count, 0);
    fill(arrays[1], window.base + second, rivals, 1);
    return arrays;
}

class TlbScopes {
public:
    explicit TlbScopes(Context& context) : context_(context), page_(aliased_page(context.device)) {}

    Outcome measure() {
        const auto tlbs = tlbs_of(context_.findings, "global");
        for (std::size_t i = 0; i < tlbs.size(); ++i) {
            context_.progress(static_cast<double>(i) / static_cast<double>(tlbs.size()),
                              fmt::format("what shares {}", tlbs[i].name));
            compete(tlbs[i]);
        }
        return std::move(outcome_);
    }

private:
    void compete(const KnownTlb& tlb) {
        const Footprints bytes(tlb.reach, tlb.most);
        const std::uint64_t both = std::bit_ceil(bytes.own) + bytes.together - bytes.own;
        const bool aliases = page_ > 0;
        // One mapping for each entry is enough if the span is known.
        const std::uint64_t entry = tlb.step % std::max<std::uint64_t>(page_, 1) == 0 ? tlb.step : 0;
        const std::uint64_t word = aliases ? std::max({page_, entry, std::bit_ceil(both / kMostMappings)}) : kSmallPage;
        const std::uint64_t step = std::max(tlb.step, word);
        if (!aliases && both > kMostMemory)
            return warn(tlb, "reaches farther than the largest arrays of this test, 1 GiB");
        // Parts of a step take a whole one.
        const std::uint64_t words = both / word + 3 * step / word;
        const auto mapped = aliases ? MappedWindow::aliased(context_.device, word, words)
                                    : MappedWindow::plain(context_.device, words * word, word);
        const auto arrays = arrays_in(mapped.window(), aliases ? page_ : kSmallPage, tlb, step);
        if (arrays[0].empty())
            return warn(
                tlb,
                fmt::format("needs more than {} loads from each SM, which take minutes, or more memory than is mapped",
                            kMostLoads));
        const auto cache = static_cast<double>(largest_cache(context_));
        if (cache > 0 && static_cast<double>((arrays[0].size() + arrays[1].size()) * kSpread) > kPartOfCache * cache)
            return warn(tlb, "has too many entries: one line for each takes more than half of the last cache");
        InterferenceChase competition(context_.device, LoadHint::l2_only);
        competition.set_arrays(arrays[0], arrays[1]);
        const auto sharing = compete_with_all(context_, competition, tlb.penalty);
        report_scope(context_, fmt::format("tlbs.{}.scope", tlb.name), sharing, kMethod, outcome_);
        if (outcome_.estimates.back().value == results::Value(std::string("cpc")))
            outcome_.estimates.push_back(decided("topology.sms_per_cpc",
                                                 static_cast<std::int64_t>(sharing.sharers().sms.size()),
                                                 {kMethod, kConfidence}));
    }
    void warn(const KnownTlb& tlb, std::string_view why) {
        outcome_.warnings.push_back(
            fmt::format("tlb_scopes: the scope of {} stays undecided, because it {}", tlb.name, why));
    }

    Context& context_;
    std::uint64_t page_;  ///< bytes of a page that can be mapped at many addresses; 0 if none can
    Outcome outcome_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& watched_context) { return TlbScopes(watched_context).measure(); });
}

}  // namespace
}  // namespace tlb_scopes

Experiment tlb_scopes_experiment() {
    return {.id = "tlb_scopes",
            .title = "what shares each TLB: two blocks compete for entries from chosen SMs",
            .source = "Wong 2010, IV-I and IV-J4",
            .method = "tlbs",
            .explanation =
                "A block on one SM touches part of the pages that a TLB holds, a block on another SM touches as "
                "many others, and the first touches its pages again. It is slower where both share the TLB.",
            .needs = {},
            .after = {"clock", "caches", "tlb"},
            .provides = {"tlbs.*.scope", "topology.sms_per_cpc"},
            .run = tlb_scopes::run};
}

}  // namespace gputomo::experiments
