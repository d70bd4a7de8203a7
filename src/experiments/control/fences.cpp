// Fences: how long they hold a thread with nothing in flight, and behind a store.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/asynchronous/asynchronous_module.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace fences {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Rounds of the kernels with nothing in flight, and as many behind a store. The first finds no code in the caches.
constexpr std::size_t kRounds = 6;
/// Launches, and bytes by which their stores lie apart, so that they go to different parts of the L2.
constexpr std::uint64_t kLaunches = 12, kApart = 4096 + 128;
/// Cycles by which the clock is read later than the fence has ended, at least.
constexpr double kReading = 2;
constexpr Bytes kDataBytes{kLaunches * kApart + 4096};

struct Kind {
    std::string_view kernel, operation;
};
constexpr std::array kKinds{Kind{"fence_of_block", "fence.acq_rel.cta"}, Kind{"fence_of_gpu", "fence.acq_rel.gpu"},
                            Kind{"fence_of_system", "fence.acq_rel.sys"}, Kind{"fence_of_proxy", "fence.proxy.async"}};

struct FenceTimes {
    Measured alone, behind_store;
};

FenceTimes time_fence(Context& context, AsynchronousModule& kernels, const device::Buffer& data, const Kind& kind) {
    std::vector<double> alone, behind;
    for (std::uint64_t launch = 0; launch < kLaunches; ++launch) {
        context.progress(0.5, kind.operation);
        const auto words = kernels.run(kind.kernel, {}, 2 * kRounds, {}, data.address() + launch * kApart);
        for (std::size_t round = 1; round < kRounds; ++round) {
            alone.push_back(words[round] - kReading);
            behind.push_back(words[kRounds + round] - kReading);
        }
    }
    return {summarise(alone), summarise(behind)};
}

Outcome measure(Context& context) {
    if (!executes_asynchronous_kernels(context.device)) {
        context.progress(1, "does not apply: the kernels are for compute capability 9.0");
        return {};
    }
    Outcome outcome;
    AsynchronousModule kernels(context.device);
    const device::Buffer data(context.device, kDataBytes);
    results::Trace trace{.name = "fences/times", .experiment = "fences"};
    trace.columns = {{"fence", "index", {}}, {"alone", "cycles", {}}, {"behind a store", "cycles", {}}};
    trace.plot = {.title = "Cycles of fences of the block, the GPU, the system and the asynchronous proxy",
                  .x = "fence",
                  .y = {"alone", "behind a store"}};
    for (const Kind& kind : kKinds) {
        const FenceTimes times = time_fence(context, kernels, data, kind);
        trace.add_row(static_cast<double>(trace.columns[0].values.size()), times.alone.value, times.behind_store.value);
        if (kind.operation == "fence.acq_rel.cta") continue;  // its time is the stall count of its code
        outcome.estimates.push_back(
            decided_integer(fmt::format("operations[{}].latency", kind.operation), times.alone,
                            {"fences: between two clock reads, with nothing in flight", kConfidence}));
        if (kind.operation != "fence.acq_rel.gpu") continue;
        const double store = std::max(0.0, times.behind_store.value - times.alone.value);
        outcome.estimates.push_back(decided_integer(
            "operations[st.global:acknowledged].latency",
            {store, store, std::max(store, times.behind_store.high - times.alone.low)},
            {"fences: fence.acq_rel.gpu behind a store, less one with nothing in flight", kConfidence}));
    }
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace fences

Experiment fences_experiment() {
    return {.id = "fences",
            .title = "fences of the block, the GPU, the system and the asynchronous proxy",
            .source = "PTX ISA 9.7.13.4",
            .method = "asynchronous-operations",
            .explanation =
                "One thread reads the clock on both sides of a fence, first with nothing in flight and then behind a "
                "store. What the second takes longer is the time until the store is known to have arrived.",
            .needs = {},
            .after = {},
            .provides = {"operations[*].latency"},
            .run = fences::run};
}

}  // namespace gputomo::experiments
