// Puts scans of the same GPU together: one of some experiments into an earlier one, and one that goes on after another.
#pragma once

#include "scan/runner.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::scan {

/// `latest` with the experiments of `earlier` that it does not have. The result's origin is that of `latest`, which
/// names the earlier runs that still have experiments in it.
[[nodiscard]] Scan merged(const Scan& earlier, Scan latest);

/// Names in the scan's origin the earlier runs of which it has experiments.
void add_earlier_runs(Scan& scan, const std::optional<results::Origin>& earlier);

/// Throws InputError where `earlier`, read from `file`, was not measured on this GPU under this driver, or does not say
/// on which GPU. `instead` says what the user can do.
void refuse_other_gpu(const Scan& earlier, const results::MeasuredGpu& gpu, std::string_view file,
                      std::string_view instead);

/// Throws InputError where `interrupted`, read from `file`, was measured with other options, or has experiments that
/// are done and not in `plan`. To go on would mix unlike results or lose those experiments.
void refuse_to_resume(const Scan& interrupted, const std::vector<const experiments::Experiment*>& plan,
                      const Options& options, std::string_view file);

}  // namespace gputomo::scan
