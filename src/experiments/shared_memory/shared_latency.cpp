// Cycles from a load of shared memory to the instruction that needs its data, without and with bank conflicts.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/shared_memory/shared_conflicts.hpp"
#include "measure/throughput/shared_chase.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

namespace gputomo::experiments {
namespace shared_latency {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.99;
/// Launches of each ring, whose median counts.
constexpr int kLaunches = 5;
constexpr std::uint32_t kWordBytes = 4;
/// Footprints and strides (in words) that must all give one latency: shared memory has no cache (Wong 2010, IV-F).
constexpr std::pair<std::uint32_t, std::uint32_t> kRings[] = {{1, 1}, {16, 1}, {64, 9}, {256, 7}};

/// Mean latency of one thread's chase around a ring of `words`, each `stride` words after the one before.
double ring_latency(SharedChase& chase, std::uint32_t words, std::uint32_t stride) {
    std::vector<SharedLink> links;
    for (std::uint32_t i = 0; i < words; ++i)
        links.push_back({i * stride * kWordBytes, (i + 1) % words * stride * kWordBytes});
    const std::uint32_t start[] = {0};
    return chase.cycles_of_n(links, start) / chase.shape().length;
}

void add_latency(Context& context, SharedChase& chase, Outcome& outcome) {
    std::vector<double> samples;
    for (const auto& [words, stride] : kRings) {
        context.progress(0, "shared-memory latency");
        for (int i = 0; i < kLaunches; ++i) samples.push_back(ring_latency(chase, words, stride));
    }
    const Measured latency = summarise(samples);
    outcome.estimates.push_back(decided_integer(
        "shared.latency", latency, {"shared_latency: pointer chase by one thread, n against 2n", kConfidence}));
    if (latency.spread() > 1)
        outcome.warnings.emplace_back(
            "shared_latency: the latency differs by more than a cycle between footprints, although shared memory has "
            "no cache");
}

void add_banks(Context& context, SharedChase& chase, Outcome& outcome) {
    const auto warp =
        static_cast<std::uint32_t>(context.device.attribute(device::Attribute::warp_size).value_or(kWarpSize));
    const PatternLatency latency = [&](const std::vector<std::uint32_t>& offsets) {
        context.progress(0.5, "bank conflicts");
        std::vector<SharedLink> links;
        for (const std::uint32_t offset : offsets) links.push_back({offset, offset});
        return chase.cycles_of_n(links, offsets) / chase.shape().length;
    };
    outcome.traces.push_back(stride_trace(latency, warp));
    const auto banks = deduce_banks(latency, warp);
    if (!banks) {
        outcome.warnings.emplace_back("shared_latency: banks were not found, because no two words conflict");
        return;
    }
    const Evidence distances{"shared_latency: latency of two threads' load against the distance of their words",
                             kConfidence};
    const Evidence pairs{
        "shared_latency: latency if one thread of a warp loads another word of the bank that the others load from",
        kConfidence};
    outcome.estimates.push_back(decided("shared.banks", banks->banks, distances));
    outcome.estimates.push_back(decided("shared.bank_width", banks->bank_width, distances));
    outcome.estimates.push_back(decided("shared.row_words", banks->row_words, distances));
    outcome.estimates.push_back(decided("shared.conflict_cost", banks->conflict_cost, pairs));
    outcome.estimates.push_back(decided("shared.access_group", banks->access_group, pairs));
}

Outcome measure(Context& context) {
    Outcome outcome;
    SharedChase chase(context.device, {.width = 1});
    add_code_checks(chase.compiled(), outcome);
    add_latency(context, chase, outcome);
    add_banks(context, chase, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace shared_latency

Experiment shared_latency_experiment() {
    return {.id = "shared_latency",
            .title = "latency of shared memory, and what bank conflicts add to it",
            .source = "Wong 2010, IV-F; Mei 2014, 3.1 and 4.1",
            .method = "shared-memory",
            .explanation =
                "One thread follows a pointer chain through shared memory. Then the threads of a warp do so at a "
                "stride from each other. Where the latency grows, several threads access the same bank.",
            .needs = {},
            .provides = {"shared.latency", "shared.banks", "shared.bank_width", "shared.row_words",
                         "shared.conflict_cost", "shared.access_group"},
            .run = shared_latency::run};
}

}  // namespace gputomo::experiments
