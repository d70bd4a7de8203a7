// How an SM keeps track of the loads that it has under way: thread-latency surfaces, explained by queueing descriptions.
#include "experiments/experiments.hpp"

#include "deduce/change_point.hpp"
#include "deduce/outstanding_bound.hpp"
#include "deduce/outstanding_fit.hpp"
#include "experiments/clock_watch.hpp"
#include "experiments/estimates.hpp"
#include "experiments/known_caches.hpp"
#include "experiments/outstanding/surface.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace gputomo::experiments {
namespace {

using deduce::OutstandingFit;
using deduce::OutstandingLaunch;
using deduce::OutstandingPoint;
using deduce::OutstandingUnit;

constexpr int kWarp = 32;
constexpr double kConfidence = 0.95;
/// Loads of a warp that a limit is looked for up to; GPUs of compute capability 2.0 to 3.1 have registers for fewer.
constexpr int kMostLoads = 64, kMostLoadsOf63Registers = 40;
/// A description with a limit must explain the data this much better than one without, or there is none.
constexpr double kMuchBetter = 0.5, kBetter = 0.93;
/// Descriptions whose errors differ by less than this factor explain the data equally well.
constexpr double kAlike = 1.05;
/// Requests of one launch of the surface; more cost time and tell no more than how fast the memory is.
constexpr int kMostRequests = 1280;
/// Threads on either side of where a description saturates that are then measured one by one, or two by two.
constexpr int kAround = 8;
/// A description's number of entries is this near to where single threads show the step.
constexpr double kWithin = 0.06;
constexpr int kMostThreads = 1024;
/// Loads of a thread, and warps on either side, with which a table of instructions is counted out.
constexpr int kMostExact = 8, kWarpsAround = 4;
/// Threads whose loads of one line are one request, also where half-warps are coalesced on their own (Volkov 2016, 2.5).
constexpr int kHalfWarp = 16;
/// Two warps that share what one fills get half of it each.
constexpr double kSharedLimit = 0.75;
/// A load that is this much faster than past the SM's own caches hits in one of them.
constexpr double kNear = 0.9;

/// A plot of the paper: its pattern and loads of a thread.
struct PaperPlot {
    const char* name;
    int share;
    int loads;
};
constexpr PaperPlot kPaperPlots[] = {{"unique_x1", 1, 1},  {"unique_x2", 1, 2},  {"unique_x3", 1, 3},   {"merger2_x1", 2, 1},
                                     {"merger4_x2", 4, 2}, {"merger8_x4", 8, 4}, {"merger16_x4", 16, 4}, {"merger32_x4", 32, 4}};

std::int64_t count_of(const deduce::Estimate& count) { return std::get<std::int64_t>(count.value); }

int most_loads(const device::Device& device) {
    const auto target = device.ptx_target();
    return target.sm >= 20 && target.sm < 32 ? kMostLoadsOf63Registers : kMostLoads;
}

class Study {
public:
    Study(Context& context, Outcome& outcome)
        : context_(context), outcome_(outcome), surface_(context.device, largest_cache(context), false, outcome), most_loads_(most_loads(context.device)) {}

    void run() {
        find_place();
        context_.progress(0.05, "loads of one warp");
        find_warp_limit();
        sweep();
        auto fits = deduce::fit_outstanding(points_, warp_loads_);
        context_.progress(0.6, "around saturation");
        refine(fits.front());
        fits = deduce::fit_outstanding(points_, warp_loads_);
        report(fits);
        if (!context_.quick) plot_paper();
        plot_other_accesses();
    }

private:
    std::vector<OutstandingPoint> loads_of(int warps);
    void find_warp_limit();
    [[nodiscard]] deduce::Estimate at_least(std::string leaf, std::span<const OutstandingPoint> points, OutstandingUnit unit, const char* what) const;
    void find_place();
    void sweep();
    void sweep_curve(int loads, const InFlightPattern& pattern, int most_warps);
    void refine(const OutstandingFit& fit);
    void report(const std::vector<OutstandingFit>& fits);
    void report_table(const std::vector<OutstandingFit>& fits);
    void leave_open(std::vector<deduce::Value> candidates, Evidence evidence, const char* reason);
    std::optional<deduce::Step> exact_lines(int about);
    std::optional<std::array<int, 2>> exact_instructions(int about);
    void find_merging();
    void plot_paper();
    void plot_other_accesses();
    void plot(const std::string& name, InFlightShape shape, const InFlightPattern& pattern, int step);
    bool add_point(int loads, const InFlightPattern& pattern, int threads);
    [[nodiscard]] std::string path(std::string_view leaf) const { return fmt::format("{}.{}", place_, leaf); }

    Context& context_;
    Outcome& outcome_;
    InFlightSurface surface_;
    std::vector<OutstandingPoint> points_;
    std::string place_;
    double far_ = 0;   ///< cycles of a load that hits past the SM's own caches
    double near_ = 0;  ///< of those, what the measurement itself and the SM's cache take at most
    int most_loads_;
    int warp_loads_ = 0;  ///< 0: no limit
};

/// Blocks of this many warps, each with 1 to `most_loads_` loads of a line of its own under way.
std::vector<OutstandingPoint> Study::loads_of(int warps) {
    std::vector<OutstandingPoint> points;
    deduce::Trace trace{.name = fmt::format("outstanding/loads_of_{}_warps", warps), .experiment = "outstanding"};
    trace.columns = {{"loads", "count", {}}, {"complete", "cycles", {}}};
    trace.plot = {fmt::format("Loads of each of {} warps, each of one line", warps), "loads", {"complete"}, false, false};
    for (int loads = 1; loads <= most_loads_; ++loads) {
        const auto point = surface_.measure({.count = loads}, {.share = kWarp}, warps * kWarp);
        if (!point) break;
        points.push_back({{.threads = warps * kWarp, .loads = loads, .share = kWarp}, point->complete});
        trace.columns[0].values.push_back(loads);
        trace.columns[1].values.push_back(point->complete);
    }
    outcome_.traces.push_back(std::move(trace));
    return points;
}

/// What was under way at once is that much more than a limit that explains the times all the same: the limit is not why.
constexpr double kSurelyMore = 1.5;

deduce::WarpLoadsFit limit_of(std::span<const OutstandingPoint> points) {
    auto fit = deduce::fit_warp_loads(points);
    if (fit.error >= kMuchBetter * fit.error_without) fit.limit = 0;
    return fit;
}

/// Where no limit was met: what was surely under way at once.
deduce::Estimate Study::at_least(std::string leaf, std::span<const OutstandingPoint> points, OutstandingUnit unit, const char* what) const {
    double fastest = far_;
    for (const auto& [launch, cycles] : points) fastest = std::min(fastest, cycles);
    const double latency = fastest - near_;
    const auto bound = deduce::bound_of(points, unit, latency);
    auto estimate = decided(std::move(leaf), std::int64_t{bound.proven},
                            {fmt::format("outstanding: the most {} of a launch over the latencies ({:.0f} cycles) that fit into its time", what, latency), kConfidence,
                             fmt::format("by the rate at which more of them take longer, times the latency: {:.0f}", bound.by_rate)});
    estimate.interval = {static_cast<double>(bound.proven), std::max(static_cast<double>(bound.proven), bound.by_rate)};
    return estimate;
}

/// A limit of each warp is the same for two warps as for one; one of the SM is shared by both.
void Study::find_warp_limit() {
    const auto points = loads_of(1);
    const auto alone = limit_of(points);
    const std::string method = fmt::format("outstanding: one warp, and two, with 1 to {} loads under way; a description with a limit explains the latencies to {:.2g}%, one without to {:.2g}%",
                                           alone.most, 100 * alone.error, 100 * alone.error_without);
    auto bound = at_least("issue.scoreboard_at_least", points, OutstandingUnit::instructions, "loads");
    // Nothing has more under way than its limit, but a load may hold its place for less than its whole latency.
    if (alone.limit == 0 || static_cast<double>(count_of(bound)) > kSurelyMore * alone.limit) {
        outcome_.estimates.push_back(undecided("issue.scoreboard_loads", {}, {method, kConfidence, fmt::format("no limit up to {} loads, of which at least {} were under way at once", alone.most, count_of(bound))}));
        outcome_.estimates.push_back(std::move(bound));
        return;
    }
    const auto both = limit_of(loads_of(2));
    if (both.limit > 0 && both.limit < kSharedLimit * alone.limit) {
        outcome_.estimates.push_back(undecided("issue.scoreboard_loads", {}, {method, kConfidence, fmt::format("{} loads of one warp fill what two warps share, {} each", alone.limit, both.limit)}));
        return;
    }
    warp_loads_ = alone.limit;
    outcome_.estimates.push_back(decided("issue.scoreboard_loads", std::int64_t{alone.limit}, {method, kConfidence}));
}

/// A table belongs to the cache of the SM that loads miss in, or where there is none to the path.
void Study::find_place() {
    const double near = surface_.nearest_hit(InFlightAccess::load);
    const double far = surface_.nearest_hit(InFlightAccess::load_far);
    const bool cached = near < kNear * far;
    place_ = cached ? "caches.l1" : "paths.global";
    far_ = far;
    near_ = cached ? near : (1 - kNear) * far;
}

bool Study::add_point(int loads, const InFlightPattern& pattern, int threads) {
    const OutstandingLaunch launch{threads, loads, pattern.share, pattern.sectors, pattern.lanes};
    if (deduce::units_of(launch, OutstandingUnit::lines) > kMostRequests) return false;
    const auto point = surface_.measure({.count = loads}, pattern, threads);
    if (point) points_.push_back({launch, point->complete});
    return point.has_value();
}

void Study::sweep_curve(int loads, const InFlightPattern& pattern, int most_warps) {
    if (loads > most_loads_ || (warp_loads_ > 0 && loads > warp_loads_)) return;
    if (pattern.share < kWarp && pattern.lanes == kWarp)
        for (const int threads : {2, 4, 8, 16, 24}) add_point(loads, pattern, threads);
    for (int warps = 1; warps <= most_warps; ++warps)
        if (!add_point(loads, pattern, warps * kWarp)) return;
}

void Study::sweep() {
    constexpr int kWarps = 32;
    int done = 0;
    for (const int loads : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32}) {
        context_.progress(0.1 + 0.04 * done++, fmt::format("{} loads a thread", loads));
        sweep_curve(loads, {.share = kWarp}, kWarps);
        if (loads > 8) continue;
        sweep_curve(loads, {.share = 8}, kWarps);
        if (loads > 4) continue;
        sweep_curve(loads, {.share = 1, .lanes = 8}, kWarps);
        for (const int share : {1, 2, 4}) sweep_curve(loads, {.share = share}, loads > 2 ? kWarps / 2 : kWarps);
        sweep_curve(loads, {.share = 4, .sectors = 4}, kWarps);
    }
}

/// Thread by thread around the point where the best description says that its table is full.
void Study::refine(const OutstandingFit& fit) {
    if (fit.model.unit == OutstandingUnit::none || fit.model.unit == OutstandingUnit::instructions) return;
    int curves = 0;
    for (const auto& [loads, share] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 2}, std::pair{2, 2}, std::pair{2, 4}, std::pair{4, 4}, std::pair{4, 8}}) {
        const InFlightPattern pattern{.share = share};
        if (warp_loads_ > 0 && loads > warp_loads_) continue;
        int full = 1;
        while (full < 1024 && deduce::units_of({full, loads, share}, fit.model.unit) < fit.model.entries) ++full;
        if (full >= 1024 || curves == 3) continue;
        ++curves;
        const int step = loads * share == 1 ? 1 : share;
        for (int threads = std::max(1, full - kAround * step); threads <= full + kAround * step; threads += step) add_point(loads, pattern, threads);
    }
}

void Study::report(const std::vector<OutstandingFit>& fits) {
    deduce::Trace trace{.name = "outstanding/descriptions", .experiment = "outstanding"};
    trace.columns = {{"unit", "0 none, 1 threads, 2 sectors, 3 lines, 4 instructions", {}}, {"entries", "count", {}}, {"error", "share of latency", {}},
                     {"latency", "cycles", {}}, {"spacing", "cycles", {}}, {"issue", "cycles", {}}, {"gap", "cycles", {}}, {"service", "cycles", {}}};
    for (const auto& fit : fits) {
        const auto& model = fit.model;
        const double row[] = {static_cast<double>(model.unit), static_cast<double>(model.entries), fit.error, model.latency, model.spacing, model.issue, model.gap, model.service};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
    }
    outcome_.traces.push_back(std::move(trace));
    deduce::Trace surface{.name = "outstanding/surface", .experiment = "outstanding"};
    surface.columns = {{"loads", "count", {}}, {"share", "threads", {}}, {"sectors", "count", {}}, {"lanes", "threads", {}},
                       {"threads", "count", {}}, {"complete", "cycles", {}}, {"described", "cycles", {}}};
    surface.plot = {.title = "What the best description says of each launch against what was measured", .x = "complete", .y = {"described"}, .split = "loads"};
    for (const auto& [launch, cycles] : points_) {
        const double row[] = {static_cast<double>(launch.loads), static_cast<double>(launch.share), static_cast<double>(launch.sectors), static_cast<double>(launch.lanes),
                              static_cast<double>(launch.threads), cycles, fits.front().model.predict(launch)};
        for (std::size_t i = 0; i < std::size(row); ++i) surface.columns[i].values.push_back(row[i]);
    }
    outcome_.traces.push_back(std::move(surface));
    report_table(fits);
}

std::string in_words(const std::vector<OutstandingFit>& fits) {
    std::vector<std::string> parts;
    for (const auto& fit : fits)
        parts.push_back(fit.model.unit == OutstandingUnit::none ? fmt::format("no table {:.2g}%", 100 * fit.error)
                                                                : fmt::format("{} {} {:.2g}%", fit.model.entries, deduce::name_of(fit.model.unit), 100 * fit.error));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void Study::leave_open(std::vector<deduce::Value> candidates, Evidence evidence, const char* reason) {
    auto lines = at_least(path("outstanding_at_least"), points_, OutstandingUnit::lines, "lines");
    const auto instructions = at_least({}, points_, OutstandingUnit::instructions, "instructions");
    evidence.note = fmt::format("{}: at least {} lines, or {} instructions, were under way at once", reason, count_of(lines), count_of(instructions));
    outcome_.estimates.push_back(undecided(path("outstanding_design"), std::move(candidates), evidence));
    outcome_.estimates.push_back(std::move(lines));
}

void Study::report_table(const std::vector<OutstandingFit>& fits) {
    const std::string method = fmt::format("outstanding: queueing descriptions of {} launches; mean error of each: {}", points_.size(), in_words(fits));
    const Evidence evidence{method, kConfidence};
    const auto& best = fits.front();
    const auto& second = fits[1];
    const auto none = std::ranges::find(fits, OutstandingUnit::none, [](const OutstandingFit& fit) { return fit.model.unit; });
    if (best.error > kBetter * none->error) return leave_open({}, evidence, "no table fills up within what one block has under way");
    const bool alone = second.error > kAlike * best.error;
    const bool known = best.model.unit == OutstandingUnit::lines || best.model.unit == OutstandingUnit::instructions;
    if (!alone || !known) return leave_open({std::string("mshr"), std::string("prt")}, evidence, "no single table explains all launches");
    const bool lines = best.model.unit == OutstandingUnit::lines;
    outcome_.estimates.push_back(decided(path("outstanding_design"), std::string(lines ? "mshr" : "prt"), evidence));
    auto entries = decided(path("outstanding_entries"), std::int64_t{best.model.entries}, evidence);
    entries.interval = {static_cast<double>(best.least_entries), static_cast<double>(best.most_entries)};
    if (const auto step = lines ? exact_lines(best.model.entries) : std::nullopt) {
        entries.value = static_cast<std::int64_t>(step->last_before);
        entries.interval = {step->last_before, step->first_after - 1};
        entries.method += fmt::format("; latency steps up by {:.0f} cycles after {} lines", step->height, step->last_before);
    }
    if (const auto bounds = lines ? std::nullopt : exact_instructions(best.model.entries)) {
        entries.value = std::int64_t{std::clamp(best.model.entries, (*bounds)[0], (*bounds)[1])};
        entries.interval = {static_cast<double>((*bounds)[0]), static_cast<double>((*bounds)[1])};
        entries.method += "; warps after which latency steps up with different numbers of loads";
    }
    outcome_.estimates.push_back(std::move(entries));
    if (lines) find_merging();
}

/// All warps ask for one line: as long as its entry takes them in, they get their data together; the first that it refuses gets
/// its data later (Lashgar 2015, 2.1). Two loads of different words of the line are two requests.
void Study::find_merging() {
    std::optional<deduce::Step> step;
    for (const int loads : {1, 2}) {
        deduce::Trace trace{.name = fmt::format("outstanding/merging_x{}", loads), .experiment = "outstanding"};
        trace.columns = {{"requests", "count", {}}, {"complete", "cycles", {}}};
        trace.plot = {"Requests of several warps for one line", "requests", {"complete"}, false, false};
        for (int warps = 1; warps <= kWarp; ++warps) {
            const auto point = surface_.measure({.count = loads, .step = 4}, {.share = kWarp, .lanes = kHalfWarp, .one_line = true}, warps * kWarp);
            if (!point) break;
            trace.columns[0].values.push_back(warps * loads);
            trace.columns[1].values.push_back(point->complete);
        }
        step = deduce::first_jump(trace.columns[0].values, trace.columns[1].values);
        outcome_.traces.push_back(std::move(trace));
        if (step && step->significant) break;
    }
    const std::string method = "outstanding: requests of up to 32 warps for one line under way";
    if (step && step->significant) {
        auto merge = decided(path("outstanding_merge"), static_cast<std::int64_t>(step->last_before),
                             {fmt::format("{}; latency steps up by {:.0f} cycles after {}", method, step->height, step->last_before), kConfidence});
        merge.interval = {step->last_before, step->first_after - 1};
        outcome_.estimates.push_back(std::move(merge));
    } else {
        outcome_.estimates.push_back(absent(path("outstanding_merge"), {method, kConfidence, "no limit seen"}));
    }
}

/// The number of lines after which the latency of a lone load of each thread steps up, one by one around the number that the surface
/// asks for; nothing where there is no clear step.
std::optional<deduce::Step> Study::exact_lines(int about) {
    const int loads = about <= kMostThreads ? 1 : 2;
    const int reach = std::max(kAround, static_cast<int>(kWithin * about));
    std::vector<double> lines;
    std::vector<double> cycles;
    for (int threads = std::max(1, (about - reach) / loads); threads * loads <= about + reach; ++threads) {
        const auto point = surface_.measure({.count = loads}, {}, threads);
        if (!point) break;
        lines.push_back(threads * loads);
        cycles.push_back(point->complete);
    }
    auto step = deduce::best_step(lines, cycles);
    if (step && !step->significant) step.reset();
    return step;
}

/// Fewest and most entries of a table of instructions: with n loads of each warp, the table fills within the n loads of one warp, and
/// different n have that warp at different places. Nothing where no curve shows a clear step or curves contradict each other.
std::optional<std::array<int, 2>> Study::exact_instructions(int about) {
    std::array<int, 2> bounds{1, kMostThreads * kMostLoads};
    bool seen = false;
    for (int loads = 1; loads <= (warp_loads_ > 0 ? std::min(warp_loads_, kMostExact) : kMostExact); ++loads) {
        std::vector<double> warps;
        std::vector<double> cycles;
        const int middle = about / loads;
        for (int count = std::max(1, middle - kWarpsAround); count <= std::min(kWarp, middle + kWarpsAround); ++count) {
            const auto point = surface_.measure({.count = loads}, {.share = kWarp}, count * kWarp);
            if (!point) break;
            warps.push_back(count);
            cycles.push_back(point->complete);
        }
        const auto step = deduce::best_step(warps, cycles);
        if (!step || !step->significant) continue;
        seen = true;
        bounds[0] = std::max(bounds[0], static_cast<int>(step->last_before) * loads);
        bounds[1] = std::min(bounds[1], static_cast<int>(step->first_after) * loads - 1);
    }
    if (!seen || bounds[0] > bounds[1]) return std::nullopt;
    return bounds;
}

void Study::plot(const std::string& name, InFlightShape shape, const InFlightPattern& pattern, int step) {
    deduce::Trace trace{.name = "outstanding/" + name, .experiment = "outstanding"};
    trace.columns = {{"threads", "count", {}}, {"latency", "cycles", {}}, {"variance", "cycles^2", {}}, {"complete", "cycles", {}}};
    trace.plot = {fmt::format("Thread-latency plot: {} {} a thread, {}", shape.count, name_of(shape.access), pattern.shuffled ? "random lines" : pattern.one_line ? "the same lines for all" : pattern.share == 1 ? "a line for each" : fmt::format("a line for {} threads", pattern.share)),
                  "threads", {"latency", "variance"}, false, true};
    const int most = std::min(1024, surface_.most_threads(shape));
    for (int threads = step; threads <= most; threads += step) {
        const auto point = surface_.measure(shape, pattern, threads);
        if (!point) break;
        trace.columns[0].values.push_back(threads);
        trace.columns[1].values.push_back(point->listed);
        trace.columns[3].values.push_back(point->complete);
    }
    trace.columns[2].values = neighbour_variance(trace.columns[1].values);
    outcome_.traces.push_back(std::move(trace));
}

/// The sweeps of the paper: 2 to 1024 threads in steps of 2 (Lashgar 2015, 3.1), no more loads than a warp can have under way (section 4).
void Study::plot_paper() {
    for (const auto& wanted : kPaperPlots) {
        if (warp_loads_ > 0 && wanted.loads > warp_loads_) continue;
        context_.progress(0.8, wanted.name);
        plot(wanted.name, {.count = wanted.loads}, {.share = wanted.share}, 2);
    }
}

void Study::plot_other_accesses() {
    constexpr int kStep = 32;
    plot("random_x1", {.count = 1}, {.shuffled = true}, kStep);
    plot("strided_x1", {.count = 1}, {.share = 4, .sectors = 4}, kStep);
    for (const auto access : {InFlightAccess::store, InFlightAccess::atomic, InFlightAccess::load_far})
        plot(fmt::format("unique_{}_x1", name_of(access)), {.access = access}, {}, kStep);
    if (warp_loads_ > 0 || context_.quick) return;
    // Where hundreds of loads can be under way, what holds them up: with none of them in the SM's caches, past those caches, and all there but for the first.
    constexpr int kMany = 32, kManyStep = 128;
    plot("many", {.count = kMany}, {.share = kWarp}, kManyStep);
    plot("many_far", {.access = InFlightAccess::load_far, .count = kMany}, {.share = kWarp}, kManyStep);
    plot("many_of_one_place", {.count = kMany}, {.share = kWarp, .one_line = true}, kManyStep);
}

Outcome measure(Context& context) {
    Outcome outcome;
    Study(context, outcome).run();
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment outstanding_experiment() {
    return {.id = "outstanding",
            .title = "outstanding loads of an SM and of a warp: design and size of what tracks them",
            .source = "Lashgar 2015, 3 and 5",
            .needs = {},
            .after = {"caches"},
            .provides = {"issue.scoreboard_loads", "issue.scoreboard_at_least", "caches.*.outstanding_at_least", "paths.*.outstanding_at_least", "caches.*.outstanding_design", "caches.*.outstanding_entries", "caches.*.outstanding_merge",
                         "paths.*.outstanding_design", "paths.*.outstanding_entries", "paths.*.outstanding_merge"},
            .run = run};
}

}  // namespace gputomo::experiments
