// How many requests for one line an entry of the table takes in.
#include "deduce/series/change_point.hpp"
#include "experiments/outstanding/table.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace gputomo::experiments::outstanding {
namespace {

/// One thread of a warp loads: one request on every GPU, also on those that coalesce half-warps (Volkov 2016, 2.5).
constexpr int kOneThread = 1;
/// Bytes from one load of a thread to its next: another word of the same line.
constexpr std::uint32_t kNextWord = 4;

/// Launches of more and more warps whose loads all ask for one line.
results::Trace requests_for_one_line(Setup& setup, int loads) {
    results::Trace trace{.name = fmt::format("outstanding/merging_x{}", loads), .experiment = "outstanding"};
    trace.columns = {{"requests", "count", {}}, {"complete", "cycles", {}}};
    trace.plot = {"Requests of several warps for one line", "requests", {"complete"}, false, false};
    for (int warps = 1; warps <= kLargestBlock / kWarpSize; ++warps) {
        const auto point =
            setup.cached.measure({.count = loads, .step = kNextWord},
                                 {.share = kWarpSize, .lanes = kOneThread, .one_line = true}, warps * kWarpSize);
        if (!point) break;
        trace.add_row(warps * loads, point->complete);
    }
    return trace;
}

}  // namespace

/// While the entry of the line takes requests in, all get their data together. The first that it refuses gets its data
/// later (Lashgar 2015, 2.1). Two loads of different words of the line are two requests.
void find_merging(Setup& setup) {
    std::optional<deduce::Step> step;
    for (const int loads : {1, 2}) {
        auto trace = requests_for_one_line(setup, loads);
        step = deduce::first_jump(trace.columns[0].values, trace.columns[1].values);
        setup.outcome.traces.push_back(std::move(trace));
        if (step && step->significant) break;
    }
    const auto path = setup.path("outstanding_merge");
    const std::string method = "outstanding: requests of up to 32 warps for one line, all in flight at once";
    if (step && step->significant) {
        auto merge = decided(path, static_cast<std::int64_t>(step->last_before),
                             {fmt::format("{}; latency steps up by {:.0f} cycles after {} requests", method,
                                          step->height, step->last_before),
                              kConfidence});
        merge.interval = {step->last_before, step->first_after - 1};
        setup.outcome.estimates.push_back(std::move(merge));
        return;
    }
    // A refused request gets its data from the SM's cache or, without one, from as far away as the first request.
    // Issuing the requests of `kLargestBlock / kWarpSize` warps may take longer than that and hide it.
    const auto& cycles = setup.outcome.traces.back().columns[1].values;
    const double cost = setup.place == "paths.global" ? setup.far_hit : setup.overhead,
                 spread = cycles.empty() ? 0 : cycles.back() - cycles.front();
    if (spread < cost)
        setup.outcome.estimates.push_back(absent(path, {method, kConfidence, "latency shows no limit"}));
    else
        setup.outcome.estimates.push_back(
            undecided(path, {},
                      {method, kConfidence,
                       fmt::format("a refused request would cost some {:.0f} cycles, which the {:.0f} cycles between "
                                   "the first warp and the last would hide",
                                   cost, spread)}));
}

}  // namespace gputomo::experiments::outstanding
