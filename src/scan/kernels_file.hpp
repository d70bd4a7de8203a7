// Reads and writes gputomo-kernels-1 files: the throughputs of real kernels over occupancy that `gputomo predict
// --device` measures.
#pragma once

#include "measure/workload/kernel_timing.hpp"
#include "results/origin.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::scan {

inline constexpr std::string_view kKernelsSchema = "gputomo-kernels-1";

struct MeasuredKernel {
    std::string id;     ///< id of a workload, or name of the kernel's entry
    int threads = 0;    ///< threads of a block
    int registers = 0;  ///< registers of a thread
    std::vector<measure::KernelSample> samples;
};

struct MeasuredKernels {
    std::string gpu;
    int sms = 0;
    std::vector<MeasuredKernel> kernels;
    std::optional<results::Origin> origin;  ///< where and when it was measured
};

[[nodiscard]] std::string to_json(const MeasuredKernels& measured);
/// Throws InputError naming `origin`, the name of the file, and the field.
[[nodiscard]] MeasuredKernels kernels_from_json(std::string_view text, std::string_view origin = "kernels");
[[nodiscard]] MeasuredKernels load_kernels(const std::filesystem::path& file);

}  // namespace gputomo::scan
