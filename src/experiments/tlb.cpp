// The TLBs on the way to global memory: levels, reach, span of an entry, ways, and what a miss costs.
#include "experiments/experiments.hpp"

#include "deduce/geometry.hpp"
#include "deduce/statistics.hpp"
#include "experiments/chase_array.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.95;
/// Windows of aliased memory hold this many mappings: 64 GiB of 2 MiB pages, mapped in under a second.
constexpr std::int64_t kMappings = 32768;
/// Without aliasing: a plain array, four times the reach of the largest TLB of those times (Wong 2010, IV-I).
constexpr std::int64_t kPlainArray = std::int64_t{128} << 20;
constexpr std::uint64_t kSmallPage = 4096;
/// Distance of the loads of the sweep in a plain array: no more than an entry of the first TLB spans.
constexpr std::uint64_t kPlainStride = std::uint64_t{64} << 10;
constexpr std::uint64_t kFirstElements = 8;
/// A load this much slower than all loads of a small array missed a TLB ...
constexpr double kMargin = 12;
/// ... if this share of loads did; single loads are slow for other reasons.
constexpr double kShare = 0.02;

/// The virtual range that is walked, and its finest step.
struct Window {
    device::Address base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t word = kSmallPage;
    std::uint64_t stride = kPlainStride;
};

/// Memory that translations of a window lead to: one physical allocation many times over where the device can, so that data
/// stay in a cache and only translation varies.
class MappedWindow {
public:
    explicit MappedWindow(device::Device& device) : device_(device) {
        using enum device::Attribute;
        const Bytes page = device.mapping_granularity();
        if (device.attribute(virtual_memory_management).value_or(0) == 1 && page > Bytes{0}) {
            const Bytes bytes = page * kMappings;
            window_ = {device.map_aliased(page, page, bytes), static_cast<std::uint64_t>(bytes.count()),
                       static_cast<std::uint64_t>(page.count()), static_cast<std::uint64_t>(page.count())};
            return;
        }
        const auto memory = device.attribute(total_memory_bytes).value_or(kPlainArray);
        const auto bytes = std::min(kPlainArray, memory / 4);
        window_ = {.base = device.allocate(Bytes{bytes}), .bytes = static_cast<std::uint64_t>(bytes)};
    }
    MappedWindow(const MappedWindow&) = delete;
    MappedWindow& operator=(const MappedWindow&) = delete;
    ~MappedWindow() { device_.free(window_.base); }
    [[nodiscard]] const Window& operator*() const { return window_; }
    /// Each element lies in a word of its own, also where pages are one and the same or one is visited several times, and
    /// neighbours lie in different lines.
    [[nodiscard]] ArrayPlace place() const { return {.base = window_.base, .spread = 128 + 8, .spread_span = window_.word}; }

private:
    device::Device& device_;
    Window window_;
};

/// Loads that are answered after a certain translation effort.
struct Effort {
    double latency = 0;           ///< median
    double ceiling = 0;           ///< nearly all of its loads are faster
    std::uint64_t fits = 0;       ///< largest range tried without slower loads
    std::uint64_t overflows = 0;  ///< next larger one; 0: none
};

/// Doubles the range; a new level is there when enough loads are slower than any before (not their median: of several loads
/// within one entry's span only the first can miss).
std::vector<Effort> find_efforts(ChaseArray& array, const Window& window, deduce::Trace& trace) {
    std::vector<Effort> efforts;
    for (std::uint64_t bytes = kFirstElements * window.stride; bytes <= window.bytes; bytes *= 2) {
        const auto latencies = array({deduce::strided(bytes, window.stride), 2, 1}).latencies;
        const double row[] = {static_cast<double>(bytes), deduce::median(latencies), deduce::quantile(latencies, 0.05), deduce::quantile(latencies, 0.99)};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
        std::vector<double> slow;
        for (const double latency : latencies)
            if (efforts.empty() || latency > efforts.back().ceiling + kMargin) slow.push_back(latency);
        if (static_cast<double>(slow.size()) > kShare * static_cast<double>(latencies.size())) {
            if (!efforts.empty()) efforts.back().overflows = bytes;
            efforts.push_back({deduce::median(slow), deduce::quantile(slow, 0.98), bytes, 0});
        } else {
            efforts.back().fits = bytes;
        }
    }
    return efforts;
}

/// A chase in which every load is preceded by loads that push all else out of the nearer TLB, so that it hides no lookup
/// from the level asked about (Wong 2010 takes 20 elements instead of 10 for the same end). The flood lies at the end of the
/// window; its distances are no multiple of a power of two, so that it spreads over the sets of the farther level.
class FloodedChase {
public:
    FloodedChase(ChaseArray& array, const Window& window, std::uint64_t entries, std::uint64_t span)
        : array_(array), word_(window.word) {
        const std::uint64_t step = span + 3 * window.word;
        const std::uint64_t count = 2 * entries;
        begin_ = (window.bytes - (count + 2) * step) / span * span;
        for (std::uint64_t i = 0; i < count; ++i) flood_.push_back(begin_ + 37 * window.word % span + i * step);
    }
    /// Offsets below this are free for the level's own loads.
    [[nodiscard]] std::uint64_t begin() const { return begin_; }

    deduce::ChaseTrace operator()(const deduce::ChaseRequest& request) {
        const std::size_t group = flood_.size() + 1;
        deduce::ChaseRequest flooded{{}, request.warm_laps, request.recorded_laps};
        for (std::size_t i = 0; i < request.offsets.size(); ++i) {
            // The array puts each element into a word of its own; when a page has no more of them, the next one serves.
            for (const auto offset : flood_) flooded.offsets.push_back(offset + i / (kSmallPage / 8) * word_);
            flooded.offsets.push_back(request.offsets[i]);
        }
        const auto all = array_(flooded).latencies;
        deduce::ChaseTrace trace;
        for (std::size_t i = group - 1; i < all.size(); i += group) trace.latencies.push_back(all[i]);
        return trace;
    }

private:
    ChaseArray& array_;
    std::uint64_t word_;
    std::vector<std::uint64_t> flood_;
    std::uint64_t begin_ = 0;
};

void add_tlb(const std::string& name, const deduce::CacheFindings& findings, double penalty, Outcome& outcome) {
    const auto prefix = "tlbs." + name;
    for (auto& estimate : deduce::tlb_estimates(findings, prefix, "tlb")) outcome.estimates.push_back(std::move(estimate));
    for (const auto& remark : findings.remarks) outcome.warnings.push_back(fmt::format("tlb: {}: {}", name, remark));
    outcome.estimates.push_back(decided(prefix + ".miss_penalty", static_cast<std::int64_t>(std::llround(penalty)),
                                        {"tlb: difference of the medians of loads that hit here and in the next level", kConfidence}));
}

Outcome measure(Context& context) {
    Outcome outcome;
    context.progress(0, "mapping memory");
    const MappedWindow mapped(context.device);
    const Window& window = *mapped;
    ChaseArray array(context, mapped.place(), LoadHint::l2_only);
    array.add_code_checks(outcome);
    array.describe(0.1, "levels of translation");
    deduce::Trace trace{.name = "tlb/levels", .experiment = "tlb"};
    trace.columns = {{"range", "bytes", {}}, {"median", "cycles", {}}, {"low", "cycles", {}}, {"high", "cycles", {}}};
    trace.plot = {"Latency of a dependent load against the range of addresses", "range", {"median", "high"}, true, false};
    const auto efforts = find_efforts(array, window, trace);
    outcome.traces.push_back(std::move(trace));
    std::vector<std::string> names;
    deduce::CacheQuestion question{.largest = window.bytes, .word = window.word, .visible = window.word, .seed = context.seed};
    deduce::Chase chase = array.chase();
    for (std::size_t level = 0; level + 1 < efforts.size(); ++level) {
        names.push_back(fmt::format("global_l{}", level + 1));
        question.threshold = (efforts[level].ceiling + efforts[level + 1].latency) / 2;
        question.fits = efforts[level].fits;
        question.overflows = efforts[level].overflows;
        array.describe(0.3 + 0.3 * static_cast<double>(level), "geometry of " + names.back());
        const auto findings = deduce::deduce_geometry(chase, question);
        add_tlb(names.back(), findings, efforts[level + 1].latency - efforts[level].latency, outcome);
        if (findings.line.confidence <= 0 || findings.capacity.confidence <= 0) continue;
        const auto span = static_cast<std::uint64_t>(findings.line.value);
        if (4 * static_cast<std::uint64_t>(findings.capacity.value) > window.bytes) continue;  // no room for a flood
        const FloodedChase flooded(array, window, static_cast<std::uint64_t>(findings.capacity.value) / span, span);
        question.largest = flooded.begin();
        question.visible = span;
        chase = flooded;
    }
    Evidence evidence{"tlb: levels of latency against the range of addresses", kConfidence};
    if (names.empty()) evidence.note = fmt::format("no translation missed a TLB within {} MiB of addresses", window.bytes >> 20);
    outcome.estimates.push_back(decided("paths.global.tlbs", names, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment tlb_experiment() {
    return {.id = "tlb",
            .title = "TLBs on the way to global memory",
            .source = "Wong 2010, IV-I, Figs. 13-15; Mei 2014, 4.2",
            .needs = {},
            .provides = {"tlbs.*.reach", "tlbs.*.entries", "tlbs.*.ways", "tlbs.*.sets", "tlbs.*.span", "tlbs.*.policy",
                         "tlbs.*.miss_penalty", "paths.global.tlbs"},
            .run = run};
}

}  // namespace gputomo::experiments
