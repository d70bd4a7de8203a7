// Measures what a launch costs, by running it on a GPU with the memory that it found.
#pragma once

#include "answer/answer.hpp"
#include "device/device.hpp"
#include "launch/launch.hpp"
#include "launch/placed_launch.hpp"
#include "units/error.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::answer {

/// A launch does not end on the memory that its own first run left, and would where memory were restored.
class RepeatedRunError : public TimeLimitError {
public:
    using TimeLimitError::TimeLimitError;
};

/// When memory is restored before a run.
enum class Restoring : std::uint8_t {
    as_needed,  ///< where a second run on what the first one left does something else
    always
};

struct MeasureRequest {
    int repetitions = 11;
    bool cold = true, warm = true;  ///< states of the caches to measure
    bool compares_results = false;
    std::chrono::milliseconds time_limit{30'000};  ///< of one repetition
};

/// The time of a launch in one state of the caches: medians over the repetitions.
struct MeasuredTime {
    int repetitions = 0;
    double cycles = 0, microseconds = 0;           ///< beyond those of an empty kernel
    double lowest_cycles = 0, highest_cycles = 0;  ///< of a repetition
    double event_microseconds = 0;                 ///< by events around the launch, with what they cost
    double sm_mhz = 0;                             ///< the clock of the SM while it ran
};

/// What an empty kernel takes, and the way to measure it.
struct MeasuredOverhead {
    double cycles = 0;              ///< between two time stamps with an empty kernel between them
    double nothing_cycles = 0;      ///< with no kernel between them
    double event_microseconds = 0;  ///< by events around an empty kernel
};

struct Measurement {
    LaunchShape launch;
    std::optional<MeasuredTime> cold, warm;
    /// Buffers that the launch changes. Where it also reads what it changes, memory is restored before each repetition.
    std::size_t changed_buffers = 0;
    bool restored = false;
    /// Buffers that are not at their recorded addresses, and pointers that were changed for that.
    std::size_t moved_buffers = 0;
    std::uint64_t moved_pointers = 0;
    std::optional<std::vector<launch::Difference>> differences;
    device::ClockState state;  ///< right after the last repetition
    std::vector<std::string> warnings;
};

/// Measures launches on one device. Its own kernels are compiled once.
///
/// A repetition runs without waiting for the host. It begins with a kernel that waits until all others are in the
/// queue. Then a kernel of one thread reads clock and time, the launch follows, and the reader runs again. Both readers
/// run on the same SM, so that its clock counts between them. What an empty kernel takes in place of the launch is
/// subtracted.
class Measurer {
public:
    /// Throws DeviceError where the device cannot run its kernels.
    Measurer(device::Device& gpu, const MeasureRequest& request);
    Measurer(const Measurer&) = delete;
    Measurer& operator=(const Measurer&) = delete;
    ~Measurer();

    /// Throws InputError that names what the launch lacks or the GPU cannot execute, DeviceError where the launch fails
    /// or its memory cannot be had, and TimeLimitError. A RepeatedRunError says that another device can measure the
    /// launch, with Restoring::always.
    [[nodiscard]] Measurement measure(const launch::Launch& launch, Restoring restoring = Restoring::as_needed);
    [[nodiscard]] const std::optional<MeasuredOverhead>& cold_overhead() const { return cold_overhead_; }
    [[nodiscard]] const std::optional<MeasuredOverhead>& warm_overhead() const { return warm_overhead_; }

private:
    class Kernels;
    struct Sample {
        double cycles = 0, nanoseconds = 0, event_nanoseconds = 0, sm_mhz = 0;
    };
    enum class State : std::uint8_t { cold, warm };
    /// Runs a repetition; `kernel` is nullptr where nothing runs between the stamps.
    [[nodiscard]] Sample sample(State state, const device::QueuedLaunch& kernel, bool fills_caches);
    [[nodiscard]] std::vector<Sample> samples(State state, const launch::PlacedLaunch& placed, bool restores,
                                              int count);
    [[nodiscard]] MeasuredOverhead overhead_of(State state);
    [[nodiscard]] MeasuredTime time_of(const std::vector<Sample>& samples, const MeasuredOverhead& overhead) const;
    /// Whether a second run on what the first left differs from the first, in results or in time.
    [[nodiscard]] bool reads_what_it_changes(const launch::Launch& launch);
    /// Runs the launch once on the memory that is there.
    void run_once();
    void check(const launch::Launch& launch) const;
    /// Adds what differs from the memory before the launch to what it changes.
    void find_changes(const launch::Launch& launch);
    void restore();

    device::Device& gpu_;
    MeasureRequest request_;
    std::unique_ptr<Kernels> kernels_;
    std::optional<MeasuredOverhead> cold_overhead_, warm_overhead_;
    launch::PlacedLaunch* placed_ = nullptr;  ///< while measure() runs
    /// Pieces of its buffers that the launch changes, as they were before.
    struct Change {
        std::size_t buffer = 0;
        std::uint64_t offset = 0;
        std::vector<std::byte> before;
    };
    std::vector<Change> changes_;
    std::set<std::pair<std::size_t, std::size_t>> changed_pieces_;  ///< numbers of buffers, and offsets in them
    std::vector<std::size_t> changed_;                              ///< the buffers
    std::chrono::milliseconds limit_;                               ///< of one repetition now
};

}  // namespace gputomo::answer
