// What of one SM is full first, for loads whose threads ask for addresses of different shapes: rates from the last
// cache and from memory, which answer after very different times, tell a rate that is the limit from places that are.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/bandwidth/access_loop.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <random>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.9;
constexpr int kLine = 128, kWord = 4;
constexpr int kRuns = 3;
constexpr int kWarp = AccessLoop::kWarp, kMostWarps = AccessLoop::kMostWarps;
/// Schedulers of an SM take warps in turn: each fourth warp is one's, on every GPU with four of them (compute
/// capability 3.0 and later).
constexpr int kSchedulers = 4;
/// Loads of a thread, of which more than one line each the fewer are enough; ptxas keeps track of no more than 63.
constexpr int kLoads[] = {1, 2, 4, 8, 16, 32, 48}, kMostLoads = 62, kMostOfLines = 32;
/// Of a mixture: more are not left next to each other by ptxas.
constexpr int kMixedLoads[] = {8, 12, 16};
/// Warps of the sweep.
constexpr int kWarps[] = {1, 2, 4, 8, 16, 24, 32};
/// Loads of a launch, of one warp's turns; and the fewest turns.
constexpr int kLoadsOfLaunch = 512, kQuickLoads = 64, kFewestTurns = 4;
constexpr double kPart = 0.125;
constexpr std::int64_t kTimesCache = 8;
constexpr std::int64_t kSmallestArray = std::int64_t{1} << 20, kLargestArray = std::int64_t{1} << 30;
/// Rates, or amounts under way, that differ by less than this share are the same.
constexpr double kSame = 0.1;

struct Shape {
    const char* name;
    int lines;    ///< of a load of a warp
    int sectors;  ///< of it, in all
    std::uint32_t span;
};
/// One word for all; neighbouring words; 8, 16 and 32 lines with 32 sectors; 32 lines in any order.
constexpr Shape kShapes[] = {{"one_word", 1, 1, kLine},        {"neighbours", 1, 4, kLine},
                             {"merger8", 4, 4, 4 * kLine},     {"sectors", 8, 32, 8 * kLine},
                             {"stride64", 16, 32, 16 * kLine}, {"unique", 32, 32, 32 * kLine},
                             {"random", 32, 32, 32 * kLine}};

/// Bytes from a warp's place to a lane's; `far` is what random places may reach.
std::uint32_t offset_of(const Shape& shape, int lane, std::int64_t far, std::uint64_t seed) {
    if (std::string_view(shape.name) == "random") {
        std::mt19937_64 draw(seed * kWarp + static_cast<std::uint64_t>(lane));
        return static_cast<std::uint32_t>(draw() % static_cast<std::uint64_t>(far / kLine)) * kLine;
    }
    // As many lanes as share a line ask for its first word, or each for its own part of it.
    return static_cast<std::uint32_t>(shape.sectors == shape.lines ? lane * shape.lines / kWarp * kLine
                                                                   : lane * shape.lines * kLine / kWarp);
}

/// What one SM gets of loads of one shape from one place.
struct Curve {
    double latency = 0;                     ///< cycles of a lone load, free of the turn that it is in
    double rate = 0;                        ///< the most loads per cycle, of all warps
    double partition = 0, warp = 0;         ///< of the warps of one scheduler, of one warp
    int partition_most = 0, warp_most = 0;  ///< loads that they were told to have under way for that
    [[nodiscard]] double in_flight() const { return rate * latency; }
};

/// Half of the loads of each warp come from the cache and half from memory.
struct Mixture {
    double rate = 0;  ///< 0: not measured
    /// What it would be if the slower half had a rate of its own, and if what is under way were limited, wherever it
    /// comes from.
    double by_rate = 0, by_places = 0;
};

class Study {
public:
    explicit Study(Context& context) : context_(context), cache_(largest_cache(context)) {}

    Outcome run() {
        const auto near = std::max(
            kSmallestArray / 4,
            static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(kPart * static_cast<double>(cache_)))));
        const auto memory = context_.device.attribute(device::Attribute::total_memory_bytes).value_or(kLargestArray);
        const auto far = std::min(
            std::clamp(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kTimesCache * cache_))),
                       kSmallestArray, kLargestArray),
            static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(memory / 8))));
        // Behind the area, a turn's last loads and random places.
        const auto slack = [](std::int64_t bytes) { return bytes / 2 + kMostLoads * 32 * kLine; };
        const device::Buffer cached(context_.device, Bytes{near + slack(near)}),
            uncached(context_.device, Bytes{far + slack(far)});
        cached_ = {cached.address(), near, false, 0};
        uncached_ = {uncached.address(), far, true, 0};
        double done = 0;
        for (const Shape& shape : kShapes) {
            if (context_.quick && shape.lines != 1 && shape.lines != kWarp) continue;
            context_.progress(done++ / std::size(kShapes), shape.name);
            try {
                study(shape);
            } catch (const CodeMismatch& mismatch) {
                add_mismatch(mismatch, outcome_);
            }
        }
        report_rates();
        return std::move(outcome_);
    }

private:
    AccessLoop& accesses(const Shape& shape, int count, const AccessArea& area) {
        // Both areas have their own random places, which is all that differs.
        const bool cached = &area == &cached_;
        auto& kept = kept_[{shape.name, count, cached}];
        if (!kept) {
            kept = std::make_unique<AccessLoop>(
                context_.device, AccessForm{AccessKind::load, count, kWord, shape.span},
                [&](int lane) { return offset_of(shape, lane, area.bytes / 2, context_.seed); });
            if (cached) add_code_checks(kept->compiled(), outcome_);
        }
        return *kept;
    }

    /// Loads of whole warps per cycle.
    std::optional<double> rate_of(const Shape& shape, int count, AccessShape warps, AccessArea& area) {
        const auto turn =
            accesses(shape, count, area)
                .cycles_per_iteration(warps,
                                      std::max(kFewestTurns, (context_.quick ? kQuickLoads : kLoadsOfLaunch) / count /
                                                                 std::max(1, shape.lines / 4)),
                                      kRuns, area);
        if (!turn) return std::nullopt;
        return warps.warps * count / *turn;
    }

    void fill(const Shape& shape) {
        if (cache_ == 0) return;
        auto& all = accesses(shape, 8, cached_);
        const AccessShape warps{1, 8, 1};
        (void)all.cycles(
            warps, static_cast<int>(std::max<std::int64_t>(1, cached_.bytes / (std::int64_t{8} * 8 * shape.span))),
            cached_);
    }

    Curve curve_of(const Shape& shape, AccessArea& area) {
        Curve curve;
        const double lone = 1 / rate_of(shape, 1, {1, 1, 1}, area).value_or(1e-9);
        const double turn =
            accesses(shape, 0, area).cycles_per_iteration({1, 1, 1}, kLoadsOfLaunch, kRuns, area).value_or(0);
        curve.latency = lone - turn;
        results::Trace trace{
            .name = fmt::format("access_patterns/{}_{}", shape.name, &area == &cached_ ? "cached" : "memory"),
            .experiment = "access_patterns"};
        trace.columns = {{"loads", "count", {}},
                         {"warps", "count", {}},
                         {"in_flight", "loads", {}},
                         {"rate", "loads/cycle", {}},
                         {"little", "loads/cycle", {}}};
        trace.plot = {.title = fmt::format("Loads of warps per cycle of one SM, {} from {}", shape.name,
                                           &area == &cached_ ? "the last cache" : "memory"),
                      .x = "in_flight",
                      .y = {"rate", "little"}};
        for (const int loads : kLoads) {
            if (loads > kMostOfLines && shape.lines > 1) break;
            for (const int warps : kWarps) {
                const auto rate = rate_of(shape, loads, {1, warps, 1}, area);
                if (!rate) break;
                curve.rate = std::max(curve.rate, *rate);
                const double row[] = {static_cast<double>(loads), static_cast<double>(warps),
                                      static_cast<double>(loads * warps), *rate, loads * warps / lone};
                for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
            }
        }
        outcome_.traces.push_back(std::move(trace));
        add_few(shape, area, curve);
        return curve;
    }

    /// The warps of one scheduler, and a single one.
    void add_few(const Shape& shape, AccessArea& area, Curve& curve) {
        results::Trace trace{
            .name = fmt::format("access_patterns/{}_{}_few_warps", shape.name, &area == &cached_ ? "cached" : "memory"),
            .experiment = "access_patterns"};
        trace.columns = {{"warps", "count", {}}, {"loads", "count", {}}, {"rate", "loads/cycle", {}}};
        trace.plot = {
            .title = fmt::format("Loads per cycle of one warp, and of eight warps of one scheduler, {}", shape.name),
            .x = "loads",
            .y = {"rate"},
            .split = "warps"};
        for (const auto& [warps, most] : {std::pair{1, kMostLoads}, std::pair{kMostWarps / kSchedulers, 32}})
            for (const int loads : {1, 2, 4, 8, 16, 24, 32, 48, 52, 56, 58, 60, kMostLoads}) {
                if (loads > most) continue;
                const auto rate = rate_of(shape, loads, {1, warps, warps == 1 ? 1 : kSchedulers}, area);
                if (!rate) continue;
                double& best = warps == 1 ? curve.warp : curve.partition;
                if (*rate > best) (warps == 1 ? curve.warp_most : curve.partition_most) = warps * loads;
                best = std::max(best, *rate);
                const double row[] = {static_cast<double>(warps), static_cast<double>(loads), *rate};
                for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
            }
        outcome_.traces.push_back(std::move(trace));
    }

    void study(const Shape& shape) {
        if (cache_ > 0) fill(shape);
        const Curve near = cache_ > 0 ? curve_of(shape, cached_) : Curve{};
        const Curve far = curve_of(shape, uncached_);
        report(shape, near, far, mixture_of(shape, near, far));
        rates_[shape.name] = {near, far};
    }

    /// Of loads that memory serves less often than the cache, which may be because they take longer or because memory
    /// serves no more.
    Mixture mixture_of(const Shape& shape, const Curve& near, const Curve& far) {
        Mixture mixture;
        if (cache_ == 0 || far.rate > (1 - kSame) * near.rate) return mixture;
        mixture.by_rate = std::min(near.rate, 2 * far.rate);
        mixture.by_places = std::min(near.rate, 2 * far.in_flight() / (near.latency + far.latency));
        results::Trace trace{.name = fmt::format("access_patterns/{}_mixed", shape.name),
                             .experiment = "access_patterns"};
        trace.columns = {
            {"loads", "count", {}}, {"warps", "count", {}}, {"in_flight", "loads", {}}, {"rate", "loads/cycle", {}}};
        trace.plot = {
            .title = fmt::format("Loads of warps per cycle of one SM, {} in turn from the last cache and from memory",
                                 shape.name),
            .x = "in_flight",
            .y = {"rate"}};
        try {
            for (const int loads : kMixedLoads) {
                AccessLoop mixed(context_.device, AccessForm{AccessKind::load, loads, kWord, shape.span, true},
                                 [&](int lane) { return offset_of(shape, lane, cached_.bytes / 2, context_.seed); });
                for (const int warps : {8, 16, 24, 32}) {
                    const auto turn = mixed.cycles_per_iteration(
                        {1, warps, 1}, std::max(kFewestTurns, (context_.quick ? kQuickLoads : kLoadsOfLaunch) / loads),
                        kRuns, uncached_, &cached_);
                    if (!turn) break;
                    const double rate = warps * loads / *turn,
                                 row[] = {static_cast<double>(loads), static_cast<double>(warps),
                                          static_cast<double>(loads * warps), rate};
                    mixture.rate = std::max(mixture.rate, rate);
                    for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
                }
            }
        } catch (const CodeMismatch& mismatch) {
            add_mismatch(mismatch, outcome_);
        }
        outcome_.traces.push_back(std::move(trace));
        return mixture;
    }

    void report(const Shape& shape, const Curve& near, const Curve& far, const Mixture& mixture) {
        const std::string path = fmt::format("patterns.{}.", shape.name);
        const Evidence evidence{
            "access_patterns: one SM, 1 to 32 warps with 1 to 32 loads each under way, n turns against 2n", kConfidence,
            fmt::format("from the cache {:.3g} loads/cycle at {:.0f} cycles ({:.0f} under way), from memory {:.3g} at "
                        "{:.0f} ({:.0f}); one scheduler's warps "
                        "{:.3g} and {:.3g}, one warp {:.3g} and {:.3g}",
                        near.rate, near.latency, near.in_flight(), far.rate, far.latency, far.in_flight(),
                        near.partition, far.partition, near.warp, far.warp) +
                (mixture.rate > 0
                     ? fmt::format(
                           "; in turn from both {:.3g}, where a rate of memory would give {:.3g} and places {:.3g}",
                           mixture.rate, mixture.by_rate, mixture.by_places)
                     : std::string())};
        const auto real = [&](const char* leaf, double value) {
            outcome_.estimates.push_back(
                decided_real(path + leaf, {value, (1 - kSame / 5) * value, (1 + kSame / 5) * value}, evidence));
        };
        if (cache_ > 0) real("loads_per_cycle", near.rate);
        real("memory_loads_per_cycle", far.rate);
        if (cache_ > 0) outcome_.estimates.push_back(first_limit(path, near, far, mixture, evidence));
        // Little's law with the latency of an idle GPU: what is under way on average is no less.
        const double most = std::max(near.in_flight(), far.in_flight());
        const auto count = [&](const char* leaf, double value) {
            auto estimate = decided(path + leaf, static_cast<std::int64_t>(std::floor(value)), evidence);
            estimate.interval = {std::floor((1 - kSame / 2) * value), std::ceil((1 + kSame / 2) * value)};
            outcome_.estimates.push_back(std::move(estimate));
        };
        count("outstanding_loads", most);
        count("outstanding_lines", most * shape.lines);
        count("outstanding_sectors", most * shape.sectors);
        count("partition_loads", std::max(near.partition * near.latency, far.partition * far.latency));
        count("warp_loads", std::max(near.warp * near.latency, far.warp * far.latency));
    }

    static results::Estimate first_limit(const std::string& path, const Curve& near, const Curve& far,
                                         const Mixture& mixture, const Evidence& evidence) {
        const auto leaf = path + "first_limit";
        if (std::abs(near.latency - far.latency) < 2 * kSame * far.latency) return undecided(leaf, {}, evidence);
        if (far.rate > (1 - kSame) * near.rate) return decided(leaf, std::string("rate"), evidence);
        if (std::abs(far.in_flight() - near.in_flight()) < kSame * far.in_flight())
            return decided(leaf, std::string("places"), evidence);
        // The mixture tells where the cache, too, has a limit that is not memory's: places would not let as many loads
        // go.
        if (mixture.by_places < (1 - 2 * kSame) * mixture.by_rate) {
            if (mixture.rate > (1 - kSame) * mixture.by_rate) return decided(leaf, std::string("rate"), evidence);
            if (mixture.rate < (1 + kSame) * mixture.by_places) return decided(leaf, std::string("places"), evidence);
        }
        return undecided(leaf, {std::string("rate"), std::string("places")}, evidence);
    }

    /// Side by side: which count of a pattern is the same for all.
    void report_rates() {
        results::Trace trace{.name = "access_patterns/rates", .experiment = "access_patterns"};
        trace.columns = {{"lines", "of a load", {}},
                         {"sectors", "of a load", {}},
                         {"cached", "loads/cycle", {}},
                         {"cached_lines", "lines/cycle", {}},
                         {"cached_sectors", "sectors/cycle", {}},
                         {"memory", "loads/cycle", {}},
                         {"memory_lines", "lines/cycle", {}},
                         {"memory_sectors", "sectors/cycle", {}},
                         {"cached_latency", "cycles", {}},
                         {"memory_latency", "cycles", {}},
                         {"cached_partition", "loads/cycle", {}},
                         {"memory_partition", "loads/cycle", {}},
                         {"cached_warp", "loads/cycle", {}},
                         {"memory_warp", "loads/cycle", {}}};
        for (const Shape& shape : kShapes) {
            const auto found = rates_.find(shape.name);
            if (found == rates_.end()) continue;
            const auto& [near, far] = found->second;
            const double row[] = {static_cast<double>(shape.lines),
                                  static_cast<double>(shape.sectors),
                                  near.rate,
                                  near.rate * shape.lines,
                                  near.rate * shape.sectors,
                                  far.rate,
                                  far.rate * shape.lines,
                                  far.rate * shape.sectors,
                                  near.latency,
                                  far.latency,
                                  near.partition,
                                  far.partition,
                                  near.warp,
                                  far.warp};
            for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
        }
        outcome_.traces.push_back(std::move(trace));
    }

    Context& context_;
    Outcome outcome_;
    std::int64_t cache_;
    AccessArea cached_, uncached_;
    std::map<std::tuple<std::string_view, int, bool>, std::unique_ptr<AccessLoop>> kept_;
    std::map<std::string_view, std::pair<Curve, Curve>> rates_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return Study(c).run(); });
}

}  // namespace

Experiment access_patterns_experiment() {
    return {
        .id = "access_patterns",
        .title =
            "loads of different address patterns by one SM, from the last cache and from memory: what is full first",
        .source = "Lashgar 2015, 5; Little's law",
        .method = "outstanding-requests",
        .explanation =
            "Warps of one SM load from several patterns of addresses, out of the last cache and out of memory. "
            "A limit that gives the same rate at both latencies is a throughput. A limit whose rate falls as "
            "the latency grows is a number of entries, which is rate times latency.",
        .needs = {},
        .after = {"caches"},
        .provides = {"patterns.*.first_limit", "patterns.*.loads_per_cycle", "patterns.*.memory_loads_per_cycle",
                     "patterns.*.outstanding_loads", "patterns.*.outstanding_lines", "patterns.*.outstanding_sectors",
                     "patterns.*.partition_loads", "patterns.*.warp_loads"},
        .run = run,
        .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
