// Matrix multiply-accumulates (MMA) on the tensor cores: their latency to each other and to an add, their rate, and the
// issue slots that each takes.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/mma_slots.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/mix/mix_arrays.hpp"
#include "measure/mix/mix_throughput.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

namespace gputomo::experiments {
namespace tensor_products {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
constexpr double kWarp = kWarpSize;
/// Largest share of a loop's time that its own instructions may take.
constexpr double kLoop = 0.01;
/// Chains of a warp, enough that no instruction between MMAs only waits, and adds for each MMA, enough that adds are
/// the limit. Both numbers of adds must give the same issue slots.
constexpr int kChains = 4;
constexpr int kAdds[] = {16, 64};
/// Warps of each scheduler that are tried; more of them change little.
constexpr int kWarps[] = {2, 3, 4};

class TensorProducts {
public:
    explicit TensorProducts(Context& context)
        : context_(context),
          schedulers_(static_cast<int>(context.findings.number("issue.schedulers_per_sm").value_or(1))),
          arrays_(context.device) {}

    Outcome run() try {
        const double product = cycles_alone({.access = MixAccess::tensor, .alpha = 0}, 0.1),
                     pair = cycles_alone({.access = MixAccess::tensor, .alpha = 1}, 0.2);
        add_latency("pipelines.tensor.latency", product, "tensor_products: a chain of MMAs by one warp of each SM");
        if (const auto add = context_.findings.number("pipelines.sp.latency"))
            add_latency(
                "pipelines.tensor.forward_latency", deduce::mma_to_add_latency(pair, *add),
                "tensor_products: alternating MMAs and adds by one warp of each SM, less the latency of the add");
        // With more warps some starve, and it is not known when in the window they ran.
        const double rate = most_of({.access = MixAccess::tensor, .alpha = 0, .chains = kChains}, std::array{2}, 0.4);
        outcome_.estimates.push_back(
            decided_real("pipelines.tensor.lanes", {kWarp * rate, kWarp * rate, kWarp * rate * (1 + kLoop)},
                         {"tensor_products: the most MMAs per cycle, with four chains of each warp", kConfidence}));
        add_slots();
        return std::move(outcome_);
    } catch (const CodeMismatch& mismatch) {
        add_mismatch(mismatch, outcome_);
        return std::move(outcome_);
    }

private:
    [[nodiscard]] MixThroughput mix(const MixShape& shape, double progress) {
        context_.progress(progress, shape.name());
        MixThroughput mix(context_.device, shape, arrays_.of(MixAccess::tensor));
        add_code_checks(mix.compiled(), outcome_);
        return mix;
    }
    /// Cycles per instruction with one warp on each SM.
    [[nodiscard]] double cycles_alone(const MixShape& shape, double progress) {
        const auto found = mix(shape, progress).cycles_of_one_warp();
        if (!found)
            throw DeviceError(
                fmt::format("{}: {}: no launch kept one warp on each SM; end other programs on this GPU and run "
                            "again",
                            context_.device.name(), shape.name()));
        return *found;
    }
    /// The highest rate over these numbers of warps on each scheduler.
    [[nodiscard]] double most_of(const MixShape& shape, std::span<const int> of_scheduler, double progress) {
        std::vector<int> warps;
        for (const int count : of_scheduler) warps.push_back(count * schedulers_);
        return mix(shape, progress).most_instructions_per_cycle(warps);
    }

    void add_latency(std::string path, double cycles, std::string method) {
        outcome_.estimates.push_back(
            decided_integer(std::move(path), {cycles, cycles, cycles}, {std::move(method), kConfidence}));
    }

    /// Adds the issue slots of an MMA: the time that a group of adds and one MMA takes beyond the adds.
    void add_slots() {
        const double adds = most_of({.chains = kChains, .arithmetic_only = true}, kWarps, 0.5);
        std::vector<deduce::MmaMix> mixes;
        for (const int alpha : kAdds)
            mixes.push_back(
                {alpha, most_of({.access = MixAccess::tensor, .alpha = alpha, .chains = kChains}, kWarps, 0.6)});
        const auto found = deduce::mma_slots(mixes, adds);
        results::Trace trace{.name = "tensor_products/slots", .experiment = "tensor_products"};
        trace.columns = {{"adds", "count", {}}, {"rate", "instructions/cycle", {}}, {"slots", "count", {}}};
        for (std::size_t i = 0; i < mixes.size(); ++i) trace.add_row(mixes[i].adds, mixes[i].rate, found.by_mix[i]);
        outcome_.traces.push_back(std::move(trace));
        Evidence evidence{"tensor_products: adds that each MMA displaces, with 16 and with 64 adds for each",
                          kConfidence};
        if (found.agree)
            outcome_.estimates.push_back(decided_real("pipelines.tensor.issue_slots",
                                                      {found.slots, found.interval[0], found.interval[1]}, evidence));
        else
            outcome_.estimates.push_back(
                undecided("pipelines.tensor.issue_slots", {found.least, found.most}, evidence));
    }

    Context& context_;
    int schedulers_;
    MixArrays arrays_;
    Outcome outcome_;
};

Outcome measure(Context& context) {
    if (!context.device.executes_mma()) return {};
    return TensorProducts(context).run();
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace tensor_products

Experiment tensor_products_experiment() {
    return {.id = "tensor_products",
            .title = "matrix multiply-accumulate on tensor cores: latency, rate and issue slots",
            .source = "Volkov 2016, 4.1 and 4.7, with mma.m16n8k16 (PTX ISA 9.7.14.4)",
            .method = "arithmetic-and-issue",
            .explanation =
                "One warp on each SM runs a chain of matrix multiply-accumulates (MMA), first alone and then with "
                "an add after each, which gives their latency. More warps with four chains each show how many MMAs "
                "an SM completes per cycle. With 16 and 64 adds for each MMA, the time that a group takes beyond "
                "its adds is the issue slots of the MMA.",
            .needs = {},
            .after = {"issue", "arithmetic_latency"},
            .provides = {"pipelines.tensor.latency", "pipelines.tensor.forward_latency", "pipelines.tensor.lanes",
                         "pipelines.tensor.issue_slots"},
            .run = tensor_products::run};
}

}  // namespace gputomo::experiments
