// How occupancy varies over a launch: schedulers with unequal numbers of warps, block sizes, persistent threads and
// oversubscription.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/mix/fixed_work_mix.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace occupancy_over_time {
namespace {

/// Instructions of an iteration, besides three of the loop's control.
constexpr int kLoopLength = 120;
/// Cycles that a warp alone takes with a full and with a small budget, and its most loads from memory. Volkov
/// 2016, 5.9, takes a million cycles, or as many loads as an array has. Shorter work leaves more of the time to starts
/// and ends.
constexpr double kCycles = 200'000, kFewCycles = 12'000;
constexpr std::uint32_t kMostLines = 64, kFewLines = 32;
/// Oversubscribed launches have this many times the blocks that SMs hold at once (the thesis: 100, or what its array
/// allows). Streams have fewer, because their lines must lie within 2 GiB.
constexpr int kRounds = 8, kStreamRounds = 4;
/// Share of the time that "nearly always" leaves out.
constexpr double kHardlyEver = 0.05;
/// Most steps of a history in the report.
constexpr std::size_t kMostSteps = 400;

struct Kind {
    std::string_view name;
    MixAccess access;
};
constexpr std::array kKinds{Kind{"sfu", MixAccess::sfu}, Kind{"smem", MixAccess::shared},
                            Kind{"stream", MixAccess::global}};

/// One launch, its occupancy over time and its rate.
struct Run {
    FixedWorkMix::Work work;
    OccupancyHistory history;
    double rate = 0;
};

class OverTime {
public:
    explicit OverTime(Context& context)
        : context_(context),
          most_warps_(max_warps_of(context.device)),
          lines_(context.budget == Budget::full ? kMostLines : kFewLines),
          stream_(context.device, std::int64_t{most_warps_} * kStreamRounds, lines_) {}

    Outcome run() {
        for (const auto& kind : kKinds) {
            context_.progress(static_cast<double>(&kind - kKinds.data()) / kKinds.size(), kind.name);
            add(kind);
        }
        return std::move(outcome_);
    }

private:
    void add(const Kind& kind) try {
        FixedWorkMix mix(context_.device, {.access = kind.access, .alpha = 0, .loop_length = kLoopLength}, stream_);
        add_code_checks(mix.compiled(), outcome_);
        const auto iterations = iterations_of(mix);
        const int most_of_block = mix.compiled().properties().max_threads_per_block / kWarpSize;
        std::vector<BlockShape> one;  // one block, for instructions whose units belong to schedulers
        for (int warps = 1; warps <= std::min(most_of_block, most_warps_) && kind.access != MixAccess::global; ++warps)
            one.push_back({1, warps});
        if (!one.empty()) add_trace(kind, "one_block", 1, measured(mix, one, 1, iterations));
        for (const int rounds : {1, mix.shape().reads_lines() ? kStreamRounds : kRounds}) {
            const std::string setup = rounds == 1 ? "persistent" : "oversubscribed";
            add_trace(kind, setup, rounds, measured(mix, full_shapes(most_of_block), rounds, iterations));
            if (kind.access == MixAccess::shared)
                add_trace(kind, "two_blocks_" + setup, rounds,
                          measured(mix, two_blocks(most_of_block), rounds, iterations));
            add_history(kind, setup, mix.run({two_blocks(most_of_block).back(), rounds, iterations}));
        }
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
    }

    [[nodiscard]] std::uint32_t iterations_of(FixedWorkMix& mix) const {
        if (mix.shape().reads_lines())
            return static_cast<std::uint32_t>(std::max<std::int64_t>(1, lines_ / std::max(1, mix.shape().lines())));
        return mix.iterations_for(context_.budget == Budget::full ? kCycles : kFewCycles);
    }

    /// All warps that fit, in blocks of each power of two of warps.
    [[nodiscard]] std::vector<BlockShape> full_shapes(int most_of_block) const {
        const auto most_blocks =
            static_cast<int>(context_.device.attribute(device::Attribute::max_blocks_per_multiprocessor).value_or(8));
        std::vector<BlockShape> shapes;
        for (int warps = 1; warps <= most_of_block; warps *= 2)
            if (most_warps_ % warps == 0 && most_warps_ / warps <= most_blocks)
                shapes.push_back({most_warps_ / warps, warps});
        return shapes;
    }
    /// Two blocks, which together are half to all of the warps that fit.
    [[nodiscard]] std::vector<BlockShape> two_blocks(int most_of_block) const {
        const int most = std::min(most_warps_ / 2, most_of_block), step = std::max(1, most_warps_ / 12);
        std::vector<BlockShape> shapes;
        for (int warps = most; 2 * warps >= most; warps -= step) shapes.insert(shapes.begin(), {2, warps});
        return shapes;
    }

    [[nodiscard]] static std::vector<Run> measured(FixedWorkMix& mix, const std::vector<BlockShape>& shapes, int rounds,
                                                   std::uint32_t iterations) {
        std::vector<Run> runs;
        for (const auto& shape : shapes) {
            const FixedWorkMix::Work work{shape, rounds, iterations};
            auto history = history_of(mix.run(work));
            const double rate = mix.rate(work, history);
            runs.push_back({work, std::move(history), rate});
        }
        return runs;
    }

    void add_trace(const Kind& kind, std::string_view setup, int rounds, const std::vector<Run>& runs) {
        results::Trace trace{.name = fmt::format("occupancy_over_time/{}_{}", kind.name, setup),
                             .experiment = "occupancy_over_time"};
        trace.columns = {
            {"warps", "of a block", {}}, {"blocks", "of an SM", {}},     {"attained", "warps", {}},
            {"mean", "warps", {}},       {"nearly_always", "warps", {}}, {"in_the_middle", "warps", {}},
            {"tail", "share", {}},       {"ended_early", "share", {}},   {"rate", "instructions/cycle", {}}};
        for (const auto& [work, history, rate] : runs) {
            trace.add_row(work.blocks.warps, work.blocks.per_sm, history.attained, history.mean,
                          all_but(history.shares, kHardlyEver), all_but(history.middle, kHardlyEver), history.tail,
                          history.ended_early, rate);
        }
        trace.plot = {fmt::format("Warps of an SM ({}{})", setup,
                                  rounds == 1 ? "" : fmt::format(", {} times as many blocks as fit", rounds)),
                      "warps",
                      {"mean", "nearly_always"},
                      false,
                      false};
        outcome_.traces.push_back(std::move(trace));
    }

    /// Adds the occupancy of one SM over the share of the time that has passed.
    void add_history(const Kind& kind, std::string_view setup, const std::vector<WarpLifetime>& warps) {
        const auto steps = steps_of(warps, warps.front().sm);
        results::Trace trace{.name = fmt::format("occupancy_over_time/{}_{}_history", kind.name, setup),
                             .experiment = "occupancy_over_time"};
        trace.columns = {{"time", "share", {}}, {"warps", "count", {}}};
        const std::size_t every = std::max<std::size_t>(1, steps.size() / kMostSteps);
        for (std::size_t i = 0; i < steps.size(); i += every)
            trace.add_row(steps[i].cycles / steps.back().cycles, steps[i].warps);
        trace.plot = {
            fmt::format("Warps of one SM, two blocks at a time ({})", setup), "time", {"warps"}, false, false};
        outcome_.traces.push_back(std::move(trace));
    }

    Context& context_;
    int most_warps_;
    std::int64_t lines_;
    LinkedArray stream_;
    Outcome outcome_;
};

Outcome measure(Context& context) { return OverTime(context).run(); }
Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace occupancy_over_time

Experiment occupancy_over_time_experiment() {
    return {
        .id = "occupancy_over_time",
        .title =
            "number of resident warps over a launch: with unequal schedulers, by block size, with persistent threads, "
            "and with more blocks than fit",
        .source = "Volkov 2016, 5.6, 5.8 and 5.9",
        .method = "occupancy-and-models",
        .explanation =
            "Warps that each do the same work are launched in one block of more and more warps. Then blocks of each "
            "size are launched: all that fit, and then eight times that number. Each warp records when it began and "
            "ended, "
            "which gives the number of resident warps of an SM at any time.",
        .needs = {},
        .after = {"clock"},
        .provides = {},
        .run = occupancy_over_time::run,
        .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
