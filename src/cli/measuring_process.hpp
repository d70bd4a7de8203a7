// A process that measures launches for this one. A kernel that never ends, or a driver that fails, ends it alone. This
// process has no context on the GPU. It keeps what was measured, and starts another one for what is left.
#pragma once

#include "answer/measure.hpp"
#include "capture/capture.hpp"
#include "results/origin.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gputomo::cli {

/// What is measured where.
struct MeasuringPlan {
    const capture::Capture* captured = nullptr;
    std::string device;
    std::uint64_t seed = 1;
    answer::MeasureRequest request;
};

/// A launch to measure.
struct PlannedLaunch {
    std::size_t number = 0;
    answer::Restoring restoring = answer::Restoring::as_needed;
};

/// The GPU of a measuring process.
struct OpenedGpu {
    std::string id, name;
    results::Origin origin;
    std::optional<answer::MeasuredOverhead> cold_overhead, warm_overhead;
};

/// What came of one launch.
struct MeasuredLaunch {
    /// How the process goes on.
    enum class Then : std::uint8_t {
        next,       ///< with the next launch
        ended,      ///< it has ended, since the device cannot go on
        repeatable  ///< it has ended, and the launch can be measured with Restoring::always
    };
    std::optional<answer::Measurement> measured;
    std::string failed;  ///< why there is none
    Then then = Then::next;
};

class MeasuringProcess {
public:
    /// Starts the process, which opens the device and measures the launches in order. Throws what opening the device
    /// throws.
    MeasuringProcess(const MeasuringPlan& plan, const std::vector<PlannedLaunch>& launches);
    MeasuringProcess(const MeasuringProcess&) = delete;
    MeasuringProcess& operator=(const MeasuringProcess&) = delete;
    /// Kills the process where it has not ended.
    ~MeasuringProcess();

    [[nodiscard]] const OpenedGpu& gpu() const { return gpu_; }
    /// Waits for the next launch.
    [[nodiscard]] MeasuredLaunch next();
    /// After the last launch: where it was measured, with the state of the GPU afterwards. nullopt where the process
    /// has ended before.
    [[nodiscard]] std::optional<results::Origin> finish();

private:
    /// A message of the process; nullopt where it has ended.
    [[nodiscard]] std::optional<std::string> message();
    /// Waits for the process, which may have to be killed for that, and says how it ended.
    std::string end(bool kills);

    pid_t process_ = -1;
    int messages_ = -1;
    std::string received_;  ///< of messages that were not asked for yet
    OpenedGpu gpu_;
};

}  // namespace gputomo::cli
