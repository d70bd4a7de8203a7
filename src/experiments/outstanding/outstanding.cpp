// How an SM keeps track of the loads that it has under way: thread-latency surfaces, explained by queueing
// descriptions.
#include "experiments/experiments.hpp"

#include "deduce/in_flight/outstanding_bound.hpp"
#include "deduce/in_flight/outstanding_fit.hpp"
#include "deduce/in_flight/outstanding_steps.hpp"
#include "deduce/series/change_point.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/outstanding/surface.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

namespace gputomo::experiments {
namespace {

using deduce::OutstandingFit;
using deduce::OutstandingLaunch;
using deduce::OutstandingPoint;
using deduce::OutstandingUnit;

constexpr double kConfidence = 0.95;
/// Loads of a warp that a limit is looked for up to; GPUs of compute capability 2.0 to 3.1 have registers for fewer.
constexpr int kMostLoads = 64, kMostLoadsOf63Registers = 40;
/// A description with a limit must explain the data this much better than one without, or there is none.
constexpr double kMuchBetter = 0.8, kBetter = 0.93;
/// Requests of one launch of the surface; more cost time and tell no more than how fast the memory is.
constexpr int kMostRequests = 1280;
/// Of a launch that reads from memory: what is under way there shows in smaller ones.
constexpr int kMostFromMemory = 2048;
/// Threads on either side of where a description saturates that are then measured one by one, or two by two.
constexpr int kAround = 8;
/// A description's number of entries is this near to where single threads show the step.
constexpr double kWithin = 0.06;
constexpr int kMostThreads = 1024;
/// Points on either side of a predicted step, and numbers of loads of a thread that each pattern is tried with.
constexpr int kStepsAround = 5, kLoadsOfPattern = 4;
/// A step is where it was predicted if the prediction is that near to it.
constexpr double kPredicted = 0.03;
/// A table is believed of which so many predictions, and such a share of them, come true, and the other design's a much
/// smaller share.
constexpr int kFewestRight = 3;
constexpr double kMostlyRight = 0.6, kOftenRight = 0.35, kMuchLess = 0.6, kLess = 0.75;
/// Descriptions whose errors differ by less than this factor explain the data equally well.
constexpr double kAlike = 1.05;
/// One thread's load is one request, however few threads are coalesced together (half-warps: Volkov 2016, 2.5).
constexpr int kOneThread = 1;
/// Two warps that share what one fills have as many under way together as one alone; more, by this factor, is another
/// limit than that of one.
constexpr double kSharedLimit = 1.2;
/// A load that is this much faster than past the SM's own caches hits in one of them.
constexpr double kNear = 0.9;

/// A plot of the paper: its pattern and loads of a thread.
struct PaperPlot {
    const char* name;
    int share;
    int loads;
};
constexpr PaperPlot kPaperPlots[] = {{"unique_x1", 1, 1},    {"unique_x2", 1, 2},   {"unique_x3", 1, 3},
                                     {"merger2_x1", 2, 1},   {"merger4_x2", 4, 2},  {"merger8_x4", 8, 4},
                                     {"merger16_x4", 16, 4}, {"merger32_x4", 32, 4}};

std::int64_t count_of(const results::Estimate& count) { return std::get<std::int64_t>(count.value); }

int most_loads(const device::Device& device) {
    const auto target = device.ptx_target();
    return target.sm >= 20 && target.sm < 32 ? kMostLoadsOf63Registers : kMostLoads;
}

/// A table, and how many of the steps that it predicts came true.
struct Prediction {
    OutstandingUnit unit = OutstandingUnit::none;
    int entries = 0;
    int tried = 0;
    int right = 0;
    int least = 1, most = std::numeric_limits<int>::max();  ///< entries that explain all the steps that came true
    [[nodiscard]] double share() const { return tried == 0 ? 0 : static_cast<double>(right) / tried; }
};

/// Launches of loads from one place, and the cycles that a load from there takes at least, without what measuring
/// takes.
struct Seen {
    std::vector<OutstandingPoint> points;
    double latency = 0;
};

class Study {
public:
    Study(Context& context, Outcome& outcome)
        : context_(context),
          outcome_(outcome),
          surface_(context.device, largest_cache(context), false, outcome),
          most_loads_(most_loads(context.device)) {}

    void run() {
        find_place();
        context_.progress(0.05, "loads of one warp");
        find_warp_limit();
        sweep();
        report(deduce::fit_outstanding(points_, warp_loads_));
        if (!context_.quick) plot_paper();
        plot_other_accesses();
    }

private:
    std::vector<OutstandingPoint> loads_of(int warps, InFlightSurface& surface, std::string_view from);
    void find_warp_limit();
    [[nodiscard]] results::Estimate at_least(std::string leaf, std::span<const Seen> seen, OutstandingUnit unit,
                                             const char* what) const;
    [[nodiscard]] Seen seen_of(std::vector<OutstandingPoint> points, double lone) const;
    Seen launches_from_memory();
    InFlightSurface& memory();
    void find_place();
    void sweep();
    void sweep_curve(int loads, const InFlightPattern& pattern, int most_warps);
    void report(const std::vector<OutstandingFit>& fits);
    [[nodiscard]] results::Trace thread_latency() const;
    void report_table(const std::vector<OutstandingFit>& fits);
    void leave_open(std::vector<results::Value> candidates, Evidence evidence, const char* reason);
    std::optional<deduce::Step> exact_lines(int about);
    [[nodiscard]] Prediction predict(OutstandingUnit unit, int entries);
    void try_step(Prediction& prediction, int loads, const InFlightPattern& pattern);
    [[nodiscard]] std::vector<Prediction> predictions(const std::vector<OutstandingFit>& fits);
    void find_merging();
    void plot_paper();
    void plot_other_accesses();
    void plot(const std::string& name, InFlightShape shape, const InFlightPattern& pattern, int step);
    bool add_point(int loads, const InFlightPattern& pattern, int threads);
    [[nodiscard]] std::string path(std::string_view leaf) const { return fmt::format("{}.{}", place_, leaf); }

    Context& context_;
    Outcome& outcome_;
    InFlightSurface surface_;
    std::unique_ptr<InFlightSurface> memory_;  ///< of lines that no cache holds
    std::vector<OutstandingPoint> points_;
    std::string place_;
    double far_ = 0;   ///< cycles of a load that hits past the SM's own caches
    double near_ = 0;  ///< of those, what the measurement itself and the SM's cache take at most
    int most_loads_;
    int warp_loads_ = 0;  ///< 0: no limit
};

/// Blocks of this many warps, each with 1 to `most_loads_` loads of a line of its own under way.
std::vector<OutstandingPoint> Study::loads_of(int warps, InFlightSurface& surface, std::string_view from) {
    std::vector<OutstandingPoint> points;
    results::Trace trace{.name = fmt::format("outstanding/{}loads_of_{}_warps", from, warps),
                         .experiment = "outstanding"};
    trace.columns = {{"loads", "count", {}}, {"complete", "cycles", {}}};
    trace.plot = {
        fmt::format("Loads of each of {} warps, each of one line", warps), "loads", {"complete"}, false, false};
    for (int loads = 1; loads <= most_loads_; ++loads) {
        const auto point = surface.measure({.count = loads}, {.share = kWarpSize}, warps * kWarpSize);
        if (!point) break;
        points.push_back(
            {{.threads = warps * kWarpSize, .loads = loads, .threads_per_line = kWarpSize}, point->complete});
        trace.columns[0].values.push_back(loads);
        trace.columns[1].values.push_back(point->complete);
    }
    outcome_.traces.push_back(std::move(trace));
    return points;
}

/// What was under way at once is that much more than a limit that explains the times all the same: the limit is not
/// why.
constexpr double kSurelyMore = 1.5;

deduce::WarpLoadsFit limit_of(std::span<const OutstandingPoint> points) {
    auto fit = deduce::fit_warp_loads(points);
    if (fit.error >= kMuchBetter * fit.error_without) fit.limit = 0;
    return fit;
}

/// No load is faster than the fastest of all these, less what measuring takes.
Seen Study::seen_of(std::vector<OutstandingPoint> points, double lone) const {
    for (const auto& point : points) lone = std::min(lone, point.cycles);
    return {std::move(points), lone - near_};
}

InFlightSurface& Study::memory() {
    if (!memory_) memory_ = std::make_unique<InFlightSurface>(context_.device, largest_cache(context_), true, outcome_);
    return *memory_;
}

/// Loads from memory take longer, so that more of them are issued before the first comes back: of one line each, and of
/// a line for each thread.
Seen Study::launches_from_memory() {
    std::vector<OutstandingPoint> points;
    double lone = std::numeric_limits<double>::infinity();
    for (const int share : {kWarpSize, 1})
        for (const int loads : {1, 8, 16, 32, 48})
            for (int warps = 1; warps <= kWarpSize; warps += warps < 4 ? 1 : 4) {
                const OutstandingLaunch launch{.threads = warps * kWarpSize, .loads = loads, .threads_per_line = share};
                if (loads > most_loads_ || deduce::units_of(launch, OutstandingUnit::lines) > kMostFromMemory) break;
                const auto point = memory().measure({.count = loads}, {.share = share}, launch.threads);
                if (!point) break;
                if (launch.loads == 1) lone = std::min(lone, point->complete);
                points.push_back({launch, point->complete});
            }
    return seen_of(std::move(points), lone);
}

/// Where no limit was met: what was surely under way at once, by the place that shows most.
results::Estimate Study::at_least(std::string leaf, std::span<const Seen> seen, OutstandingUnit unit,
                                  const char* what) const {
    deduce::OutstandingBound best;
    double latency = 0;
    for (const auto& [points, of_these] : seen) {
        const auto bound = deduce::outstanding_bound(points, unit, of_these);
        if (bound.proven > best.proven) latency = of_these;
        best = {std::max(best.proven, bound.proven), std::max(best.by_rate, bound.by_rate)};
    }
    auto estimate = decided(
        std::move(leaf), std::int64_t{best.proven},
        {fmt::format("outstanding: the most {} of a launch over the latencies ({:.0f} cycles) that fit into its time",
                     what, latency),
         kConfidence,
         fmt::format("by the rate at which more of them take longer, times the latency: {:.0f}", best.by_rate)});
    estimate.interval = {static_cast<double>(best.proven), std::max(static_cast<double>(best.proven), best.by_rate)};
    return estimate;
}

/// A limit of each warp is the same for two warps as for one; one of the SM is shared by both.
void Study::find_warp_limit() {
    const auto points = loads_of(1, surface_, "");
    const auto alone = limit_of(points);
    const std::string method = fmt::format(
        "outstanding: one warp, and two, with 1 to {} loads under way; a description with a limit explains the "
        "latencies to {:.2g}%, one without to {:.2g}%",
        alone.most, 100 * alone.error, 100 * alone.error_without);
    const std::vector cached{seen_of(points, far_)};
    auto bound = at_least("issue.scoreboard_at_least", cached, OutstandingUnit::instructions, "loads");
    // Nothing has more under way than its limit, but a load may hold its place for less than its whole latency.
    if (alone.limit == 0 || static_cast<double>(count_of(bound)) > kSurelyMore * alone.limit) {
        outcome_.estimates.push_back(
            undecided("issue.scoreboard_loads", {},
                      {method, kConfidence,
                       fmt::format("no limit up to {} loads, of which at least {} were under way at once", alone.most,
                                   count_of(bound))}));
        const std::vector both{cached.front(),
                               seen_of(loads_of(1, memory(), "memory_"), std::numeric_limits<double>::infinity())};
        outcome_.estimates.push_back(
            at_least("issue.scoreboard_at_least", both, OutstandingUnit::instructions, "loads"));
        return;
    }
    const auto both = limit_of(loads_of(2, surface_, ""));
    if (both.limit > 0 && 2 * both.limit < kSharedLimit * alone.limit) {
        outcome_.estimates.push_back(undecided(
            "issue.scoreboard_loads", {},
            {method, kConfidence,
             fmt::format("{} loads of one warp fill what two warps share, {} each", alone.limit, both.limit)}));
        outcome_.estimates.push_back(decided("issue.scoreboard_at_least", std::int64_t{alone.limit},
                                             {method, kConfidence, "no more fit into what the SM has for all warps"}));
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
    near_ = cached ? near : std::max(surface_.of_nothing(), (1 - kNear) * far);
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
    if (pattern.share < kWarpSize && pattern.lanes == kWarpSize)
        for (const int threads : {2, 4, 8, 16, 24}) add_point(loads, pattern, threads);
    for (int warps = 1; warps <= most_warps; ++warps)
        if (!add_point(loads, pattern, warps * kWarpSize)) return;
}

void Study::sweep() {
    constexpr int kWarps = 32;
    int done = 0;
    for (const int loads : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32}) {
        context_.progress(0.1 + 0.04 * done++, fmt::format("{} loads a thread", loads));
        sweep_curve(loads, {.share = kWarpSize}, kWarps);
        if (loads > 8) continue;
        sweep_curve(loads, {.share = 8}, kWarps);
        if (loads > 4) continue;
        sweep_curve(loads, {.share = 1, .lanes = 8}, kWarps);
        for (const int share : {1, 2, 4}) sweep_curve(loads, {.share = share}, loads > 2 ? kWarps / 2 : kWarps);
        sweep_curve(loads, {.share = 4, .sectors = 4}, kWarps);
    }
}

void Study::report(const std::vector<OutstandingFit>& fits) {
    results::Trace trace{.name = "outstanding/descriptions", .experiment = "outstanding"};
    trace.columns = {{"unit", "0 none, 1 threads, 2 sectors, 3 lines, 4 instructions", {}},
                     {"entries", "count", {}},
                     {"error", "share of latency", {}},
                     {"latency", "cycles", {}},
                     {"spacing", "cycles", {}},
                     {"issue", "cycles", {}},
                     {"gap", "cycles", {}},
                     {"service", "cycles", {}}};
    for (const auto& fit : fits) {
        const auto& model = fit.model;
        const double row[] = {static_cast<double>(model.unit),
                              static_cast<double>(model.entries),
                              fit.error,
                              model.latency,
                              model.spacing,
                              model.issue,
                              model.gap,
                              model.service};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
    }
    outcome_.traces.push_back(std::move(trace));
    results::Trace surface{.name = "outstanding/surface", .experiment = "outstanding"};
    surface.columns = {{"loads", "count", {}},     {"share", "threads", {}}, {"sectors", "count", {}},
                       {"lanes", "threads", {}},   {"threads", "count", {}}, {"complete", "cycles", {}},
                       {"described", "cycles", {}}};
    surface.plot = {.title = "What the best description says of each launch against what was measured",
                    .x = "complete",
                    .y = {"described"},
                    .split = "loads"};
    for (const auto& [launch, cycles] : points_) {
        const double row[] = {static_cast<double>(launch.loads),
                              static_cast<double>(launch.threads_per_line),
                              static_cast<double>(launch.sectors_per_line),
                              static_cast<double>(launch.active_lanes),
                              static_cast<double>(launch.threads),
                              cycles,
                              fits.front().model.predict(launch)};
        for (std::size_t i = 0; i < std::size(row); ++i) surface.columns[i].values.push_back(row[i]);
    }
    outcome_.traces.push_back(std::move(surface));
    outcome_.traces.push_back(thread_latency());
    report_table(fits);
}

/// Launches of whole warps whose threads each load lines of their own (Lashgar 2015, 3.1), with any number of loads a
/// thread.
results::Trace Study::thread_latency() const {
    results::Trace trace{.name = "outstanding/thread_latency", .experiment = "outstanding"};
    trace.columns = {{"threads", "count", {}}, {"loads", "count", {}}, {"latency", "cycles", {}}};
    trace.plot = {.title =
                      "Thread-latency surface: cycles until all loads are there, each of a line of its own, by threads "
                      "and loads of a thread",
                  .x = "threads",
                  .y = {"latency"},
                  .split = "loads"};
    for (const auto& [launch, cycles] : points_) {
        if (launch.threads_per_line != 1 || launch.sectors_per_line != 1 || launch.active_lanes != kWarpSize) continue;
        const double row[] = {static_cast<double>(launch.threads), static_cast<double>(launch.loads), cycles};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
    }
    return trace;
}

std::string in_words(const std::vector<OutstandingFit>& fits) {
    std::vector<std::string> parts;
    for (const auto& fit : fits)
        parts.push_back(
            fit.model.unit == OutstandingUnit::none
                ? fmt::format("no table {:.2g}%", 100 * fit.error)
                : fmt::format("{} {} {:.2g}%", fit.model.entries, deduce::name_of(fit.model.unit), 100 * fit.error));
    return fmt::format("{}", fmt::join(parts, ", "));
}

void Study::leave_open(std::vector<results::Value> candidates, Evidence evidence, const char* reason) {
    const std::vector seen{seen_of(points_, far_), launches_from_memory()};
    auto lines = at_least(path("outstanding_at_least"), seen, OutstandingUnit::lines, "lines");
    const auto instructions = at_least({}, seen, OutstandingUnit::instructions, "instructions");
    evidence.note = fmt::format("{}: at least {} lines, or {} instructions, were under way at once", reason,
                                count_of(lines), count_of(instructions));
    outcome_.estimates.push_back(undecided(path("outstanding_design"), std::move(candidates), evidence));
    outcome_.estimates.push_back(std::move(lines));
}

/// Launches around the step that the table predicts for loads of this pattern.
void Study::try_step(Prediction& prediction, int loads, const InFlightPattern& pattern) {
    const auto units = [&](int threads) {
        return deduce::units_of({threads, loads, pattern.share, pattern.sectors, pattern.lanes}, prediction.unit);
    };
    int full = 1;
    while (full < kMostThreads && units(full) < prediction.entries) ++full;
    const bool whole = prediction.unit == OutstandingUnit::instructions || pattern.lanes < kWarpSize;
    const int step =
        whole ? kWarpSize : pattern.share * std::max(1, static_cast<int>(kPredicted / 2 * full / pattern.share));
    if (whole) full = full / kWarpSize * kWarpSize;
    std::vector<double> counts, cycles;
    for (int i = -kStepsAround; i <= kStepsAround; ++i) {
        const int threads = full + i * step;
        if (threads < 1 || threads > kMostThreads) continue;
        const auto point = surface_.measure({.count = loads}, pattern, threads);
        if (!point) break;
        counts.push_back(units(threads));
        cycles.push_back(point->complete);
    }
    // A step needs some points on either side.
    constexpr std::size_t kFewestPoints = 6;
    if (counts.size() < kFewestPoints || counts.back() < prediction.entries * (1 + kPredicted)) return;
    ++prediction.tried;
    const auto found = deduce::first_step(counts, cycles);
    if (!found || prediction.entries < (1 - kPredicted) * found->last_before ||
        prediction.entries >= (1 + kPredicted) * found->first_after)
        return;
    ++prediction.right;
    const int least = std::max(prediction.least, static_cast<int>(found->last_before)),
              most = std::min(prediction.most, static_cast<int>(found->first_after) - 1);
    if (least <= most) prediction.least = least, prediction.most = most;
}

/// Patterns in which the other units of a table would fill elsewhere.
Prediction Study::predict(OutstandingUnit unit, int entries) {
    const InFlightPattern of_lines[] = {{.share = 1}, {.share = 2}, {.share = 4}, {.share = 4, .sectors = 4}};
    const InFlightPattern of_instructions[] = {
        {.share = kWarpSize}, {.share = kWarpSize, .lanes = 8}, {.share = 8}, {.share = 4, .sectors = 4}};
    Prediction prediction{.unit = unit, .entries = entries};
    for (const auto& pattern : unit == OutstandingUnit::lines ? of_lines : of_instructions) {
        const int of_warp = deduce::units_of({kWarpSize, 1, pattern.share, pattern.sectors, pattern.lanes}, unit);
        const int most = std::min(warp_loads_ > 0 ? warp_loads_ : most_loads_ / 2, std::max(1, entries / of_warp));
        const int least =
            std::max(1, entries / (of_warp * (kWarpSize - 2)) + (entries > of_warp * (kWarpSize - 2) ? 1 : 0));
        const int apart = std::max(1, (most - least) / (kLoadsOfPattern - 1));
        for (int loads = least, done = 0; loads <= most && done < kLoadsOfPattern; loads += apart, ++done)
            try_step(prediction, loads, pattern);
    }
    return prediction;
}

/// Of both designs, with the entries that first steps and descriptions speak for; the best of each, the better one
/// first.
std::vector<Prediction> Study::predictions(const std::vector<OutstandingFit>& fits) {
    std::vector<Prediction> best;
    const auto votes = deduce::step_votes(points_);
    for (const auto unit : {OutstandingUnit::lines, OutstandingUnit::instructions}) {
        const auto voted = std::ranges::find(votes, unit, &deduce::StepVotes::unit);
        const auto fit = std::ranges::find(fits, unit, [](const OutstandingFit& f) { return f.model.unit; });
        const int by_steps = (voted->least_entries + voted->most_entries) / 2, by_fit = fit->model.entries;
        auto prediction = predict(unit, by_steps);
        if (std::abs(by_fit - by_steps) > kWithin * by_steps)
            prediction = std::ranges::max(std::vector{prediction, predict(unit, by_fit)}, {}, &Prediction::share);
        best.push_back(prediction);
    }
    std::ranges::stable_sort(best, std::greater{}, &Prediction::share);
    return best;
}

void Study::report_table(const std::vector<OutstandingFit>& fits) {
    const auto tried = predictions(fits);
    const auto& best = tried.front();
    const auto told = [](const Prediction& p) {
        return fmt::format("{} of {} steps that {} {} predict", p.right, p.tried, p.entries, deduce::name_of(p.unit));
    };
    const Evidence evidence{
        fmt::format("outstanding: {} and {} came true; mean error of queueing descriptions of {} launches: {}",
                    told(best), told(tried.back()), points_.size(), in_words(fits)),
        kConfidence};
    const auto none =
        std::ranges::find(fits, OutstandingUnit::none, [](const OutstandingFit& fit) { return fit.model.unit; });
    // Where the issue of many warps hides some of the steps, the whole surface has to say the same.
    const auto fit = std::ranges::find(fits, best.unit, [](const OutstandingFit& f) { return f.model.unit; });
    const bool described = fit->error < kBetter * none->error && fit->error < kAlike * fits.front().error;
    const double share = described ? kOftenRight : kMostlyRight, others = described ? kLess : kMuchLess;
    if (best.right < kFewestRight || best.share() < share || tried.back().share() > others * best.share()) {
        if (fits.front().error > kBetter * none->error)
            return leave_open({}, evidence, "no table fills up within what one block has under way");
        return leave_open({std::string("mshr"), std::string("prt")}, evidence, "no single table explains all launches");
    }
    const bool lines = best.unit == OutstandingUnit::lines;
    outcome_.estimates.push_back(decided(path("outstanding_design"), std::string(lines ? "mshr" : "prt"), evidence));
    auto entries =
        decided(path("outstanding_entries"), std::int64_t{std::clamp(best.entries, best.least, best.most)}, evidence);
    entries.interval = {static_cast<double>(best.least), static_cast<double>(best.most)};
    if (const auto step = lines ? exact_lines(best.entries) : std::nullopt) {
        entries.value = static_cast<std::int64_t>(step->last_before);
        entries.interval = {step->last_before, step->first_after - 1};
        entries.method +=
            fmt::format("; latency steps up by {:.0f} cycles after {} lines", step->height, step->last_before);
    }
    outcome_.estimates.push_back(std::move(entries));
    if (lines) find_merging();
}

/// All warps ask for one line: as long as its entry takes them in, they get their data together; the first that it
/// refuses gets its data later (Lashgar 2015, 2.1). Two loads of different words of the line are two requests.
void Study::find_merging() {
    std::optional<deduce::Step> step;
    for (const int loads : {1, 2}) {
        results::Trace trace{.name = fmt::format("outstanding/merging_x{}", loads), .experiment = "outstanding"};
        trace.columns = {{"requests", "count", {}}, {"complete", "cycles", {}}};
        trace.plot = {"Requests of several warps for one line", "requests", {"complete"}, false, false};
        for (int warps = 1; warps <= kWarpSize; ++warps) {
            const auto point =
                surface_.measure({.count = loads, .step = 4},
                                 {.share = kWarpSize, .lanes = kOneThread, .one_line = true}, warps * kWarpSize);
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
        auto merge = decided(
            path("outstanding_merge"), static_cast<std::int64_t>(step->last_before),
            {fmt::format("{}; latency steps up by {:.0f} cycles after {}", method, step->height, step->last_before),
             kConfidence});
        merge.interval = {step->last_before, step->first_after - 1};
        outcome_.estimates.push_back(std::move(merge));
        return;
    }
    // A refused request gets its data from the SM's cache, or where there is none from as far as the first; what the
    // issue of so many warps takes may be more.
    const auto& cycles = outcome_.traces.back().columns[1].values;
    const double cost = place_ == "paths.global" ? far_ : near_,
                 spread = cycles.empty() ? 0 : cycles.back() - cycles.front();
    if (spread < cost)
        outcome_.estimates.push_back(absent(path("outstanding_merge"), {method, kConfidence, "no limit seen"}));
    else
        outcome_.estimates.push_back(
            undecided(path("outstanding_merge"), {},
                      {method, kConfidence,
                       fmt::format("a refused one would cost some {:.0f} cycles, which the {:.0f} cycles between the "
                                   "first warp and the last would hide",
                                   cost, spread)}));
}

/// The number of lines after which the latency of a lone load of each thread steps up, one by one around the number
/// that the surface asks for; nothing where there is no clear step.
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
    if (step && (!step->significant || std::abs(step->last_before - about) > reach / 2.0)) step.reset();
    return step;
}

void Study::plot(const std::string& name, InFlightShape shape, const InFlightPattern& pattern, int step) {
    results::Trace trace{.name = "outstanding/" + name, .experiment = "outstanding"};
    trace.columns = {
        {"threads", "count", {}}, {"latency", "cycles", {}}, {"variance", "cycles^2", {}}, {"complete", "cycles", {}}};
    trace.plot = {fmt::format("Thread-latency plot: {} {} a thread, {}", shape.count, name_of(shape.access),
                              pattern.shuffled     ? "random lines"
                              : pattern.one_line   ? "the same lines for all"
                              : pattern.share == 1 ? "a line for each"
                                                   : fmt::format("a line for {} threads", pattern.share)),
                  "threads",
                  {"latency", "variance"},
                  false,
                  true};
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

/// The sweeps of the paper: 2 to 1024 threads in steps of 2 (Lashgar 2015, 3.1), no more loads than a warp can have
/// under way (section 4).
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
    // Where hundreds of loads can be under way, what of them is it that holds them up? As many loads, of which each
    // differs in one thing.
    constexpr int kMany = 32, kManyStep = 64;
    plot("many", {.count = kMany}, {.share = kWarpSize}, kManyStep);
    plot("many_far", {.access = InFlightAccess::load_far, .count = kMany}, {.share = kWarpSize}, kManyStep);
    plot("many_of_one_place", {.count = kMany}, {.share = kWarpSize, .one_line = true}, kManyStep);
    plot("many_half_the_lines", {.count = kMany}, {.share = 2 * kWarpSize}, kManyStep);
    plot("many_sectors_of_lines", {.count = kMany, .step = kInFlightLine / 4}, {.share = kWarpSize}, kManyStep);
    plot("many_far_apart", {.count = kMany, .step = 4 * kInFlightLine}, {.share = kWarpSize}, kManyStep);
    const auto shared =
        static_cast<int>(context_.device.attribute(device::Attribute::max_shared_memory_per_block).value_or(0));
    plot("many_with_shared", {.count = kMany}, {.share = kWarpSize, .shared_bytes = shared}, kManyStep);
    plot("many_half_as_often", {.count = kMany / 2}, {.share = kWarpSize}, kManyStep);
}

Outcome measure(Context& context) {
    Outcome outcome;
    Study(context, outcome).run();
    return outcome;
}

/// Of the loads of one warp.
void compile_ahead(const Context& context) {
    auto& device = context.device;
    for (int loads = 1; loads <= most_loads(device); ++loads)
        device.compile_ahead(in_flight_kernel(target_of(device), {.count = loads}).text());
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment outstanding_experiment() {
    return {.id = "outstanding",
            .title = "outstanding loads of an SM and of a warp: design and size of what tracks them",
            .source = "Lashgar 2015, 3 and 5",
            .method = "outstanding-requests",
            .explanation =
                "More and more threads issue loads that miss. The time jumps where the table that tracks "
                "outstanding loads is full. Whether the table counts threads, lines or warp instructions shows its "
                "design.",
            .needs = {},
            .after = {"caches"},
            .provides = {"issue.scoreboard_loads", "issue.scoreboard_at_least", "caches.*.outstanding_at_least",
                         "paths.*.outstanding_at_least", "caches.*.outstanding_design", "caches.*.outstanding_entries",
                         "caches.*.outstanding_merge", "paths.*.outstanding_design", "paths.*.outstanding_entries",
                         "paths.*.outstanding_merge"},
            .run = run,
            .compile_ahead = compile_ahead,
            .compile_after = "arithmetic_latency"};
}

}  // namespace gputomo::experiments
