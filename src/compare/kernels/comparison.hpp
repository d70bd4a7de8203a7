// Predicted beside measured throughput of kernels at the occupancies at which they were timed.
#pragma once

#include "machine/machine.hpp"
#include "measure/workload/workload.hpp"
#include "predict/static/prediction.hpp"
#include "scan/kernels_file.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::compare {

struct KernelComparison {
    predict::Prediction prediction;
    scan::MeasuredKernel measured;
};

/// A kernel of kernels/ in the form that prediction takes: its code, and what its data decide about accesses and
/// branches.
struct PredictedWorkload {
    predict::Code code;
    predict::Choices choices;
};
[[nodiscard]] PredictedWorkload predicted_workload(const measure::Workload& workload);

/// Makes `choices` limit occupancy by shared memory, as measure::KernelTiming does: below the most measured blocks per
/// SM, each block takes more shared memory than it needs. `own_shared` is what a block needs, in bytes.
void hold_occupancy(predict::Choices& choices, std::int64_t own_shared, const scan::MeasuredKernel& measured,
                    const machine::Machine& machine);

/// Predicts each kernel of `workloads` that was measured. `origin` names the description in error messages. Throws
/// InputError where no kernel was measured; `measured_origin` then names what was read.
[[nodiscard]] std::vector<KernelComparison> compare_workloads(const std::vector<const measure::Workload*>& workloads,
                                                              const scan::MeasuredKernels& measured,
                                                              const machine::Machine& machine,
                                                              const std::string& origin,
                                                              const std::string& measured_origin);

/// The fewest warps per SM from which on the throughput is at least 90% of that at full occupancy, interpolated between
/// the measured occupancies.
struct NeededOccupancy {
    double predicted = 0;
    double measured = 0;
};
[[nodiscard]] NeededOccupancy needed_occupancy(const KernelComparison& comparison);

/// For the terminal.
[[nodiscard]] std::string comparison_table(const std::vector<KernelComparison>& comparisons);
/// One element for each kernel.
[[nodiscard]] nlohmann::ordered_json comparison_json(const std::vector<KernelComparison>& comparisons);

}  // namespace gputomo::compare
