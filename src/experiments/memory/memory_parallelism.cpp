// How many bytes must be in flight to saturate a cache or memory. The experiment measures the rates of one SM and of
// all SMs against bytes in flight, for each kind of access.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/memory/bytes_needed.hpp"
#include "experiments/memory/contention_curve.hpp"
#include "measure/bandwidth/access_loop.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace memory_parallelism {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
constexpr std::array kLoads{1, 2, 4, 8};
constexpr std::array kWarps{1, 2, 4, 8, 12, 16, 20, 24, 28, 32};
/// An array of `kPart` of a cache's capacity is resident in that cache. An array of `kTimesCache` times the capacity is
/// resident in none. Both hold even though capacities are known only roughly.
constexpr double kPart = 0.25;
constexpr std::int64_t kTimesCache = 4;
constexpr std::int64_t kSmallestArray = std::int64_t{1} << 20, kLargestArray = std::int64_t{1} << 30;
/// Iterations of the shorter launch. The longer one has twice as many, so that filling and draining cancel. Launches
/// that would access more than `kLaunchBytes` on each SM have fewer iterations.
constexpr int kIterations = 16, kFewestIterations = 4;
constexpr std::int64_t kLaunchBytes = std::int64_t{2} << 20;
/// Most runs of a launch.
constexpr int kRuns = 4;
/// Asynchronous copies exist from this compute capability on (PTX ISA, cp.async).
constexpr int kAsyncFrom = 80;

/// Where the data are, and how they are reached.
struct Source {
    std::string name;    ///< "l2", "memory"
    std::string prefix;  ///< of the leaves of its loads
    AccessArea area;
    bool cached = false;
};

int bytes_of(AccessKind kind) { return kind == AccessKind::atomic ? 4 : 16; }

class BytesInFlight {
public:
    explicit BytesInFlight(Context& context) : context_(context), sms_(static_cast<int>(sms_of(context.device))) {}

    Outcome run() {
        const auto cache = largest_cache(context_);
        if (cache > 0)
            add(last_cache(context_.findings),
                static_cast<std::int64_t>(
                    std::bit_floor(static_cast<std::uint64_t>(kPart * static_cast<double>(cache)))),
                true);
        const auto memory = context_.device.attribute(device::Attribute::total_memory_bytes).value_or(kLargestArray);
        const auto wanted =
            std::clamp(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kTimesCache * cache))),
                       kSmallestArray, kLargestArray);
        add("memory",
            std::min(wanted, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(memory / 4)))), false);
        return std::move(outcome_);
    }

private:
    void add(const std::string& name, std::int64_t bytes, bool cached) {
        // The last accesses of an iteration may lie beyond the area.
        constexpr std::int64_t kSlack = std::int64_t{kLoads.back()} * 16 * AccessLoop::kWarp;
        const device::Buffer array(context_.device, Bytes{bytes + kSlack});
        Source source{name, cached ? "caches." + name : name, {array.address(), bytes, !cached, 0}, cached};
        for (const auto kind : {AccessKind::load, AccessKind::store, AccessKind::atomic, AccessKind::async}) {
            if (kind == AccessKind::async && context_.device.ptx_target().sm < kAsyncFrom) continue;
            const FlightCurve one = curve_of(source, kind, 1), all = curve_of(source, kind, sms_);
            if (!one.empty()) report(source, kind, one, true);
            if (!all.empty()) report(source, kind, all, false);
            if (!source.cached && kind == AccessKind::load) report_contention(one, all);
        }
    }

    FlightCurve curve_of(Source& source, AccessKind kind, int blocks) {
        FlightCurve curve;
        double done = 0;
        for (const int loads : kLoads) {
            context_.progress(
                done += 1.0 / (kLoads.size() + 1),
                fmt::format("{} SMs, {}, {} {} accesses a thread", blocks, source.name, loads, name_of(kind)));
            try {
                AccessLoop& accesses = kernel(kind, loads);
                if (source.cached && blocks == 1) fill(accesses, source);
                for (const int warps : kWarps) {
                    const std::int64_t bytes = in_flight(accesses, warps);
                    if (curve.contains(bytes)) continue;
                    const int iterations = static_cast<int>(
                        std::clamp<std::int64_t>(kLaunchBytes / (bytes * blocks), kFewestIterations, kIterations));
                    if (const auto cycles =
                            accesses.cycles_per_iteration({blocks, warps, 1}, iterations, kRuns, source.area))
                        curve[bytes] = static_cast<double>(bytes) / *cycles;
                }
            } catch (const CodeMismatch& mismatch) {
                add_mismatch(mismatch, outcome_);
            }
        }
        trace(source, kind, curve, blocks);
        return curve;
    }

    AccessLoop& kernel(AccessKind kind, int loads) {
        auto& kept = kernels_[{kind, loads}];
        if (!kept) {
            const int bytes = bytes_of(kind);
            kept = std::make_unique<AccessLoop>(
                context_.device, AccessForm{kind, loads, bytes, static_cast<std::uint32_t>(bytes * AccessLoop::kWarp)},
                [&](int lane) { return static_cast<std::uint32_t>(lane * bytes); });
            add_code_checks(kept->compiled(), outcome_);
        }
        return *kept;
    }

    static std::int64_t in_flight(const AccessLoop& accesses, int warps) {
        return std::int64_t{warps} * accesses.form().count * accesses.form().span;
    }

    /// One SM accesses the whole array once.
    static void fill(AccessLoop& accesses, Source& source) {
        // Warps that access the array. More would only be faster: each line is accessed once in any case.
        constexpr int kFillers = 8;
        (void)accesses.cycles(
            {1, kFillers, 1},
            static_cast<int>(std::max<std::int64_t>(1, source.area.bytes / in_flight(accesses, kFillers))),
            source.area);
    }

    /// Adds the curve beside Little's law: bytes in flight over the latency of the fewest, up to the peak.
    void trace(const Source& source, AccessKind kind, const FlightCurve& curve, int blocks) {
        if (curve.empty()) return;
        const double latency = static_cast<double>(curve.begin()->first) / curve.begin()->second,
                     peak = bytes_needed(curve).peak;
        results::Trace trace{.name = fmt::format("memory_parallelism/{}_{}_{}", source.name, name_of(kind),
                                                 blocks == 1 ? "one_sm" : "all_sms"),
                             .experiment = "memory_parallelism"};
        trace.columns = {{"in_flight", "bytes", {}}, {"rate", "bytes/cycle", {}}, {"little", "bytes/cycle", {}}};
        trace.plot = {fmt::format("Bytes per cycle and SM against bytes in flight of an SM: {}, {}, {}", source.name,
                                  name_of(kind), blocks == 1 ? "one SM" : "all SMs"),
                      "in_flight",
                      {"rate", "little"},
                      true,
                      false};
        for (const auto& [bytes, rate] : curve) {
            trace.add_row(bytes, rate, std::min(peak, static_cast<double>(bytes) / latency));
        }
        outcome_.traces.push_back(std::move(trace));
    }

    /// How the latency of loads, by Little's law, grows with the throughput of all SMs. One SM alone hardly loads the
    /// memory: what its latency grows by with its bytes in flight is its own queues and is taken off.
    void report_contention(const FlightCurve& one, const FlightCurve& all) {
        if (one.empty()) return;
        const auto latency = [](const auto& point) { return static_cast<double>(point.first) / point.second; };
        const double gigabytes = sms_ * sm_mhz_of(context_.findings, context_.device) / 1000,
                     alone = latency(*one.begin());
        std::vector<deduce::LoadedLatency> samples;
        for (const auto& point : all)
            if (const auto same = one.find(point.first); same != one.end())
                samples.push_back({point.second * gigabytes, latency(point) - (latency(*same) - alone)});
        add_contention_estimates(unsaturated(std::move(samples)), "memory_parallelism", context_, outcome_);
    }

    void report(const Source& source, AccessKind kind, const FlightCurve& curve, bool one) {
        const auto needed = bytes_needed(curve);
        const double latency = static_cast<double>(curve.begin()->first) / curve.begin()->second;
        const Evidence evidence{fmt::format("memory_parallelism: {} accesses of kind {} with {} to {} bytes in flight "
                                            "on each, timed by n iterations against 2n",
                                            one ? "one SM," : "all SMs, one block on each,", name_of(kind),
                                            curve.begin()->first, curve.rbegin()->first),
                                kConfidence,
                                fmt::format("the peak is {:.4g} bytes/cycle and SM at a latency of {:.0f} cycles; by "
                                            "Little's law, 90% of it needs {:.0f} "
                                            "bytes in flight",
                                            needed.peak, latency, kShareOfPeak * needed.peak * latency)};
        const bool load = kind == AccessKind::load;
        const auto prefix = load ? source.prefix : fmt::format("accesses.{}_{}", source.name, name_of(kind));
        const auto bytes_leaf = fmt::format("{}.{}", prefix, one ? "sm_bytes_in_flight" : "bytes_in_flight");
        // The rate of all SMs' loads from memory is left out, because dram_bandwidth reports it in other units.
        const auto rate_leaf = one                      ? prefix + ".sm_bytes_per_cycle"
                               : source.cached || !load ? prefix + ".bytes_per_cycle"
                                                        : std::string();
        const double rate = one ? needed.peak : needed.peak * sms_;
        if (!needed.saturated) {
            auto open = evidence;
            open.note += fmt::format(
                "; more bytes in flight than one block can have may bring more than {:.4g} bytes/cycle", rate);
            if (!rate_leaf.empty()) outcome_.estimates.push_back(undecided(rate_leaf, {}, open));
            outcome_.estimates.push_back(undecided(bytes_leaf, {}, open));
            return;
        }
        if (!rate_leaf.empty())
            outcome_.estimates.push_back(decided_real(rate_leaf, {rate, 0.98 * rate, 1.02 * rate}, evidence));
        auto bytes = decided(bytes_leaf, static_cast<std::int64_t>(std::llround(needed.bytes)), evidence);
        bytes.interval = {needed.low, needed.high};
        outcome_.estimates.push_back(std::move(bytes));
    }

    Context& context_;
    Outcome outcome_;
    int sms_;
    std::map<std::pair<AccessKind, int>, std::unique_ptr<AccessLoop>> kernels_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return BytesInFlight(c).run(); });
}

}  // namespace
}  // namespace memory_parallelism

Experiment memory_parallelism_experiment() {
    return {.id = "memory_parallelism",
            .title =
                "bandwidth of one SM and of all against bytes in flight: loads, stores, atomics and asynchronous "
                "copies, last cache and memory",
            .source = "Volkov 2016, 4.3; Little's law",
            .method = "memory-and-bandwidth",
            .explanation =
                "Warps read, write, add to or copy several words at a time and wait for all of them, so that a "
                "known number of bytes is in flight. The rates of one SM and of all SMs rise with it up to a peak. "
                "The report draws Little's law, bytes in flight over latency, beside them.",
            .needs = {},
            .after = {"caches"},
            .provides = {"caches.*.sm_bytes_per_cycle", "caches.*.sm_bytes_in_flight", "caches.*.bytes_in_flight",
                         "caches.*.bytes_per_cycle", "memory.sm_bytes_per_cycle", "memory.sm_bytes_in_flight",
                         "memory.bytes_in_flight", "accesses.*.sm_bytes_per_cycle", "accesses.*.sm_bytes_in_flight",
                         "accesses.*.bytes_per_cycle", "accesses.*.bytes_in_flight", "memory.contention_base",
                         "memory.contention_slopes", "memory.contention_limits"},
            .run = memory_parallelism::run,
            .part_of_scan = PartOfScan::with_full_budget};
}

}  // namespace gputomo::experiments
