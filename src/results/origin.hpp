// Where and when an output was made: by which version of gputomo, with which command, and on which GPU in which state.
#pragma once

#include "results/value.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::results {

/// What a device reports of its state at one time, by name: "sm_mhz" 1980, "throttle_reasons" ["power cap"]. What is
/// not known is left out.
using State = std::vector<std::pair<std::string, Value>>;

/// The GPU of a measurement. Empty texts are unknown.
struct MeasuredGpu {
    std::string name;         ///< "NVIDIA H200"
    std::string device;       ///< "cuda:0"
    std::string uuid;         ///< "GPU-12345678-..."
    std::string pci_bus_id;   ///< "0000:3b:00.0"
    std::string driver;       ///< version of the driver: "570.86.15"
    std::string cuda;         ///< version of CUDA that the driver supports: "12.8"
    std::string description;  ///< SHA-256 of the description that a simulated GPU was made from
    State before;             ///< when the measurement began
    State after;              ///< when it ended
};

struct Origin {
    std::string version;  ///< of gputomo: "0.1.0"
    std::string commit;   ///< of gputomo's sources; "unknown" where they were not in git
    std::string command;  ///< the command line
    std::string date;     ///< UTC, "2026-11-23T10:44:49Z"
    std::optional<MeasuredGpu> gpu;
    /// Earlier runs whose values are still among those of this file, since a scan of some experiments replaced others.
    std::vector<Origin> merged;
};

/// How the GPUs of two measurements differ: "driver 550.54 instead of 570.86". Empty if both are of the same GPU under
/// the same driver; simulated GPUs are the same if their descriptions are.
[[nodiscard]] std::string difference(const MeasuredGpu& a, const MeasuredGpu& expected);
/// Whether both are the same GPU, perhaps under different drivers.
[[nodiscard]] bool is_same_gpu(const MeasuredGpu& a, const MeasuredGpu& b);

/// One line for people: when, by what and on what a file was made.
[[nodiscard]] std::string summary(const Origin& origin);

}  // namespace gputomo::results
