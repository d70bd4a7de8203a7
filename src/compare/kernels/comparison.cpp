#include "compare/kernels/comparison.hpp"

#include "models/evaluation.hpp"
#include "predict/static/ptx_code.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace gputomo::compare {
namespace {

using Json = nlohmann::ordered_json;
/// Warps per SM and throughput in warps per cycle, from few warps to many.
using Points = std::vector<std::pair<double, double>>;

constexpr double kWarp = kWarpSize;

/// Fewest warps from which on the throughput stays above kHidden of the last point's. Below the first point it rises
/// from 0.
double needed(const Points& points) {
    const double target = models::kHidden * points.back().second;
    const auto short_of =
        std::find_if(points.rbegin(), points.rend(), [&](const auto& point) { return point.second < target; });
    const std::pair<double, double> before = short_of == points.rend() ? std::pair<double, double>{} : *short_of;
    const auto& point = short_of == points.rend() ? points.front() : *std::prev(short_of);
    return before.first + (point.first - before.first) * (target - before.second) / (point.second - before.second);
}

/// Relative error, the same for a ratio and its reciprocal.
double error_of(double ratio) { return std::max(ratio, 1 / ratio) - 1; }

struct Errors {
    std::vector<double> throughput, needed;
};

Errors errors_of(const std::vector<KernelComparison>& comparisons) {
    Errors errors;
    for (const auto& comparison : comparisons) {
        for (const auto& sample : comparison.measured.samples)
            errors.throughput.push_back(
                error_of(warps_per_cycle_at(comparison.prediction, sample.warps) / sample.warps_per_cycle));
        const auto warps = needed_occupancy(comparison);
        errors.needed.push_back(error_of(warps.predicted / warps.measured));
    }
    std::ranges::sort(errors.throughput);
    std::ranges::sort(errors.needed);
    return errors;
}

}  // namespace

PredictedWorkload predicted_workload(const measure::Workload& workload) {
    const std::string origin = fmt::format("kernels/{}.ptx", workload.file);
    PredictedWorkload predicted{
        .code = predict::code_from_ptx(ptx::parse(measure::ptx_of(workload), origin), workload.kernel, origin),
        .choices = {}};
    int load = 0;
    for (const auto& instruction : predicted.code.instructions) {
        const bool loads =
            instruction.access && instruction.access->space == predict::MemorySpace::global && instruction.access->load;
        if (loads && load++ == workload.scattered_load) predicted.choices.access.transactions[instruction.line] = kWarp;
        if (instruction.kind != predict::Kind::branch) continue;
        const auto& label = predicted.code.labels.at(instruction.target);
        const bool back = &predicted.code.instructions[instruction.target] <= &instruction;
        if (back && workload.trips > 0) predicted.choices.path.trip_counts[label] = workload.trips;
        if (!back && workload.branches) predicted.choices.path.taken.insert(label);
    }
    predicted.choices.access.l2_hit_rate = workload.cached;
    predicted.choices.warps_of_block = workload.threads / static_cast<int>(kWarp);
    return predicted;
}

void hold_occupancy(predict::Choices& choices, std::int64_t own_shared, const scan::MeasuredKernel& measured,
                    const machine::Machine& machine) {
    const auto& shared = machine.shared;
    const measure::SharedLimits limits{
        .sm = shared.capacity.value_or(0),
        .block = (shared.max_per_block ? shared.max_per_block : shared.capacity).value_or(0),
        .reserved = shared.block_overhead.value_or(0)};
    const int most = measured.samples.back().blocks;
    choices.holding = [limits, most, own_shared](int blocks) {
        return blocks >= most ? own_shared : std::max(own_shared, shared_that_holds(limits, blocks));
    };
}

NeededOccupancy needed_occupancy(const KernelComparison& comparison) {
    Points measured, predicted;
    for (const auto& sample : comparison.measured.samples) {
        measured.emplace_back(sample.warps, sample.warps_per_cycle);
        predicted.emplace_back(sample.warps, warps_per_cycle_at(comparison.prediction, sample.warps));
    }
    return {needed(predicted), needed(measured)};
}

std::vector<KernelComparison> compare_workloads(const std::vector<const measure::Workload*>& workloads,
                                                const scan::MeasuredKernels& measured, const machine::Machine& machine,
                                                const std::string& origin, const std::string& measured_origin) {
    std::vector<KernelComparison> comparisons;
    for (const auto* workload : workloads) {
        const auto found = std::ranges::find(measured.kernels, workload->id, &scan::MeasuredKernel::id);
        if (found == measured.kernels.end()) continue;
        auto predicted = predicted_workload(*workload);
        hold_occupancy(predicted.choices, predicted.code.shared_bytes, *found, machine);
        comparisons.push_back(
            {predict::predict(std::move(predicted.code), machine, predicted.choices, origin), *found});
    }
    if (!comparisons.empty()) return comparisons;
    std::string names;
    for (const auto* workload : workloads) names += fmt::format("{}{}", names.empty() ? "" : ", ", workload->id);
    throw InputError(fmt::format("{}: has no measured kernel of {}; expected at least one", measured_origin, names));
}

std::string comparison_table(const std::vector<KernelComparison>& comparisons) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "throughput in warps per 1000 cycles and SM\n  {:<20} {:>6} {:>10} {:>10} {:>8}\n", "kernel",
                   "warps", "predicted", "measured", "ratio");
    for (const auto& comparison : comparisons) {
        for (const auto& sample : comparison.measured.samples) {
            const double predicted = warps_per_cycle_at(comparison.prediction, sample.warps);
            fmt::format_to(out, "  {:<20} {:>6} {:>10.4g} {:>10.4g} {:>8.3f}\n", comparison.measured.id, sample.warps,
                           1000 * predicted, 1000 * sample.warps_per_cycle, predicted / sample.warps_per_cycle);
        }
        const auto warps = needed_occupancy(comparison);
        fmt::format_to(out, "  {:<20} {:>6} {:>10.1f} {:>10.1f} {:>8.3f}  limited by {}\n", "", "needed",
                       warps.predicted, warps.measured, warps.predicted / warps.measured,
                       comparison.prediction.limited_by);
    }
    const auto errors = errors_of(comparisons);
    fmt::format_to(
        out,
        "\nerror of the throughput: median {:.1f}%, largest {:.1f}%; of the needed occupancy: median {:.1f}%, "
        "largest {:.1f}%\n",
        100 * errors.throughput[errors.throughput.size() / 2], 100 * errors.throughput.back(),
        100 * errors.needed[errors.needed.size() / 2], 100 * errors.needed.back());
    return text;
}

Json comparison_json(const std::vector<KernelComparison>& comparisons) {
    Json list = Json::array();
    for (const auto& comparison : comparisons) {
        Json points = Json::array();
        for (const auto& sample : comparison.measured.samples)
            points.push_back({{"warps", sample.warps},
                              {"predicted", warps_per_cycle_at(comparison.prediction, sample.warps)},
                              {"measured", sample.warps_per_cycle}});
        const auto warps = needed_occupancy(comparison);
        list.push_back({{"kernel", comparison.measured.id},
                        {"limited_by", comparison.prediction.limited_by},
                        {"warps_per_cycle", points},
                        {"needed_predicted", warps.predicted},
                        {"needed_measured", warps.measured}});
    }
    return list;
}

}  // namespace gputomo::compare
