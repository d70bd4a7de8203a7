// `gputomo predict` beside measurement: kernels of the project, all of them or one, and the user's own.
#pragma once

#include "compare/kernels/comparison.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::cli {

struct BesideOptions {
    std::string device;       ///< to measure on; empty: nothing is measured
    std::string measured;     ///< file of an earlier run, instead
    std::string out;          ///< file for what is measured
    std::string grid, block;  ///< X[,Y,Z]
    std::vector<std::string> arguments;
    std::int64_t shared = 0;
    std::uint64_t seed = 1;
    int noise = 0;
};

/// "all", or a kernel of kernels/.
[[nodiscard]] bool names_workloads(const std::string& name);
[[nodiscard]] std::vector<std::string> workload_names();

/// Measured here or read from a file; those of `name` that there are. Throws InputError where neither device nor file
/// is given.
[[nodiscard]] std::vector<compare::KernelComparison> compare_workloads(const std::string& name,
                                                                       const BesideOptions& options,
                                                                       const machine::Machine& machine,
                                                                       const std::string& origin);

/// The user's kernel at five occupancies.
[[nodiscard]] scan::MeasuredKernel measure_kernel(const std::string& file, const std::string& kernel,
                                                  const BesideOptions& options);

}  // namespace gputomo::cli
