// Throughput of mixes of one other instruction and arithmetic against occupancy (Volkov 2016, 5.1, 5.5 to 5.7).
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

/// Of one mix at one occupancy, while all warps ran.
struct MixSample {
    int warps = 0;                      ///< on every SM, proven by times and SM numbers
    double instructions_per_cycle = 0;  ///< of the mix, per SM
    double slowest = 1;                 ///< throughput of the slowest warp over the mean: 1 where all go on alike
};

class MixThroughput {
public:
    /// `array` is what loads from memory walk through: a stream for global, a ring that fits for l1 and l2. Others
    /// don't use it.
    MixThroughput(device::Device& device, const MixShape& shape, LinkedArray& array);

    /// Streams are counted for at least so many cycles, in several windows of as many launches where the lines of one
    /// do not last. A GPU's memory may stand still now and then, an H200's every 100 us for 0.85 us: shorter windows
    /// differ by whether that falls into them.
    void set_least_window(double cycles) { least_window_ = std::max(cycles, kLeastWindow); }

    /// Work done in a window of time on every SM in which `warps` warps ran there, all of them from before its start
    /// until behind its end. nullopt where that was not attained. Throws DeviceError where a pointer came out other
    /// than it must.
    [[nodiscard]] std::optional<MixSample> sample(int warps);
    [[nodiscard]] std::optional<double> instructions_per_cycle(int warps);
    /// Cycles per instruction with one warp on each SM. This is the latency if the mix is one chain of one kind of
    /// instruction. nullopt as in sample().
    [[nodiscard]] std::optional<double> cycles_of_one_warp();
    /// The highest rate over these occupancies; 0 if none was attained.
    [[nodiscard]] double most_instructions_per_cycle(std::span<const int> warps);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    [[nodiscard]] const MixShape& shape() const { return shape_; }

    /// Lines that one warp of any shape reads, at most.
    static constexpr std::int64_t kMostLines = 1024;
    /// Cycles of a window at least: a thousand times what reading a clock may be off.
    static constexpr double kLeastWindow = 10'000;

private:
    struct Window {
        double settle = 0;  ///< cycles from a warp's start until it counts
        double cycles = 0;  ///< that count
        double after = 0;   ///< in which slower warps end theirs
    };
    [[nodiscard]] std::vector<MixRecord> run(const BlockShape& blocks, const Window& window);
    [[nodiscard]] std::int64_t iterations_for(const Window& window) const;
    /// The least window, or a shorter one for which the lines last.
    [[nodiscard]] double least_cycles(const Window& window) const;
    /// The turn of one warp on each SM.
    void probe();
    [[nodiscard]] MixSample sample_of(int warps, double iterations_per_cycle, double slowest) const;

    device::Device& device_;
    MixShape shape_;
    LinkedArray& array_;
    CompiledKernel kernel_;
    device::Buffer records_;
    device::Buffer gate_;
    device::Buffer origins_;       ///< of the times of each SM
    std::uint32_t gate_goal_ = 0;  ///< blocks that have come to the gate when those of the last launch have
    std::int64_t sms_ = 1;
    double least_window_ = kLeastWindow;
    double shortest_iteration_ = 0;  ///< cycles, of any warp in the last sample
    double iteration_cycles_ = 0;    ///< cycles of a typical turn of the last sample
    double iterations_ = 0;          ///< of its window
    double skew_ = 0;                ///< cycles between starts on one SM
};

}  // namespace gputomo::measure
