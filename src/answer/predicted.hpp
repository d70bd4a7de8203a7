// Predicts a captured launch from sampled blocks of it.
#pragma once

#include "answer/simulated.hpp"
#include "capture/capture.hpp"
#include "launch/profile/profile.hpp"
#include "predict/launch/launch_prediction.hpp"

#include <string_view>

namespace gputomo::answer {

/// Executes sampled blocks with the memory of the capture, then predicts with the description of the GPU that
/// `make_gpu` makes. `machine_origin` names that description in errors. Throws InputError that names what the capture
/// or the description lacks, DeviceError where the kernel fails, and TimeLimitError where not even one block ends in
/// time.
[[nodiscard]] predict::LaunchPrediction predict_captured(const GpuMaker& make_gpu, const capture::Capture& capture,
                                                         const capture::Launch& launch,
                                                         const launch::Sampling& sampling,
                                                         std::string_view machine_origin);

}  // namespace gputomo::answer
