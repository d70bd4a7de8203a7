#include "answer/predicted.hpp"

#include "launch/captured/replayed_launch.hpp"

#include <vector>

namespace gputomo::answer {

predict::LaunchPrediction predict_captured(const GpuMaker& make_gpu, const capture::Capture& capture,
                                           const capture::Launch& launch, const launch::Sampling& sampling,
                                           std::string_view machine_origin) {
    const auto gpu = make_gpu();
    const launch::ReplayedLaunch ready(capture, launch);
    std::vector<launch::MemoryRange> buffers;
    for (const auto& buffer : *launch.buffers) buffers.push_back({buffer.address, buffer.bytes});
    auto functional = ready.launch();
    const auto& grid = ready.shape().grid;
    functional.grid = {grid[0], grid[1], grid[2]};
    const auto& machine = gpu->machine();
    auto prediction = predict::predict_launch(
        launch::profile_launch({ready.program(), functional, ready.memory(), buffers}, machine, sampling), machine,
        machine_origin);
    if (const auto lost = launch::lost_by_reduction(launch); !lost.empty())
        prediction.warnings.push_back("the reduction of the capture may have changed the launch: " + lost);
    return prediction;
}

}  // namespace gputomo::answer
