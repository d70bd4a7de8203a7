// How much longer reads take beside writes while memory is far from saturated: copies against reads alone, over
// occupancy.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/bandwidth/streaming.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

namespace gputomo::experiments {
namespace write_delay {
namespace {

/// Confidence of the estimate, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.8;
/// Warps of each SM, each with one access in flight. A value below one is the share of the SMs that have one warp.
constexpr std::array kWarps{0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0};
/// The arrays are this many times the largest cache, which may hold writes back. A run has at least this many
/// iterations: with 512, the clock that times launches is uncertain by 10 cycles of an iteration, a tenth of what
/// writes add.
constexpr std::int64_t kTimesCache = 6, kFewestIterations = 4096, kQuickIterations = 64;
/// Each array takes at most this part of the memory: 1/4.
constexpr std::int64_t kShareOfMemory = 4;
/// Launches of each point, the fastest of which counts.
constexpr int kLaunches = 3;
/// The interval of the slope extends by this many standard deviations to either side.
constexpr double kDeviations = 2;
/// Points at which more than this share of the memory's time is used are left out, because reads then wait for each
/// other.
constexpr double kBusy = 0.6;

/// The times at one occupancy.
struct Beside {
    double warps = 0;           ///< of each SM
    double read = 0, copy = 0;  ///< cycles from one access of a warp to its next, alone and with a write for each
    double writes = 0;          ///< share of the memory's time that the writes take
    double busy = 0;            ///< share that reads and writes take together
};

class WriteDelay {
public:
    explicit WriteDelay(Context& context)
        : context_(context), bandwidth_(context.findings.number("memory.read_bandwidth")) {
        const auto copies = context.findings.number("memory.copy_bandwidth");
        if (bandwidth_ && copies) write_cost_ = std::max(1.0, 2 * *bandwidth_ / *copies - 1);
    }

    Outcome run() {
        if (!bandwidth_) {
            outcome_.warnings.emplace_back(
                "write_delay: nothing was measured, because memory.read_bandwidth is unknown");
            return std::move(outcome_);
        }
        for (const double warps : kWarps) arrays_size_ = std::max(arrays_size_, size_for(shape_of(warps)));
        arrays_ = device::Buffer(context_.device, 2 * arrays_size_);
        std::vector<Beside> all;
        for (const double warps : kWarps) {
            context_.progress(static_cast<double>(all.size()) / std::size(kWarps), fmt::format("{} warps", warps));
            all.push_back(measure(warps));
        }
        add_trace(all);
        add_estimate(all);
        return std::move(outcome_);
    }

private:
    [[nodiscard]] StreamShape shape_of(double warps) const {
        const double blocks = std::ceil(sms_of(context_.device) * std::min(1.0, warps));
        return {.threads = static_cast<int>(std::max(1.0, warps)) * kWarpSize,
                .blocks = static_cast<int>(blocks),
                .unroll = 1};
    }

    /// Size of the array that is read.
    [[nodiscard]] Bytes size_for(StreamShape shape) const {
        const auto memory =
            context_.device.attribute(device::Attribute::total_memory_bytes).value_or(std::int64_t{256} << 20);
        const std::int64_t iterations = context_.quick ? kQuickIterations : kFewestIterations;
        return Bytes{std::min(std::max(kTimesCache * largest_cache(context_), iterations * shape.iteration_bytes()),
                              memory / kShareOfMemory)};
    }

    [[nodiscard]] Beside measure(double warps) {
        const double sms = sms_of(context_.device);
        const auto shape = shape_of(warps);
        const double cycles_per_ns = sm_mhz_of(context_.findings, context_.device) / 1000;
        const int all_warps = shape.threads / kWarpSize * shape.blocks;
        Beside beside{.warps = all_warps / sms,
                      .read = iteration_ns(StreamKind::read, shape) * cycles_per_ns,
                      .copy = iteration_ns(StreamKind::copy, shape) * cycles_per_ns};
        const double one_way = static_cast<double>(shape.iteration_bytes()) / beside.copy * cycles_per_ns / *bandwidth_;
        beside.writes = one_way * write_cost_;
        beside.busy = one_way + beside.writes;
        return beside;
    }

    /// Nanoseconds of an iteration.
    [[nodiscard]] double iteration_ns(StreamKind kind, StreamShape shape) {
        Streaming streaming(context_.device, kind, shape, arrays_.address(), arrays_size_);
        if (checked_.insert(kind).second) add_code_checks(streaming.compiled(), outcome_);
        const auto timed = streaming.second_half(size_for(shape), kLaunches);
        return timed.time.count() / timed.iterations;
    }

    void add_trace(const std::vector<Beside>& all) {
        results::Trace trace{.name = "write_delay/occupancy", .experiment = "write_delay"};
        trace.columns = {
            {"warps", "warp/SM", {}}, {"read", "cycles", {}}, {"copy", "cycles", {}}, {"writes", "share", {}}};
        for (const auto& beside : all) {
            trace.add_row(beside.warps, beside.read, beside.copy, beside.writes);
        }
        trace.plot = {"Time from a warp's access to its next", "warps", {"read", "copy"}, false, false};
        outcome_.traces.push_back(std::move(trace));
    }

    /// The slope of the time that writes add, over their share of the memory's time. The constant is the time of the
    /// store itself, which is no delay.
    void add_estimate(const std::vector<Beside>& all) {
        std::vector<double> writes, delays;
        for (const auto& beside : all) {
            if (beside.busy > kBusy) continue;
            writes.push_back(beside.writes);
            delays.push_back(beside.copy - beside.read);
        }
        if (writes.size() < 3) {
            outcome_.warnings.emplace_back(
                "write_delay: no delay is reported, because at fewer than three occupancies the memory is idle enough");
            return;
        }
        const auto [own, slope, uncertainty] = least_squares(writes, delays);
        const double delay = std::max(0.0, slope), error = kDeviations * uncertainty;
        outcome_.estimates.push_back(
            decided_real("memory.write_delay", {delay, std::max(0.0, delay - error), delay + error},
                         {"write_delay: time of copies less that of reads alone, over the share of the memory's time "
                          "that writes take",
                          kConfidence, fmt::format("a store itself takes {:.3g} cycles more", own)}));
    }

    Context& context_;
    std::optional<double> bandwidth_;
    double write_cost_ = 1;  ///< time of a written byte, in that of a read one
    device::Buffer arrays_;
    Bytes arrays_size_{0};
    std::set<StreamKind> checked_;  ///< kinds whose machine code was checked
    Outcome outcome_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return or_left_out([&] { return WriteDelay(c).run(); }); });
}

}  // namespace
}  // namespace write_delay

Experiment write_delay_experiment() {
    return {.id = "write_delay",
            .title = "reads beside writes, over occupancy",
            .source = "gputomo; Volkov 2016, 6.4 for reads alone",
            .method = "memory-and-bandwidth",
            .explanation =
                "A few warps read, each waiting for one access before the next; then they read and write as much. "
                "The time that writes add to an access is divided by their share of the memory's time. Reads wait "
                "where the memory collects writes and does them together.",
            .needs = {"dram_bandwidth"},
            .after = {"clock", "caches"},
            .provides = {"memory.write_delay"},
            .run = write_delay::run,
            .part_of_scan = PartOfScan::with_full_budget};
}

}  // namespace gputomo::experiments
