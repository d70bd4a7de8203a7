#include "experiments/memory/contention_curve.hpp"

#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gputomo::experiments {
namespace {

/// Confidence of the coefficients, a judgement and no measured frequency.
constexpr double kContentionConfidence = 0.9;
/// From this share of the peak on, latency grows with the loads in flight while throughput stays.
constexpr double kSaturated = 0.9;

}  // namespace

std::vector<deduce::LoadedLatency> unsaturated(std::vector<deduce::LoadedLatency> samples) {
    double peak = 0;
    for (const auto& sample : samples) peak = std::max(peak, sample.throughput);
    std::erase_if(samples, [&](const auto& sample) { return sample.throughput >= kSaturated * peak; });
    return samples;
}

results::Trace contention_trace(std::span<const deduce::LoadedLatency> samples, const std::string& experiment) {
    results::Trace trace{.name = experiment + "/contention", .experiment = experiment};
    const auto fit = deduce::fit_contention(samples);
    if (!fit) return trace;
    const auto column = [](const auto& coefficient) {
        return std::vector{coefficient.value, coefficient.interval[0], coefficient.interval[1]};
    };
    trace.columns = {{"a", "cycles", column(fit->a)},
                     {"b", "cycles", column(fit->b)},
                     {"c", "GB/s", column(fit->c)},
                     {"largest_error", "", {fit->largest_error, 0, 0}}};
    return trace;
}

void add_contention_estimates(std::span<const deduce::LoadedLatency> samples, const std::string& experiment,
                              const Context& context, Outcome& outcome) {
    const auto fit = deduce::fit_contention(samples);
    if (!fit || context.findings.find("memory.contention_base") != nullptr) return;
    const Evidence evidence{experiment + ": least squares of mean latency over throughput", kContentionConfidence,
                            fmt::format("the largest error of the fit is {:.1f}%", 100 * fit->largest_error)};
    const auto& [a, b, c, error] = *fit;
    outcome.estimates.push_back(
        decided_real("memory.contention_base", {a.value, a.interval[0], a.interval[1]}, evidence));
    outcome.estimates.push_back(decided("memory.contention_slopes", std::vector{b.value}, evidence));
    outcome.estimates.push_back(decided("memory.contention_limits", std::vector{c.value}, evidence));
}

}  // namespace gputomo::experiments
