#include "replay/predicted.hpp"

#include "replay/replayed_launch.hpp"

#include <vector>

namespace gputomo::replay {

predict::LaunchPrediction predict_captured(const GpuMaker& make_gpu, const capture::Capture& capture,
                                           const capture::Launch& launch, const profile::Sampling& sampling,
                                           std::string_view machine_origin) {
    const auto gpu = make_gpu();
    const ReplayedLaunch ready(capture, launch);
    std::vector<profile::Buffer> buffers;
    for (const auto& buffer : *launch.buffers) buffers.push_back({buffer.address, buffer.bytes});
    auto functional = ready.launch();
    const auto& grid = ready.shape().grid;
    functional.grid = {grid[0], grid[1], grid[2]};
    const auto& machine = gpu->machine();
    auto prediction = predict::predict_launch(
        profile::profile_launch({ready.program(), functional, ready.memory(), buffers}, machine, sampling), machine,
        machine_origin);
    if (const auto lost = lost_by_reduction(launch); !lost.empty())
        prediction.warnings.push_back("the reduction of the capture may have changed the launch: " + lost);
    return prediction;
}

}  // namespace gputomo::replay
