// How long a scan will take, by recorded scans of other GPUs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::cli {

/// The text of docs/results/scan-times.json: seconds of each experiment in recorded scans.
[[nodiscard]] std::string_view recorded_scan_times();

struct ScanTime {
    double seconds = 0;             ///< of the experiments that were recorded
    std::vector<std::string> gpus;  ///< on which they were
    int unrecorded = 0;             ///< experiments of which no time is known
};

/// The time of these experiments on the GPU of this name: each as it was recorded there, or else the longest that was
/// recorded on another one. The recordings include the compilation of every kernel. nullopt where none was recorded.
[[nodiscard]] std::optional<ScanTime> scan_time(std::string_view recordings,
                                                const std::vector<std::string>& experiments, const std::string& gpu);

}  // namespace gputomo::cli
