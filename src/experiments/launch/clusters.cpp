// Clusters: which SMs they do not leave, what starting them costs, their barrier, and each other's shared memory.
#include "experiments/experiments.hpp"

#include "deduce/series/cluster_groups.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/asynchronous/asynchronous_module.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace clusters {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Launches of which the fastest counts.
constexpr int kLaunches = 5;
/// Links of a pointer chase in the kernel whose loads have ended when the clock is read, cycles between two of them,
/// and meetings at a barrier.
constexpr double kLinks = 63, kLinkCode = 0.5;
constexpr std::uint32_t kMeetings = 64;
/// Bytes that a thread of `loads_elsewhere` and `stores_elsewhere` moves in a round.
constexpr double kRoundBytes = 8 * 16;
constexpr std::uint32_t kMoveThreads = 1024, kFewRounds = 4, kManyRounds = 12;
constexpr Bytes kMoveShared{32 * 1024 + 4096};
/// Shared memory of which an SM has enough for one block alone.
constexpr Bytes kWholeSm{180 * 1024};
/// Cycles that a block of `places` lasts, and blocks for each SM.
constexpr std::uint32_t kSpin = 20'000, kBlocksOfSm = 4;
/// Clusters of the launches that time their starts. With fewer, launches that take 1 us longer than others would change
/// the result by more than a cycle.
constexpr std::array<std::uint32_t, 3> kStartedClusters{4096, 8192, 16384};
constexpr std::uint32_t kBarrierThreads = 32, kBarrierWarps = 32;

/// The fastest of the later two of three times that a kernel leaves, of several launches.
template <class Value>
Measured fastest(Context& context, std::string_view what, Value value) {
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) {
        context.progress(0.5, what);
        samples.push_back(value());
    }
    const auto [least, most] = std::ranges::minmax(samples);
    return {least, least, most};
}

Measured cycles_of(Context& context, AsynchronousModule& kernels, std::string_view kernel, const AsynchronousGrid& grid,
                   std::uint32_t argument) {
    return fastest(context, kernel, [&] {
        const auto words = kernels.run(kernel, grid, 3, {argument});
        return static_cast<double>(std::min(words[1], words[2]));
    });
}

// ---- where clusters are placed

struct Place {
    std::uint32_t sm = 0, cluster = 0, start = 0, end = 0;
};

std::vector<Place> places_of(AsynchronousModule& kernels, std::uint32_t cluster, std::uint32_t clusters, Bytes shared) {
    const std::uint32_t blocks = std::max(1U, cluster) * clusters;
    const auto words = kernels.run("places", {blocks, 32, cluster, shared}, std::size_t{4} * blocks, {kSpin});
    std::vector<Place> places;
    for (std::size_t i = 0; i < words.size(); i += 4)
        places.push_back({words[i], words[i + 1], words[i + 2], words[i + 3]});
    return places;
}

/// Cycles from the end of a block to the start of the next one on its SM: the median.
double replacement(const std::vector<Place>& places) {
    std::map<std::uint32_t, std::vector<Place>> by_sm;
    for (const Place& place : places) by_sm[place.sm].push_back(place);
    std::vector<double> gaps;
    for (auto& [sm, blocks] : by_sm) {
        const std::uint32_t first = blocks.front().start;
        std::ranges::sort(blocks, {},
                          [&](const Place& place) { return static_cast<std::int32_t>(place.start - first); });
        for (std::size_t i = 1; i < blocks.size(); ++i)
            gaps.push_back(static_cast<std::int32_t>(blocks[i].start - blocks[i - 1].end));
    }
    return gaps.empty() ? 0 : summarise(gaps).value;
}

void find_groups(Context& context, AsynchronousModule& kernels, Outcome& outcome) {
    const std::uint32_t sms = sms_of(context.device);
    deduce::ClusterGroups groups(sms);
    results::Trace trace{.name = "clusters/places", .experiment = "clusters"};
    trace.columns = {{"blocks of a cluster", "count", {}}, {"SM", "index", {}}, {"cluster", "index", {}}};
    std::vector<double> gaps;
    std::uint32_t launch = 0;
    for (const std::uint32_t cluster : {16U, 8U, 4U, 2U}) {
        context.progress(0.1, fmt::format("places of clusters of {}", cluster));
        try {
            const std::uint32_t clusters = kBlocksOfSm * sms / cluster;
            for (const Bytes shared : {Bytes{1024}, kWholeSm}) {
                const auto places = places_of(kernels, cluster, clusters, shared);
                ++launch;
                for (const Place& place : places) {
                    groups.add(launch, place.cluster, place.sm);
                    trace.add_row(cluster, place.sm, place.cluster);
                }
                if (shared == kWholeSm && cluster < 16) gaps.push_back(replacement(places));
            }
        } catch (const DeviceError&) {
            // The driver refuses clusters that are too large for this GPU.
            continue;
        }
    }
    trace.plot = {
        .title = "Cluster of each block against its SM", .x = "SM", .y = {"cluster"}, .split = "blocks of a cluster"};
    outcome.traces.push_back(std::move(trace));
    const auto sizes = groups.sizes();
    Value value = std::vector<std::int64_t>(sizes.begin(), sizes.end());
    outcome.estimates.push_back(decided("topology.cluster_sms", value,
                                        {"clusters: SMs on which blocks of one cluster were seen, of 2 to 16 blocks",
                                         kConfidence, fmt::format("{} SMs of {}", groups.seen(), sms)}));
    const auto block = context.findings.number("launch.block_replacement");
    if (!block || gaps.empty()) return;
    const double plain = replacement(places_of(kernels, 0, kBlocksOfSm * sms, kWholeSm));
    const Measured more = summarise(gaps);
    outcome.estimates.push_back(
        decided_integer("launch.cluster_replacement",
                        {more.value - plain + *block, more.low - plain + *block, more.high - plain + *block},
                        {"clusters: from the end of a block to the next one on its SM, less that without clusters, and "
                         "launch.block_replacement",
                         kConfidence}));
}

void find_starts(Context& context, Outcome& outcome, AsynchronousModule& kernels) {
    const double mhz = current_sm_mhz(context.device);
    const auto of_launch = [&](std::uint32_t clusters) {
        return kernels.time("nothing", {.blocks = 2 * clusters, .threads = 32, .cluster = 2}).count() * mhz / 1000;
    };
    std::array<std::vector<double>, kStartedClusters.size()> times;
    for (int i = 0; i < kLaunches; ++i) {
        context.progress(0.5, "starts of clusters");
        static_cast<void>(of_launch(kStartedClusters[0]));
        for (std::size_t size = 0; size < times.size(); ++size)
            times[size].push_back(of_launch(kStartedClusters[size]));
    }
    // Disturbances make launches longer. The fastest one of each size counts, and it may be as far from an undisturbed
    // one as it is from the median. Each pair of sizes makes an estimate of its own.
    const auto least = [&](std::size_t size) { return std::ranges::min(times[size]); };
    const auto each = [&](std::size_t from, std::size_t to, double shorter, double longer) {
        return (longer - shorter) / (kStartedClusters[to] - kStartedClusters[from]);
    };
    const std::size_t last = times.size() - 1;
    const double value = each(0, last, least(0), least(last));
    Measured interval{value, value, value};
    for (std::size_t to = 1; to <= last; ++to)
        for (std::size_t from = 0; from < to; ++from) {
            interval.low = std::min(interval.low, each(from, to, median(times[from]), least(to)));
            interval.high = std::max(interval.high, each(from, to, least(from), median(times[to])));
        }
    outcome.estimates.push_back(decided_real("launch.cluster_interval", interval,
                                             {"clusters: grids of empty clusters of two blocks", kConfidence}));
}

// ---- each other's shared memory

void find_shared_memory(Context& context, AsynchronousModule& kernels, Outcome& outcome) {
    results::Trace trace{.name = "clusters/links", .experiment = "clusters"};
    trace.columns = {{"blocks of a cluster", "count", {}}, {"block", "index", {}}, {"latency", "cycles", {}}};
    trace.plot = {.title = "Latency of a load from the shared memory of another block",
                  .x = "block",
                  .y = {"latency"},
                  .split = "blocks of a cluster"};
    const auto chase = [&](std::uint32_t cluster, std::uint32_t other) {
        return cycles_of(context, kernels, "links_elsewhere", {cluster, 32, cluster, Bytes{8192}}, other).value /
               kLinks;
    };
    std::vector<double> latencies;
    for (const std::uint32_t cluster : {2U, 4U, 8U}) {
        for (std::uint32_t other = 1; other < cluster; ++other) {
            latencies.push_back(chase(cluster, other) - kLinkCode);
            trace.add_row(cluster, other, latencies.back());
        }
    }
    outcome.traces.push_back(std::move(trace));
    outcome.estimates.push_back(
        decided_integer("operations[ld.shared::cluster].latency", summarise(latencies),
                        {"clusters: links through the shared memory of each other block", kConfidence}));
    results::Trace moves{.name = "clusters/moves", .experiment = "clusters"};
    moves.columns = {{"stores", "flag", {}}, {"rounds", "count", {}}, {"cycles", "cycles", {}}};
    moves.plot = {.title = "Cycles in which blocks of a cluster of 8 read or write the next one's shared memory",
                  .x = "rounds",
                  .y = {"cycles"},
                  .split = "stores"};
    for (const auto& [kernel, kind, threads] :
         {std::tuple{"loads_elsewhere", "shared_cluster", kMoveThreads},
          std::tuple{"stores_elsewhere", "shared_cluster_store", kMoveThreads / 4}}) {
        constexpr std::uint32_t kBlocks = 8;
        const auto cycles = [&](std::uint32_t rounds) {
            return fastest(context, kernel, [&] {
                const auto words = kernels.run(kernel, {kBlocks, threads, kBlocks, kMoveShared}, 3 * kBlocks, {rounds});
                std::vector<double> last(words.end() - kBlocks, words.end());
                return summarise(last).value;
            });
        };
        const double few = cycles(kFewRounds).value, many = cycles(kManyRounds).value, more = many - few;
        moves.add_row(threads == kMoveThreads ? 0 : 1, kFewRounds, few);
        moves.add_row(threads == kMoveThreads ? 0 : 1, kManyRounds, many);
        if (more <= 0) continue;
        const double rate = kRoundBytes * threads * (kManyRounds - kFewRounds) / more;
        outcome.estimates.push_back(decided_real(fmt::format("accesses.{}.sm_bytes_per_cycle", kind),
                                                 {rate, rate, rate},
                                                 {"clusters: all blocks of a cluster of 8 read or write the next one's "
                                                  "shared memory",
                                                  kConfidence}));
    }
    outcome.traces.push_back(std::move(moves));
}

void find_copies(Context& context, AsynchronousModule& kernels, Outcome& outcome) {
    const auto checked = context.findings.number("operations[mbarrier.try_wait].latency");
    const auto rate = [&] {
        for (const auto& estimate : outcome.estimates)
            if (estimate.path == "accesses.shared_cluster_store.sm_bytes_per_cycle")
                return std::get<double>(estimate.value);
        return 0.0;
    }();
    if (!checked || rate <= 0) return;
    constexpr std::uint32_t kCopied = 8192;
    /// Stall counts from the barrier of the cluster to the copy, and behind the check.
    constexpr double kAround = 31;
    const auto cycles = fastest(context, "one_copy_between", [&] {
        const auto words = kernels.run("one_copy_between", {2, 1, 2, Bytes{65536}}, 6, {kCopied});
        return static_cast<double>(*std::min_element(words.begin() + 1, words.end()));
    });
    const double without = kAround + *context.findings.number("shared.latency") + *checked + kCopied / rate;
    outcome.estimates.push_back(
        decided_integer("operations[cp.async.bulk:between].latency",
                        {cycles.value - without, cycles.low - without, cycles.high - without},
                        {"clusters: 8 KiB from one block of a cluster to another, less the time "
                         "of the bytes and of the check",
                         kConfidence}));
}

// ---- their barrier

void find_barrier(Context& context, AsynchronousModule& kernels, Outcome& outcome) {
    /// Stall counts of a loop of meetings beside them.
    constexpr double kLoop = 46;
    results::Trace trace{.name = "clusters/barriers", .experiment = "clusters"};
    trace.columns = {{"blocks of a cluster", "count", {}},
                     {"threads", "count", {}},
                     {"relaxed", "cycles", {}},
                     {"fenced", "cycles", {}}};
    trace.plot = {.title = "Cycles from one meeting of a cluster to the next against the threads of a block",
                  .x = "threads",
                  .y = {"relaxed", "fenced"},
                  .split = "blocks of a cluster"};
    const auto meeting = [&](std::string_view kernel, std::uint32_t cluster, std::uint32_t threads) {
        return cycles_of(context, kernels, kernel, {cluster, threads, cluster}, kMeetings).value / kMeetings;
    };
    std::vector<double> small, more;
    for (const std::uint32_t cluster : {2U, 4U, 8U}) {
        for (const std::uint32_t warps : {1U, 4U, 8U, kBarrierWarps}) {
            const std::uint32_t threads = warps * kBarrierThreads;
            const double relaxed = meeting("meetings", cluster, threads);
            trace.add_row(cluster, threads, relaxed, meeting("fenced_meetings", cluster, threads));
            if (warps == 1) small.push_back(relaxed - kLoop);
            if (warps == kBarrierWarps) more.push_back((relaxed - kLoop - small.back()) / (kBarrierWarps - 1));
        }
    }
    outcome.traces.push_back(std::move(trace));
    outcome.estimates.push_back(decided_integer(
        "operations[barrier.cluster].latency", summarise(small),
        {"clusters: a loop of relaxed meetings of 2 to 8 blocks of a warp, less its other instructions", kConfidence}));
    const Measured each = summarise(more);
    if (each.value > 0)
        outcome.estimates.push_back(
            decided_real("operations[barrier.cluster].throughput", {1 / each.value, 1 / each.value, 1 / each.value},
                         {"clusters: warps a cycle, from meetings of blocks of 32 warps and of one", kConfidence}));
}

Outcome measure(Context& context) {
    if (!executes_asynchronous_kernels(context.device)) {
        context.progress(1, "does not apply: the kernels are for compute capability 9.0");
        return {};
    }
    Outcome outcome;
    AsynchronousModule kernels(context.device);
    find_groups(context, kernels, outcome);
    find_starts(context, outcome, kernels);
    find_shared_memory(context, kernels, outcome);
    find_copies(context, kernels, outcome);
    find_barrier(context, kernels, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace clusters

Experiment clusters_experiment() {
    return {
        .id = "clusters",
        .title = "clusters: their places and starts, their barrier, and each other's shared memory",
        .source = "PTX ISA 9.7.13.4, 9.7.9; Luo et al. 2024 (arXiv 2402.13499)",
        .method = "asynchronous-operations",
        .explanation =
            "Blocks of clusters record on which SM they run. SMs that clusters join are one group. A thread follows "
            "links through the shared memory of each other block, all threads read and write that of the next "
            "block, and clusters meet at their barrier again and again.",
        .needs = {"shared_latency"},
        .after = {"launch", "shared_barriers"},
        .provides = {"topology.cluster_sms", "launch.cluster_replacement", "launch.cluster_interval",
                     "operations[*].latency", "operations[*].throughput", "accesses.*.sm_bytes_per_cycle"},
        .run = clusters::run};
}

}  // namespace gputomo::experiments
