// How many warps hide latency: throughput of one kind of instruction over occupancy, which gives its latency, its peak
// and the warps that reach the peak.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/memory/contention_curve.hpp"
#include "experiments/occupancy/mix_rates.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/mix/mix_surface.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace gputomo::experiments {
namespace occupancy {
namespace {

constexpr double kWarp = kWarpSize;
/// Confidence of a latency, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// Occupancies that are measured first. Then all are between the last that falls short of a share of the peak and the
/// first that reaches it.
constexpr int kCoarse = 12;
/// The first share of the peak counts as the peak (Volkov 2016, 6.1: "over 99%"); the two others show how gradually
/// throughput approaches it (6.3).
constexpr std::array kShares{0.99, 0.95, 0.9};

/// Instructions of an iteration of the loops whose control is subtracted. The code fits the smallest first instruction
/// cache, 4 KB (Wong 2010, IV-K).
constexpr int kShortLoop = 360;

struct Series {
    std::string_view name;
    MixShape shape;
    std::string_view latency = {};  ///< leaf
};

const std::array kSeries{
    Series{"add", {.arithmetic_only = true, .loop_length = kShortLoop}},
    Series{"sfu", {.access = MixAccess::sfu, .alpha = 0, .loop_length = kShortLoop}, "pipelines.sfu.warp_latency"},
    Series{"smem", {.access = MixAccess::shared, .alpha = 0, .loop_length = kShortLoop}, "shared.warp_latency"},
    Series{"smem2", {.access = MixAccess::shared_conflict, .alpha = 0, .loop_length = kShortLoop}},
};
const Series kStream{"stream", {.access = MixAccess::global, .alpha = 0}, "paths.global.warp_latency"};
/// Independent loads of one warp, which stand for more warps than an SM holds (Volkov 2016, 6.3).
constexpr std::array kStreamChains{2, 4, 8};
/// Occupancies at which these are measured, in eighths of the largest.
constexpr int kEighths[] = {1, 2, 3, 4, 6, 8};

using Rates = std::map<int, double>;  // instructions per cycle by warps

template <class Mix>
void sample(Mix& mix, int warps, Rates& rates) {
    if (rates.contains(warps)) return;
    if (const auto rate = mix.instructions_per_cycle(warps)) rates[warps] = *rate;
}

double peak_of(const Rates& rates) {
    return std::ranges::max_element(rates, {}, [](const auto& entry) { return entry.second; })->second;
}

/// Measures all occupancies between the last whose rate is below the limit and the first whose rate is not.
template <class Mix>
void refine(Mix& mix, double limit, Rates& rates) {
    int below = 0, above = 0;
    for (const auto& [warps, rate] : rates) {
        if (rate >= limit) {
            above = warps;
            break;
        }
        below = warps;
    }
    for (int warps = below + 1; warps < above; ++warps) sample(mix, warps, rates);
}

results::Trace trace_of(std::string_view name, const Rates& rates) {
    std::vector<double> warps, rate, latency;
    for (const auto& [n, ipc] : rates) warps.push_back(n), rate.push_back(ipc * kWarp), latency.push_back(n / ipc);
    results::Trace trace{.name = fmt::format("occupancy/{}", name), .experiment = "occupancy"};
    trace.columns = {{"warps", "warp/SM", warps}, {"rate", "ops/cycle/SM", rate}, {"latency", "cycles", latency}};
    trace.plot = {fmt::format("Throughput over occupancy: {}", name), "warps", {"rate"}, false, false};
    return trace;
}

std::vector<deduce::LoadedLatency> loaded_latencies(const Rates& rates, double gigabytes) {
    std::vector<deduce::LoadedLatency> samples;
    for (const auto& [warps, rate] : rates) samples.push_back({rate * gigabytes, warps / rate});
    return samples;
}

/// GB/s of the whole GPU for each instruction per cycle and SM, of which each reads 128 bytes.
double gigabytes_of(const Context& context) {
    using enum device::Attribute;
    return LinkedArray::kLineBytes * static_cast<double>(sms_of(context.device)) *
           sm_mhz_of(context.findings, context.device) / 1000;
}

/// The smallest latency over all occupancies (Volkov 2016, 6.1). Its interval holds the occupancies that leave the unit
/// mostly idle.
results::Estimate latency_of(const Series& series, const Rates& rates) {
    // Up to a quarter of the peak, warps seldom meet at the unit. A larger share would widen the interval by the
    // time that they queue.
    constexpr double kMostlyIdle = 0.25;
    std::vector<double> latencies;
    for (const auto& [warps, rate] : rates)
        if (rate <= kMostlyIdle * peak_of(rates) || warps == 1) latencies.push_back(warps / rate);
    Measured measured = summarise(latencies);
    measured.value = measured.low;
    return decided_integer(std::string(series.latency), measured,
                           {"occupancy: warps divided by throughput, the smallest over all occupancies", kConfidence});
}

class Occupancy {
public:
    explicit Occupancy(Context& context)
        : context_(context), stream_(context.device, max_warps_of(context.device), MixThroughput::kMostLines) {}

    Outcome run() {
        for (const auto& series : kSeries) add(series);
        add_streams();
        add_contention_estimates(unsaturated(streams_), "occupancy", context_, outcome_);
        return std::move(outcome_);
    }

private:
    void add(const Series& series) try {
        ControlFreeMix mix(context_, series.shape, stream_, outcome_);
        Rates rates = coarse(series, mix);
        if (rates.empty()) return;
        for (const double share : kShares) refine(mix, share * peak_of(rates), rates);
        note(series, rates);
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
    }

    /// The peak is the highest rate with any number of chains. Warps of one chain each may not reach it; the shares of
    /// it that they miss are found with more chains (Volkov 2016, 6.3).
    void add_streams() try {
        RepeatedMix one(context_, kStream.shape, stream_, RepeatedMix::Counts::mean);
        add_code_checks(one.compiled(), outcome_);
        Rates rates = coarse(kStream, one);
        if (rates.empty()) return;
        double peak = peak_of(rates);
        std::vector<Parallel> parallel;
        for (const int chains : kStreamChains) {
            parallel.emplace_back(context_, chains, stream_);
            if (!parallel.back().rates.empty()) peak = std::max(peak, peak_of(parallel.back().rates));
        }
        for (const double share : kShares) {
            refine(one, share * peak, rates);
            if (peak_of(rates) < share * peak) refine(parallel.front().mix, share * peak, parallel.front().rates);
        }
        outcome_.traces.push_back(contention_trace(loaded_latencies(rates, gigabytes_of(context_)), "occupancy"));
        note_streams(rates, 1);
        note(kStream, rates);
        for (const auto& more : parallel) {
            note_streams(more.rates, more.chains);
            outcome_.traces.push_back(trace_of(fmt::format("stream_ilp{}", more.chains), more.rates));
        }
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
    }

    template <class Mix>
    Rates coarse(const Series& series, Mix& mix) {
        const int most = max_warps_of(context_.device);
        Rates rates;
        sample(mix, 1, rates);
        for (int i = 1; i <= kCoarse; ++i) {
            context_.progress(static_cast<double>(i) / kCoarse,
                              fmt::format("{}, {} warps", series.name, most * i / kCoarse));
            sample(mix, most * i / kCoarse, rates);
        }
        return rates;
    }

    void note(const Series& series, const Rates& rates) {
        outcome_.traces.push_back(trace_of(series.name, rates));
        if (!series.latency.empty()) outcome_.estimates.push_back(latency_of(series, rates));
    }

    void note_streams(const Rates& rates, int chains) {
        for (const auto& [warps, rate] : rates)
            streams_.push_back({rate * gigabytes_of(context_), warps * chains / rate});
    }

    struct Parallel {
        Parallel(Context& context, int of_warp, LinkedArray& array)
            : chains(of_warp),
              mix(context, {.access = MixAccess::global, .alpha = 0, .chains = of_warp}, array,
                  RepeatedMix::Counts::fastest) {
            const int most = max_warps_of(context.device);
            for (const int eighths : kEighths) sample(mix, most * eighths / 8, rates);
        }

        int chains;
        RepeatedMix mix;
        Rates rates;  // by warps
    };

    Context& context_;
    LinkedArray stream_;
    std::vector<deduce::LoadedLatency> streams_;
    Outcome outcome_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return Occupancy(c).run(); });
}

}  // namespace
}  // namespace occupancy

Experiment occupancy_experiment() {
    return {.id = "occupancy",
            .title =
                "warps that hide the latency of adds, special functions, shared memory and streams; latency of memory "
                "under load",
            .source = "Volkov 2016, 6.1 to 6.4",
            .method = "occupancy-and-models",
            .explanation =
                "More and more warps execute one kind of instruction, each waiting for its last result. Throughput "
                "rises with the number of warps until a unit is full. One warp alone shows the latency, and "
                "streams through memory show how latency grows under load.",
            .needs = {},
            .after = {"clock"},
            .provides = {"pipelines.sfu.warp_latency", "shared.warp_latency", "paths.global.warp_latency",
                         "memory.contention_base", "memory.contention_slopes", "memory.contention_limits"},
            .run = occupancy::run,
            .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
