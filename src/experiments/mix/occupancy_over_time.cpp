// What a launch's occupancy does between its first warp and its last: schedulers with unequal numbers of warps, block sizes, persistent threads and oversubscription.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/device_facts.hpp"
#include "experiments/mix/lifetimes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace {

/// Instructions of a turn, beside three of the loop's.
constexpr int kTurnOfLoop = 120;
/// A warp alone takes so many cycles, but not more loads from memory than this (Volkov 2016, 5.9: a million, or what an array has); simulated ones take fewer.
constexpr double kCycles = 200'000, kSimulatedCycles = 12'000;
constexpr std::uint32_t kMostLines = 256, kSimulatedLines = 32;
/// Times as many blocks as SMs hold at once, where they are oversubscribed (the thesis: 100).
constexpr int kRounds = 8;
/// The part of the time in which SMs may have fewer warps than what is said of nearly all of it.
constexpr double kHardlyEver = 0.05;
/// Steps of a history that is drawn.
constexpr std::size_t kMostSteps = 400;

struct Kind {
    std::string_view name;
    MixAccess access;
};
constexpr std::array kKinds{Kind{"sfu", MixAccess::sfu}, Kind{"smem", MixAccess::shared}, Kind{"stream", MixAccess::global}};

/// One launch, its shape and what came of it.
struct Run {
    Lifetimes::Work work;
    OccupancyHistory history;
    double rate = 0;
};

class OverTime {
public:
    explicit OverTime(Context& context)
        : context_(context),
          most_warps_(max_warps_of(context.device)),
          lines_(context.device.simulated() ? kSimulatedLines : kMostLines),
          stream_(context.device, std::int64_t{most_warps_} * kRounds, lines_) {}

    Outcome run() {
        for (const auto& kind : kKinds) {
            context_.progress(static_cast<double>(&kind - kKinds.data()) / kKinds.size(), kind.name);
            add(kind);
        }
        return std::move(outcome_);
    }

private:
    void add(const Kind& kind) try {
        Lifetimes lives(context_.device, {.access = kind.access, .alpha = 0, .turn = kTurnOfLoop}, stream_);
        add_code_checks(lives.compiled(), outcome_);
        const auto turns = turns_of(lives);
        const int most_of_block = lives.compiled().properties().max_threads_per_block / 32;
        std::vector<Run> blocks, sizes;
        for (int warps = 1; warps <= std::min(most_of_block, most_warps_); ++warps) blocks.push_back(measured(lives, {{1, warps}, 1, turns}));
        for (const auto& shape : full_shapes(most_of_block))
            for (const int rounds : {1, kRounds}) {
                const Lifetimes::Work work{shape, rounds, turns};
                const auto warps = lives.run(work);
                sizes.push_back(run_of(lives, work, warps));
                if (shape.per_sm == 2) add_history(kind, work, warps);
            }
        add_trace(fmt::format("occupancy_over_time/{}_one_block", kind.name), "one block on each SM: schedulers with unequal numbers of warps", blocks,
                  "warps");
        add_trace(fmt::format("occupancy_over_time/{}_full", kind.name), "all warps that fit, in blocks of each size", sizes, "warps");
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
    }

    [[nodiscard]] std::uint32_t turns_of(Lifetimes& lives) const {
        if (lives.shape().reads_lines()) return static_cast<std::uint32_t>(std::max<std::int64_t>(1, lines_ / lives.shape().lines()));
        return lives.turns_for(context_.device.simulated() ? kSimulatedCycles : kCycles);
    }

    /// Blocks of each power of two of warps, and two of half of all.
    [[nodiscard]] std::vector<BlockShape> full_shapes(int most_of_block) const {
        const auto most_blocks = static_cast<int>(context_.device.attribute(device::Attribute::max_blocks_per_multiprocessor).value_or(8));
        std::vector<BlockShape> shapes;
        for (int warps = 1; warps <= most_of_block; warps *= 2)
            if (most_warps_ % warps == 0 && most_warps_ / warps <= most_blocks) shapes.push_back({most_warps_ / warps, warps});
        const int half = most_warps_ / 2;
        if (half <= most_of_block && (shapes.empty() || shapes.back().warps != half)) shapes.push_back({2, half});
        return shapes;
    }

    [[nodiscard]] static Run run_of(const Lifetimes& lives, const Lifetimes::Work& work, const std::vector<Lifetime>& warps) {
        auto history = history_of(warps);
        const double rate = lives.rate(work, history);
        return {work, std::move(history), rate};
    }
    [[nodiscard]] static Run measured(Lifetimes& lives, const Lifetimes::Work& work) { return run_of(lives, work, lives.run(work)); }

    void add_trace(std::string name, std::string title, const std::vector<Run>& runs, std::string x) {
        deduce::Trace trace{.name = std::move(name), .experiment = "occupancy_over_time"};
        trace.columns = {{"warps", "of a block", {}}, {"blocks", "of an SM", {}},     {"rounds", "count", {}},           {"attained", "warps", {}},
                         {"mean", "warps", {}},       {"nearly_always", "warps", {}}, {"rate", "instructions/cycle", {}}};
        for (const auto& [work, history, rate] : runs) {
            const double row[] = {static_cast<double>(work.blocks.warps),
                                  static_cast<double>(work.blocks.per_sm),
                                  static_cast<double>(work.rounds),
                                  static_cast<double>(history.attained),
                                  history.mean,
                                  static_cast<double>(history.all_but(kHardlyEver)),
                                  rate};
            for (std::size_t i = 0; i < trace.columns.size(); ++i) trace.columns[i].values.push_back(row[i]);
        }
        trace.plot = {std::move(title), std::move(x), {"mean", "nearly_always"}, false, false};
        outcome_.traces.push_back(std::move(trace));
    }

    /// Of SM 0, as parts of the time that it took.
    void add_history(const Kind& kind, const Lifetimes::Work& work, const std::vector<Lifetime>& warps) {
        const auto steps = steps_of(warps, warps.front().sm);
        deduce::Trace trace{.name = fmt::format("occupancy_over_time/{}_{}", kind.name, work.rounds == 1 ? "persistent" : "oversubscribed"),
                            .experiment = "occupancy_over_time"};
        trace.columns = {{"time", "share", {}}, {"warps", "count", {}}};
        const std::size_t every = std::max<std::size_t>(1, steps.size() / kMostSteps);
        for (std::size_t i = 0; i < steps.size(); i += every) {
            trace.columns[0].values.push_back(steps[i].cycles / steps.back().cycles);
            trace.columns[1].values.push_back(steps[i].warps);
        }
        trace.plot = {"Warps of one SM, two blocks at a time", "time", {"warps"}, false, false};
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

Experiment occupancy_over_time_experiment() {
    return {.id = "occupancy_over_time",
            .title = "how occupancy varies over a launch: unequal schedulers, block sizes, persistent threads and oversubscription",
            .source = "Volkov 2016, 5.6, 5.8 and 5.9",
            .needs = {},
            .after = {"clock"},
            .provides = {},
            .run = run,
            .part_of_scan = PartOfScan::on_hardware};
}

}  // namespace gputomo::experiments
