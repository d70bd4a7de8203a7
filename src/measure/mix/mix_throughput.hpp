// Throughput of mixes of arithmetic and one other instruction against occupancy (Volkov 2016, 5.1, 5.5 to 5.7).
#pragma once

#include "measure/mix/linked_array.hpp"
#include "measure/mix/mix_kernel.hpp"
#include "measure/residency/occupancy_control.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::measure {

/// One mix at one occupancy, while all warps ran.
struct MixSample {
    int warps = 0;                      ///< on every SM, proven by times and SM numbers
    double instructions_per_cycle = 0;  ///< of the mix, per SM
    double slowest = 1;  ///< throughput of the slowest warp relative to the mean; 1 if all progress alike
};

/// Measures one mix at any occupancy, in windows of time in which all warps run.
class MixThroughput {
public:
    /// Loads read `array`: a stream for global, a ring that fits the cache for l1 and l2. Other kinds do not use it.
    MixThroughput(device::Device& device, const MixShape& shape, LinkedArray& array);

    /// Streams are counted for at least this many cycles. If the lines of one launch do not last, several launches
    /// share the time. GPU memory may pause now and then (an H200's for 0.85 us every 100 us), and the results of
    /// shorter windows depend on whether they contain a pause.
    void set_least_window(double cycles) { least_window_ = std::max(cycles, kLeastWindow); }

    /// The work done in a window of time on every SM by `warps` warps that were all resident before it began and after
    /// it ended. The result is nullopt if that was not attained. Throws DeviceError if a pointer ends at the wrong
    /// place.
    [[nodiscard]] std::optional<MixSample> sample(int warps);
    [[nodiscard]] std::optional<double> instructions_per_cycle(int warps);
    /// Cycles per instruction with one warp on each SM. This is the latency if the mix is one chain of one kind of
    /// instruction. nullopt as in sample().
    [[nodiscard]] std::optional<double> cycles_of_one_warp();
    /// The highest rate over these occupancies; 0 if none was attained.
    [[nodiscard]] double most_instructions_per_cycle(std::span<const int> warps);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    [[nodiscard]] const MixShape& shape() const { return shape_; }

    /// Most lines that one warp of any shape reads.
    static constexpr std::int64_t kMostLines = 1024;
    /// Fewest cycles of a window: a thousand times the error of a clock read.
    static constexpr double kLeastWindow = 10'000;

private:
    struct Window {
        double settle = 0;  ///< cycles from a warp's start until it counts
        double cycles = 0;  ///< cycles that count
        double after = 0;   ///< cycles in which slower warps finish theirs
    };
    [[nodiscard]] std::vector<MixRecord> run(const BlockShape& blocks, const Window& window);
    [[nodiscard]] std::int64_t iterations_for(const Window& window) const;
    /// The least window, or a shorter one for which the lines last.
    [[nodiscard]] double least_cycles(const Window& window) const;
    /// Measures the iteration time of one warp on each SM.
    void probe();
    [[nodiscard]] MixSample sample_of(int warps, double iterations_per_cycle, double slowest) const;

    device::Device& device_;
    MixShape shape_;
    LinkedArray& array_;
    CompiledKernel kernel_;
    device::Buffer records_;
    device::Buffer gate_;
    device::Buffer origins_;       ///< zero of each SM's times
    std::uint32_t gate_goal_ = 0;  ///< arrivals at the gate when all blocks of the last launch have come
    std::int64_t sms_ = 1;
    double least_window_ = kLeastWindow;
    double shortest_iteration_ = 0;  ///< cycles, of any warp in the last sample
    double iteration_cycles_ = 0;    ///< cycles, of a typical warp in the last sample
    double iterations_ = 0;          ///< in its window
    double skew_ = 0;                ///< most cycles between starts on one SM
};

}  // namespace gputomo::measure
