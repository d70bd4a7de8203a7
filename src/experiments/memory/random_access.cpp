// Loads whose threads each follow a pointer chain of their own: latency, throughput, and their dependence on the size
// of the array.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/memory/random_chains.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "results/estimates.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::experiments {
namespace random_access {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.85;
/// Sizes in bytes over which throughput is measured (Volkov 2016, Fig. 6.6).
constexpr std::int64_t kSmallest = std::int64_t{1} << 20, kLargest = std::int64_t{1} << 28,
                       kQuickLargest = std::int64_t{1} << 25;
/// The number of warps varies at the smallest size that meets two conditions. It is at least `kTimesCache` times the
/// largest cache, and an array twice as large is slower by at most `kFlat`. The thesis chooses the size by eye. In
/// larger arrays TLBs may thrash.
constexpr std::int64_t kLeast = std::int64_t{1} << 22, kTimesCache = 4;
constexpr double kFlat = 1.0 / 16;
/// Warps of an SM; a few of them reach the peak of the throughput.
constexpr std::array kWarps{1, 2, 3, 4, 6, 8, 12, 16};
constexpr int kManyWarps = 8;
/// Uncertainty of a peak, and the largest share by which the true peak may exceed the measured one if anything is to be
/// reported.
constexpr double kSaturated = 0.03, kNearlySaturated = 0.15;

/// Runs of one warp alone, whose mean counts, because it is chance which of its transactions meet in a bank.
constexpr std::uint32_t kLoneRuns = 4;

/// Transactions that a coalesced load counts as, by the CUDA C Programming Guide (Volkov 2016, 6.7).
int coalesced_transactions(const device::Device& device) {
    const auto major = device.attribute(device::Attribute::compute_capability_major).value_or(3);
    return major < 2 ? 2 : major == 2 ? 1 : 4;
}

class RandomAccess {
public:
    explicit RandomAccess(Context& context)
        : context_(context),
          least_(std::clamp(static_cast<std::int64_t>(
                                std::bit_ceil(static_cast<std::uint64_t>(kTimesCache * largest_cache(context)))),
                            kLeast, kLargest)) {}

    Outcome run() {
        sizes();
        warps(size_of_warps());
        return std::move(outcome_);
    }

private:
    [[nodiscard]] double per_sm(const RandomChains& chains, const RandomChains::Rate& rate) const {
        return rate.loads * kWarpSize / static_cast<double>(chains.sms());
    }

    /// Whether the sweep over occupancy may use an array of sizes_[i]: a larger one is hardly slower.
    [[nodiscard]] bool suits(std::size_t i) const {
        return sizes_[i].bytes >= least_ && i + 1 < sizes_.size() && sizes_[i + 1].rate >= (1 - kFlat) * sizes_[i].rate;
    }
    /// The first size that suits, or the largest if none does.
    [[nodiscard]] std::int64_t size_of_warps() const {
        for (std::size_t i = 0; i < sizes_.size(); ++i)
            if (suits(i)) return sizes_[i].bytes;
        return sizes_.empty() ? least_ : sizes_.back().bytes;
    }

    void warps(std::int64_t bytes) {
        RandomChains chains(context_.device, bytes);
        add_code_checks(chains.compiled(), outcome_);
        results::Trace trace{.name = "random_access/occupancy", .experiment = "random_access"};
        trace.columns = {{"warps", "warp/SM", {}}, {"rate", "ops/cycle/SM", {}}, {"latency", "cycles", {}}};
        const auto add = [&](std::int64_t blocks, int warps) {
            context_.progress(0.5 + 0.5 * static_cast<double>(trace.columns[0].values.size()) / 11,
                              fmt::format("{} blocks of {} warps", blocks, warps));
            const auto rate = chains.run(blocks, warps, blocks * warps == 1 ? kLoneRuns : 1);
            if (!rate) return;
            trace.add_row(static_cast<double>(blocks * warps) / static_cast<double>(chains.sms()),
                          per_sm(chains, *rate), rate->latency);
        };
        add(1, 1);  // one warp of the whole GPU, because one on each SM is no light load (6.7)
        for (const std::int64_t part : {4, 2})
            if (chains.sms() / part > 1) add(chains.sms() / part, 1);
        for (const int warps : kWarps)
            if (warps <= max_warps_of(context_.device)) add(chains.sms(), warps);
        if (trace.columns[2].values.empty()) throw DeviceError("random_access: no block came to an SM of its own");
        add_transaction_cost(trace.columns[2].values.front(), bytes);
        add_fetched(trace.columns[0].values, trace.columns[2].values, chains.sms());
        trace.plot = {fmt::format("Throughput of random access over occupancy, {} MiB", bytes >> 20),
                      "warps",
                      {"rate"},
                      false,
                      false};
        outcome_.traces.push_back(std::move(trace));
    }

    /// `latency`: cycles of the random loads of one warp alone, in an array of `bytes`.
    void add_transaction_cost(double latency, std::int64_t bytes) {
        RandomChains lines(context_.device, bytes, RandomChains::Order::coalesced);
        const auto coalesced = lines.run(1, 1, kLoneRuns);
        if (!coalesced) return;
        const int transactions = kWarpSize - coalesced_transactions(context_.device);
        const double cost = (latency - coalesced->latency) / transactions;
        outcome_.estimates.push_back(decided_real(
            "paths.global.transaction_cost", {cost, cost, cost},
            {"random_access: latency of one warp's random loads less that of coalesced ones, for each transaction",
             kConfidence, fmt::format("{:.4g} cycles less {:.4g}", latency, coalesced->latency)}));
    }

    /// Estimates the time that a word takes of the memory, in bytes that can be streamed meanwhile. The rate of the
    /// last number of warps is a lower bound of the memory's rate; the slope of latency over warps gives an upper
    /// bound. Nothing is reported if the two are far apart.
    void add_fetched(const std::vector<double>& warps, const std::vector<double>& latencies, std::int64_t sms) {
        const auto bandwidth = context_.findings.number("memory.read_bandwidth");
        const std::size_t last = warps.size() - 1;
        if (!bandwidth || warps.size() < 2) return;
        const double words = static_cast<double>(kWarpSize * sms) * sm_mhz_of(context_.findings, context_.device) /
                             1000;  // words a nanosecond if each SM loads for one warp per cycle
        const double least = words * std::max(warps[last] / latencies[last], warps[last - 1] / latencies[last - 1]);
        const double longer = latencies[last] - latencies[last - 1];
        const double most = longer > 0 ? std::max(least, words * (warps[last] - warps[last - 1]) / longer) : 0;
        if (most == 0 || most > (1 + kNearlySaturated) * least) return;
        const double few = *bandwidth / most * (1 - kSaturated), many = *bandwidth / least * (1 + kSaturated);
        outcome_.estimates.push_back(
            decided_integer("memory.fetch_bytes", {(few + many) / 2, few, many},
                            {"random_access: streaming bandwidth over the rate of random words", kConfidence,
                             fmt::format("{:.3g} to {:.3g} random words a nanosecond", least, most)}));
    }

    void sizes() {
        results::Trace trace{.name = "random_access/size", .experiment = "random_access"};
        trace.columns = {{"bytes", "bytes", {}}, {"rate", "ops/cycle/SM", {}}};
        const bool quick = context_.quick;  // only as many sizes as choosing one takes
        for (std::int64_t bytes = quick ? least_ : kSmallest; bytes <= (quick ? kQuickLargest : kLargest); bytes *= 2) {
            context_.progress(0.05 * static_cast<double>(trace.columns[0].values.size()),
                              fmt::format("{} MiB", bytes >> 20));
            RandomChains chains(context_.device, bytes);
            const auto rate = chains.run(chains.sms(), kManyWarps);
            if (!rate) continue;
            sizes_.push_back({bytes, per_sm(chains, *rate)});
            trace.columns[0].values.push_back(static_cast<double>(bytes));
            trace.columns[1].values.push_back(sizes_.back().rate);
            if (quick && sizes_.size() > 1 && suits(sizes_.size() - 2)) break;
        }
        trace.plot = {"Throughput of random access over the size of the array", "bytes", {"rate"}, true, true};
        outcome_.traces.push_back(std::move(trace));
    }

    struct Size {
        std::int64_t bytes = 0;
        double rate = 0;  ///< of an SM
    };

    Context& context_;
    std::int64_t least_;       ///< bytes of an array several times as large as any cache
    std::vector<Size> sizes_;  ///< rising
    Outcome outcome_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return or_left_out([&] { return RandomAccess(c).run(); }); });
}

}  // namespace
}  // namespace random_access

Experiment random_access_experiment() {
    return {.id = "random_access",
            .title =
                "latency and throughput of loads that diverge, over occupancy and the size of the array; cost of a "
                "transaction",
            .source = "Volkov 2016, 6.7",
            .method = "memory-and-bandwidth",
            .explanation =
                "Each thread follows its own pointer chain in random order, so that each load of a warp is 32 "
                "transactions. One warp alone shows what a transaction adds to the latency. More warps and other "
                "array sizes show the throughput.",
            .needs = {},
            .after = {"caches", "dram_bandwidth"},
            .provides = {"paths.global.transaction_cost", "memory.fetch_bytes"},
            .run = random_access::run,
            .part_of_scan = PartOfScan::with_full_budget};
}

}  // namespace gputomo::experiments
