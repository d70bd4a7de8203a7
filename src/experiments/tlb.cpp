// The TLBs on the way to global memory: levels, reach, span of an entry, ways, and what a miss costs.
#include "experiments/experiments.hpp"

#include "deduce/geometry.hpp"
#include "deduce/statistics.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/estimates.hpp"
#include "experiments/translation_chase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <memory>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.95;
/// Pages of an aliased window: 64 GiB of 2 MiB pages, mapped in under a second.
constexpr std::uint64_t kMappings = 32768;
/// A second window, should the first show nothing: pages so many words apart, since an entry may span several of them.
constexpr std::uint64_t kSparse = 16;
/// Without aliasing: a plain array, some times the reach of the largest TLB of those times (Wong 2010, IV-I).
constexpr std::uint64_t kPlainArray = std::uint64_t{1} << 30;
constexpr std::uint64_t kSmallPage = 4096;
/// Confidence of a number that is only known to lie in an interval.
constexpr double kOpen = 0.5;
/// Distance of the loads of the sweep in a plain array: no more than an entry of the first TLB spans.
constexpr std::uint64_t kPlainStride = std::uint64_t{64} << 10;
constexpr std::uint64_t kFirstElements = 2;
constexpr std::uint64_t kReadings = 64, kLeastLaps = 3;
/// Loads of one lap at most.
constexpr std::uint64_t kMostLoads = 1 << 14;
/// Each costs several: those that tell what the data take.
constexpr std::uint64_t kGroupTestLoads = 1 << 20;
/// A load this much slower than all loads of a small range missed a TLB ...
constexpr double kPlainMargin = 5, kAliasedMargin = 7;
/// ... if this share of loads did; single loads are slow for other reasons. An entry that spans 32 loads of the sweep over a plain
/// array, or 16 pages of an aliased one, is still seen.
constexpr double kPlainShare = 0.025, kAliasedShare = 0.05;

/// Loads that are answered after a certain translation effort.
struct Effort {
    double latency = 0;           ///< median
    double ceiling = 0;           ///< nearly all of its loads are faster
    std::uint64_t fits = 0;       ///< largest range tried without slower loads
    std::uint64_t overflows = 0;  ///< next larger one; 0: none
};

/// Each element's median over the laps: single loads are slow by accident.
std::vector<double> of_elements(const std::vector<double>& latencies, std::uint32_t laps) {
    const std::size_t size = latencies.size() / laps;
    std::vector<double> medians;
    std::vector<double> readings(laps);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t lap = 0; lap < laps; ++lap) readings[lap] = latencies[lap * size + i];
        medians.push_back(deduce::median(readings));
    }
    return medians;
}

/// Doubles the range; a new level is there when enough loads are slower than any before (not their median: of several loads
/// within one entry's span only the first can miss).
std::vector<Effort> find_efforts(TranslationChase& chase, std::uint64_t stride, double clock_step, deduce::Trace& trace) {
    std::vector<Effort> efforts;
    for (std::uint64_t bytes = kFirstElements * stride; bytes <= chase.window().bytes; bytes *= 2) {
        const auto laps = static_cast<std::uint32_t>(std::max<std::uint64_t>(kLeastLaps, kReadings * stride / bytes));
        const auto latencies = of_elements(chase({deduce::strided(bytes, stride), 2, laps}).latencies, laps);
        const double row[] = {static_cast<double>(bytes), deduce::median(latencies), deduce::quantile(latencies, 0.05), deduce::quantile(latencies, 0.99)};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
        if (efforts.empty()) {
            efforts.push_back({deduce::mean_near_median(latencies, clock_step), row[3], bytes, 0});
            continue;
        }
        std::vector<double> slow;
        const double margin = std::max(chase.window().aliased ? kAliasedMargin : kPlainMargin, efforts.front().ceiling - efforts.front().latency);
        std::ranges::copy_if(latencies, std::back_inserter(slow), [&](double latency) { return latency > efforts.back().ceiling + margin; });
        const double share = chase.window().aliased ? kAliasedShare : kPlainShare;
        if (static_cast<double>(slow.size()) > share * static_cast<double>(latencies.size())) {
            efforts.back().overflows = bytes;
            efforts.push_back({deduce::mean_near_median(slow, clock_step), deduce::quantile(slow, 0.98), bytes, 0});
        } else {
            efforts.back().fits = bytes;
        }
    }
    return efforts;
}

/// A level of translation as one window shows it.
struct FoundTlb {
    deduce::CacheFindings findings;
    double penalty = 0;
    double spread = 0;  ///< of what single loads take
    [[nodiscard]] bool confirmed() const { return findings.capacity.confidence > 0; }
    [[nodiscard]] bool has_geometry() const { return findings.ways.confidence > 0 && findings.line.confidence > 0; }
};

void add_tlb(const std::string& name, const FoundTlb& tlb, Outcome& outcome) {
    const auto prefix = "tlbs." + name;
    for (auto& estimate : deduce::tlb_estimates(tlb.findings, prefix, "tlb")) outcome.estimates.push_back(std::move(estimate));
    for (const auto& remark : tlb.findings.remarks) outcome.warnings.push_back(fmt::format("{}: {}", name, remark));
    if (!tlb.confirmed()) return;
    auto penalty = decided(prefix + ".miss_penalty", static_cast<std::int64_t>(std::llround(tlb.penalty)),
                           {"tlb: difference of the medians of loads that hit here and in the next level", kConfidence});
    penalty.interval = {tlb.penalty - tlb.spread, tlb.penalty + tlb.spread};
    outcome.estimates.push_back(std::move(penalty));
}

deduce::Trace levels_trace(std::string name) {
    deduce::Trace trace{.name = std::move(name), .experiment = "tlb"};
    trace.columns = {{"range", "bytes", {}}, {"median", "cycles", {}}, {"low", "cycles", {}}, {"high", "cycles", {}}};
    trace.plot = {"What a dependent load takes for translation against the range of addresses", "range", {"median", "high"}, true, false};
    return trace;
}

/// The levels of translation that a window shows, nearest first.
std::vector<FoundTlb> find_tlbs(Context& context, const MappedWindow& mapped, std::uint64_t stride, std::string trace_name, DataCaches caches, Outcome& outcome) {
    TranslationChase translation(context, mapped, caches);
    translation.add_code_checks(outcome);
    const Window& window = translation.window();
    translation.describe(0.1, "levels of translation");
    auto trace = levels_trace(std::move(trace_name));
    const auto efforts = find_efforts(translation, stride, clock_step(context.findings), trace);
    outcome.traces.push_back(std::move(trace));
    std::vector<FoundTlb> found;
    deduce::CacheQuestion question{.largest = window.bytes, .word = window.word, .visible = window.word, .most_loads = kMostLoads, .group_test_loads = kGroupTestLoads, .seed = context.seed};
    deduce::Chase chase = translation.chase();
    for (std::size_t level = 0; level + 1 < efforts.size(); ++level) {
        question.threshold = (efforts[level].latency + efforts[level + 1].latency) / 2;
        question.fits = efforts[level].fits;
        question.overflows = efforts[level].overflows;
        translation.describe(0.3 + 0.3 * static_cast<double>(level), fmt::format("geometry of level {}", level + 1));
        found.push_back({deduce::deduce_geometry(chase, question), efforts[level + 1].latency - efforts[level].latency, efforts.front().ceiling - efforts.front().latency});
        if (!found.back().has_geometry()) continue;
        const auto span = static_cast<std::uint64_t>(found.back().findings.line.value);
        const UnhiddenChase unhidden(translation, static_cast<std::uint64_t>(found.back().findings.capacity.value) / span, span);
        if (unhidden.end() == 0) continue;
        question.largest = unhidden.end();
        question.visible = span;
        question.behind = true;
        chase = unhidden;
    }
    return found;
}

/// What a window of pages far apart shows of a level beyond those that the window of all pages shows: entries that span less than
/// the pages' distance look as if they spanned it.
FoundTlb resolved(FoundTlb tlb, const Window& sparse, const Window& dense) {
    auto& findings = tlb.findings;
    const auto word = static_cast<std::int64_t>(sparse.word);
    if (!tlb.has_geometry() || findings.line.value > word) return tlb;
    const auto page = static_cast<std::int64_t>(dense.word);
    const std::int64_t entries = findings.capacity.value / word;
    const bool beyond = findings.capacity.value > static_cast<std::int64_t>(dense.bytes);
    findings.line = {word, kOpen, {page, word}, {}};
    findings.capacity = {entries * word, kOpen, {beyond ? static_cast<std::int64_t>(dense.bytes) : entries * page, entries * word}, {}};
    return tlb;
}

/// Both windows of a device that can alias memory.
std::vector<FoundTlb> find_in_aliased_windows(Context& context, std::uint64_t page, DataCaches caches, Outcome& outcome) {
    context.progress(0, "mapping memory");
    auto mapped = std::make_unique<MappedWindow>(MappedWindow::aliased(context.device, page, kMappings));
    const Window dense = mapped->window();
    auto found = find_tlbs(context, *mapped, page, "tlb/levels", caches, outcome);
    mapped.reset();
    context.progress(0.5, "mapping memory");
    const auto sparse = MappedWindow::aliased(context.device, kSparse * page, kMappings);
    const auto farther = find_tlbs(context, sparse, sparse.window().word, "tlb/sparse_levels", caches, outcome);
    for (std::size_t level = found.size(); level < farther.size(); ++level) found.push_back(resolved(farther[level], sparse.window(), dense));
    return found;
}

std::vector<FoundTlb> find_in_plain_array(Context& context, DataCaches caches, Outcome& outcome) {
    const auto memory = static_cast<std::uint64_t>(context.device.attribute(device::Attribute::total_memory_bytes).value_or(kPlainArray));
    const auto mapped = MappedWindow::plain(context.device, std::min(kPlainArray, std::bit_floor(memory / 2)), kSmallPage);
    return find_tlbs(context, mapped, kPlainStride, "tlb/levels", caches, outcome);
}

/// The last cache as found before: of a size left open, the most it can be.
DataCaches data_caches(const Context& context) {
    DataCaches caches;
    for (int level = 1; level <= 3; ++level) {
        const auto* capacity = context.findings.find(fmt::format("caches.l{}.capacity", level));
        if (capacity == nullptr) continue;
        const double most = capacity->interval ? (*capacity->interval)[1] : context.findings.number(capacity->path).value_or(0);
        caches.capacity = std::max(caches.capacity, static_cast<std::uint64_t>(most));
        const auto cached = context.findings.number(fmt::format("caches.l{}.latency", level));
        const auto memory = context.findings.number("paths.global.memory_latency");
        if (cached && memory) caches.miss_cost = *memory - *cached;
    }
    return caches;
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto caches = data_caches(context);
    const auto page = static_cast<std::uint64_t>(context.device.mapping_granularity().count());
    const bool aliases = page > 0 && context.device.attribute(device::Attribute::virtual_memory_management).value_or(0) == 1;
    const auto found = aliases ? find_in_aliased_windows(context, page, caches, outcome) : find_in_plain_array(context, caches, outcome);
    std::vector<std::string> names;
    for (const auto& tlb : found) {
        names.push_back(fmt::format("global_l{}", names.size() + 1));
        add_tlb(names.back(), tlb, outcome);
    }
    Evidence evidence{"tlb: levels of latency against the range of addresses, the latency of the data taken off", kConfidence};
    if (names.empty()) evidence.note = fmt::format("no translation missed a TLB within {} MiB of addresses", (aliases ? kSparse * page * kMappings : kPlainArray) >> 20);
    const bool confirmed = std::ranges::all_of(found, &FoundTlb::confirmed);
    outcome.estimates.push_back(confirmed ? decided("paths.global.tlbs", names, evidence) : undecided("paths.global.tlbs", {}, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment tlb_experiment() {
    return {.id = "tlb",
            .title = "TLBs on the way to global memory",
            .source = "Wong 2010, IV-I, Figs. 13-15; Mei 2014, 4.2",
            .needs = {},
            .after = {"clock", "caches"},
            .provides = {"tlbs.*.reach", "tlbs.*.entries", "tlbs.*.ways", "tlbs.*.sets", "tlbs.*.set_ways", "tlbs.*.span", "tlbs.*.policy",
                         "tlbs.*.miss_penalty", "paths.global.tlbs"},
            .run = run};
}

}  // namespace gputomo::experiments
