// Prediction beside measurement: throughput of kernels at the occupancies at which they were timed.
#pragma once

#include "measure/workload/workload.hpp"
#include "predict/prediction.hpp"
#include "scan/kernels_file.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace gputomo::compare {

/// A kernel of kernels/ as prediction wants it: its code, and what its data make of accesses and branches.
struct PredictedWorkload {
    predict::Code code;
    predict::Choices choices;
};
[[nodiscard]] PredictedWorkload predicted_workload(const measure::Workload& workload);

struct KernelComparison {
    predict::Prediction prediction;
    scan::MeasuredKernel measured;
};

/// Has the prediction's occupancies held by shared memory, as KernelTiming does below the most blocks that were
/// measured.
void hold_occupancy(predict::Choices& choices, std::int64_t own_shared, const scan::MeasuredKernel& measured,
                    const machine::Machine& machine);

/// Warps per SM from which on the throughput stays at 90% of that at the most measured warps or above, between samples
/// by interpolation.
struct NeededWarps {
    double predicted = 0;
    double measured = 0;
};
[[nodiscard]] NeededWarps needed_warps(const KernelComparison& comparison);

void print(const std::vector<KernelComparison>& comparisons);
[[nodiscard]] nlohmann::ordered_json comparison_json(const std::vector<KernelComparison>& comparisons);

}  // namespace gputomo::compare
