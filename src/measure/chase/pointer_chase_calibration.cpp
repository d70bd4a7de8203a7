// How PointerChase measures the overhead of its clock reads and of recording.
#include "measure/chase/pointer_chase.hpp"

#include "measure/chase/pointer_chase_kernels.hpp"
#include "units/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace gputomo::measure {
namespace {

/// Timed loads of a calibration run, untimed passes before them, and runs. The smallest of three runs is free of
/// short disturbances.
constexpr std::uint32_t kCalibrationLoads = 256;
constexpr std::uint32_t kCalibrationWarm = 16;
constexpr int kCalibrationRuns = 3;
/// Largest difference between runs, in cycles per load, at which single runs are trusted. Beyond it single loads are
/// compared with pairs of loads, so that outliers can be left out.
constexpr double kQuietCycles = 0.5;
/// Uncertainty in cycles that the recording overhead must reach. Ranges over SMs are rounded to whole cycles, and an
/// error of the overhead shifts all of them.
constexpr double kRequiredUncertainty = 0.06;
/// Runs until the overhead is used however uncertain it is, and runs between two checks. They bound the time of
/// calibration.
constexpr int kMostDisturbedRuns = 512, kRunsAtOnce = 16;
/// Untimed passes of such a run. They are few because there are many runs.
constexpr std::uint32_t kDisturbedWarm = 4;

/// The mean over elements of the smallest reading, or nullopt if an element's smallest reading is not its most
/// frequent one. No load is answered sooner than its smallest reading, whatever the jitter.
std::optional<double> floor_of(const std::vector<std::vector<double>>& readings) {
    double sum = 0, count = 0;
    for (const auto& of_element : readings) {
        if (of_element.empty()) continue;
        std::map<double, int> times;
        for (const double reading : of_element) ++times[reading];
        if (std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; }) != times.begin())
            return std::nullopt;
        sum += times.begin()->first;
        ++count;
    }
    return count == 0 ? std::nullopt : std::optional(sum / count);
}

/// The step in which the readings of elements differ: their greatest common divisor, at least 1 cycle.
double step_of(const std::vector<std::vector<double>>& readings) {
    std::int64_t step = 0;
    for (const auto& of_element : readings)
        for (const double reading : of_element) step = std::gcd(step, std::llround(reading - of_element.front()));
    return static_cast<double>(std::max<std::int64_t>(1, step));
}

}  // namespace

PointerChase::Totals PointerChase::calibration_totals(const ChaseRun& run) {
    ChaseRun doubled = run;
    doubled.loads = 2 * run.loads;
    std::array<std::vector<double>, 4> cycles;  // short and long loop, once and twice as many loads
    for (int i = 0; i < kCalibrationRuns; ++i) {
        cycles[0].push_back(cycles_of(average_, run, static_cast<std::uint32_t>(shape_.unroll)).value_or(0));
        cycles[1].push_back(cycles_of(average_long_, run, average_granularity()).value_or(0));
        cycles[2].push_back(cycles_of(average_, doubled, static_cast<std::uint32_t>(shape_.unroll)).value_or(0));
        cycles[3].push_back(cycles_of(average_long_, doubled, average_granularity()).value_or(0));
    }
    double spread = 0;
    for (const auto& c : cycles) {
        const auto [low, high] = std::ranges::minmax(c);
        spread = std::max(spread, (high - low) / run.loads);
    }
    const auto without_loop = [&](std::size_t at) {
        return (kLonger * std::ranges::min(cycles[at + 1]) - std::ranges::min(cycles[at])) / (kLonger - 1);
    };
    return {without_loop(0), without_loop(2), spread};
}

void PointerChase::calibrate(device::Address start, std::uint32_t elements) {
    const std::uint32_t granularity = std::max(1U, std::lcm(average_granularity(), elements));
    const ChaseRun run{.start = start,
                       .warm = kCalibrationWarm * elements,
                       .loads = std::max(1U, kCalibrationLoads / granularity) * granularity};
    const Totals totals = calibration_totals(run);
    average_overhead_ = 2 * totals.once - totals.twice;
    disturbed_ = totals.spread > kQuietCycles;
    if (disturbed_) {
        record_overhead_ = disturbed_record_overhead({.start = start, .warm = kDisturbedWarm * elements}, elements);
        return;
    }
    // The first pass is dropped: its records contain the instruction fetches of the first loop iteration.
    const std::uint32_t passes = std::min(kCalibrationLoads, loads_a_launch() - elements) / elements;
    std::vector<double> pass_means;
    const auto cycles = record({.start = start, .warm = run.warm, .loads = (passes + 1) * elements}, fine_).cycles;
    for (std::uint32_t pass = 1; pass <= passes && !cycles.empty(); ++pass) {
        double sum = 0;
        for (std::uint32_t j = 0; j < elements; ++j) sum += cycles[pass * elements + j];
        pass_means.push_back(sum / elements);
    }
    const double reading = shape_.start_to_start ? std::accumulate(pass_means.begin(), pass_means.end(), 0.0) /
                                                       static_cast<double>(pass_means.size())
                                                 : summarise(pass_means).value;
    record_overhead_ = reading - (totals.twice - totals.once) / run.loads;
}

double PointerChase::disturbed_record_overhead(ChaseRun run, std::uint32_t elements) {
    CompiledKernel twice(module_, fine_chase_kernel(target_of(device_), shape_, kLoadsOfPair).name(),
                         {timed_loads(shape_.hint, kLoadsOfPair)});
    twice.prefer_l1();
    // Elements may differ, so each element and each pair of neighbours keeps readings of its own.
    std::vector<std::vector<double>> singles(elements), pairs(elements);
    run.loads = loads_a_launch();
    const auto add_records = [&](CompiledKernel& kernel, std::uint32_t loads,
                                 std::vector<std::vector<double>>& readings) {
        const auto cycles = record(run, kernel).cycles;
        for (std::size_t i = elements; i < cycles.size(); ++i) readings[loads * i % elements].push_back(cycles[i]);
    };
    const auto mean_of = [](const std::vector<std::vector<double>>& readings) {
        double sum = 0, squares = 0, count = 0;
        const double step = step_of(readings);
        for (const auto& of_element : readings) {
            if (of_element.empty()) continue;
            const auto at = location(of_element, step);
            sum += at.mean, squares += at.uncertainty * at.uncertainty;
            ++count;
        }
        return Location{.mean = sum / count, .uncertainty = std::sqrt(squares) / count};
    };
    Location single, pair;
    for (int runs = 1; runs <= kMostDisturbedRuns; ++runs) {
        add_records(fine_, 1, singles);
        add_records(twice, kLoadsOfPair, pairs);
        if (runs % kRunsAtOnce != 0) continue;
        single = mean_of(singles), pair = mean_of(pairs);
        if (std::hypot(2 * single.uncertainty, pair.uncertainty) < kRequiredUncertainty) break;
    }
    // Jitter can only add to the smallest reading. It does not add twice as much to two loads as to one. Clock steps,
    // too, can make the smallest reading the most frequent one.
    const auto single_floor = floor_of(singles), pair_floor = floor_of(pairs);
    if (!shape_.start_to_start && single_floor && pair_floor) return 2 * *single_floor - *pair_floor;
    return 2 * single.mean - pair.mean;
}

}  // namespace gputomo::measure
