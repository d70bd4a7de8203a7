// Bytes per cycle of the constant cache that all SMs share.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/memory/constant_stream.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace constant_bandwidth {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// The cache must hold this many times as much as the one before it, which would serve the loads otherwise.
constexpr std::uint64_t kTimesBefore = 2;
/// If all SMs together reach less than this share of the sum of their single rates, the cache limits them.
constexpr double kLimited = 0.9;
/// Rates of at least this share of the last one are those of a saturated cache.
constexpr double kFilled = 0.99;
/// The loads that one SM has in flight must be this near to a whole number, as a share of it.
constexpr double kWhole = 0.1;
/// Each rate is measured `kRuns` times, and up to `kDisturbedRuns` times while runs differ by more than `kSteady`.
constexpr double kSteady = 0.01;
constexpr std::size_t kRuns = 2, kDisturbedRuns = 5;

/// The last cache of the path, if all SMs share it and other caches precede it.
std::optional<ConstantCache> shared_cache(const Findings& findings) {
    const auto* list = findings.find("paths.constant.caches");
    if (list == nullptr || list->knowledge != results::Knowledge::known) return std::nullopt;
    const auto& names = std::get<std::vector<std::string>>(list->value);
    if (names.size() < 2) return std::nullopt;
    const auto leaf = [&](const std::string& name, std::string_view what) {
        return findings.number(fmt::format("caches.{}.{}", name, what));
    };
    const auto scope = [&](const std::string& name) {
        const auto* found = findings.find(fmt::format("caches.{}.scope", name));
        return found == nullptr || found->knowledge != results::Knowledge::known ? std::string()
                                                                                 : std::get<std::string>(found->value);
    };
    const auto &last = names.back(), &before = names[names.size() - 2];
    const auto capacity = leaf(last, "capacity"), held = leaf(before, "capacity"), line = leaf(last, "line"),
               bytes = leaf(before, "sector"), latency = leaf(last, "latency");
    if (!capacity || !held || !line || !bytes || !latency || scope(last) != "gpu") return std::nullopt;
    const auto sharing = scope(before);
    if (sharing != "sm" && sharing != "tpc") return std::nullopt;
    const double per = sharing == "sm" ? 1 : findings.number("topology.sms_per_tpc").value_or(0);
    if (per < 1) return std::nullopt;
    return ConstantCache{last,
                         names.front(),
                         static_cast<std::uint64_t>(*capacity),
                         static_cast<std::uint64_t>(*held),
                         static_cast<std::uint64_t>(*line),
                         *bytes,
                         *latency,
                         static_cast<std::uint32_t>(per)};
}

/// The throughput of `active` SMs together, in several runs.
struct Rate {
    std::uint32_t active = 0;
    std::vector<Throughput> samples;
    /// Outliers only slow a few SMs. Few SMs do not saturate the cache; once it is saturated others take their place.
    [[nodiscard]] double best() const { return std::ranges::max(both()); }
    [[nodiscard]] double least() const { return std::ranges::min(both()); }
    [[nodiscard]] double median() const {
        std::vector<double> middles;
        for (const auto& sample : samples) middles.push_back((sample.until_last + sample.each) / 2);
        return gputomo::median(middles);
    }

private:
    [[nodiscard]] std::vector<double> both() const {
        std::vector<double> values;
        for (const auto& sample : samples) values.insert(values.end(), {sample.until_last, sample.each});
        return values;
    }
};

/// Measures one SM, two, ... of those that share no cache before this one. Then it measures all SMs, if each can have
/// lines of its own: they saturate the cache even if outliers always delay some of them.
std::vector<Rate> measure_rates(Context& context, ConstantStream& stream) {
    std::vector<Rate> rates;
    const auto add = [&](std::uint32_t active) {
        context.progress(static_cast<double>(active) / stream.sms(), fmt::format("{} SMs read constants", active));
        Rate rate{active, {}};
        do rate.samples.push_back(stream.rate(active));
        while (rate.samples.size() < kRuns ||
               (rate.samples.size() < kDisturbedRuns && rate.best() - rate.least() > kSteady * rate.best()));
        rates.push_back(std::move(rate));
    };
    for (std::uint32_t active = 1; active <= stream.groups(); ++active) add(active);
    if (stream.split_rings()) add(stream.sms());
    return rates;
}

/// The rate of a single SM shows how many loads it has in flight, if these are fewer than its thread issues.
void report_one_sm(const ConstantCache& cache, double rate, Outcome& outcome) {
    const double in_flight = rate * cache.latency / cache.bytes, whole = std::round(in_flight);
    if (whole < 1 || whole >= kConstantChains || std::abs(in_flight - whole) > kWhole * whole) return;
    outcome.estimates.push_back(decided(
        fmt::format("caches.{}.outstanding_entries", cache.first), static_cast<std::int64_t>(whole),
        {fmt::format(
             "constant_bandwidth: how many of {} independent loads are in flight, from one SM's rate times the latency",
             kConstantChains),
         kConfidence}));
}

void report_all(const ConstantCache& cache, const std::vector<Rate>& rates, Outcome& outcome) {
    const auto path = fmt::format("caches.{}.bytes_per_cycle", cache.name);
    const double of_all_sms = rates.back().median();
    double best = 0;
    for (const auto& rate : rates) best = std::max(best, rate.best());
    if (of_all_sms < kLimited * rates.front().best() * rates.back().active) {
        // The order in which SMs end makes the rates of a saturated cache differ a little, and runs may differ by
        // `kSteady`.
        double least = (1 - kSteady / 2) * of_all_sms, most = (1 + kSteady / 2) * of_all_sms;
        for (const auto& rate : rates) {
            if (rate.median() < kFilled * of_all_sms) continue;
            least = std::min(least, rate.least());
            most = std::max(most, rate.best());
        }
        outcome.estimates.push_back(
            decided_real(path, {of_all_sms, least, most},
                         {"constant_bandwidth: the rate that further SMs do not increase", kConfidence}));
        return;
    }
    auto open = undecided(path, {}, {"constant_bandwidth: all SMs together do not saturate it", kConfidence});
    open.note = fmt::format("at least {:.2f} bytes per cycle", best);
    outcome.estimates.push_back(std::move(open));
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto cache = shared_cache(context.findings);
    if (!cache ||
        kShareOfCache * static_cast<double>(cache->capacity) < static_cast<double>(kTimesBefore * cache->before)) {
        outcome.warnings.emplace_back(
            "constant_bandwidth: nothing was measured, because no constant cache is known that all SMs share and that "
            "is "
            "several times as large as those before it");
        return outcome;
    }
    ConstantStream stream(context.device, *cache);
    add_code_checks(stream.kernel(), outcome);
    const auto rates = measure_rates(context, stream);
    results::Trace trace{.name = "constant_bandwidth/sms", .experiment = "constant_bandwidth"};
    trace.columns = {{"blocks", "count", {}}, {"rate", "bytes/cycle", {}}};
    trace.plot = {"Bytes per cycle from the shared cache of constants against the number of SMs that read",
                  "blocks",
                  {"rate"},
                  false,
                  false};
    for (const auto& rate : rates) {
        trace.add_row(rate.active, rate.median());
    }
    report_one_sm(*cache, rates.front().best(), outcome);
    report_all(*cache, rates, outcome);
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace constant_bandwidth

Experiment constant_bandwidth_experiment() {
    return {.id = "constant_bandwidth",
            .title = "bytes per cycle of the cache of constants that all SMs share",
            .source = "Wong 2010, IV-J3, Fig. 19",
            .method = "instruction-supply",
            .explanation =
                "One thread on each of more and more SMs reads constants that only the shared cache holds, with "
                "several loads in flight. The rate beyond which further SMs bring nothing is the bandwidth of that "
                "cache.",
            .needs = {},
            .after = {"clock", "constant_caches", "scopes"},
            .provides = {"caches.*.bytes_per_cycle", "caches.*.outstanding_entries"},
            .run = constant_bandwidth::run};
}

}  // namespace gputomo::experiments
