// The pointer chase: every load's address is what the load before it returned.
#pragma once

#include "measure/chase/link_writer.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::measure {

/// The path that a load of the chase takes, and so the first cache that it may hit.
enum class LoadHint : std::uint8_t {
    all,       ///< ld.global.ca
    l2_only,   ///< ld.global.cg
    none,      ///< ld.volatile.global
    constant,  ///< ld.const of a module's constants, which the chase owns
    texture,   ///< tex.1d of a linear texture
};

/// Where in the cycle and on which SM a chase runs.
struct ChaseRun {
    device::Address start = 0;  ///< first address loaded
    std::optional<device::Address>
        start_again;                  ///< start of average()'s second run, for chases that leave traces in a cache
    std::uint32_t warm = 0;           ///< untimed loads before the timed ones, in the same launch
    std::uint32_t loads = 0;          ///< timed loads; for average() a multiple of average_granularity()
    std::optional<std::uint32_t> sm;  ///< run on this SM; nullopt: wherever the device puts a single block
    Bytes shared{0};                  ///< least shared memory that the block takes
};

/// Chases pointers with one thread in two ways that must agree. average() times many loads together, fine() times each
/// load (Mei 2014, Listing 4). The listing also records where each load went; here a checksum verifies it. The
/// overhead of clock reads, records and loop control, which calibrate() measures, is subtracted by latencies() and
/// average().
class PointerChase {
public:
    struct Shape {
        LoadHint hint = LoadHint::all;
        /// loads in an iteration of average()'s shorter loop; the longer loop has kLonger times as many
        int unroll = 8;
        /// Number of loads that one launch of fine() records: 7 KiB. Together with the 1 KiB that the system takes
        /// they fill the smallest shared-memory carve-out of current GPUs, so the L1 keeps nearly all of its memory.
        std::uint32_t records = 3584;
        /// For clocks that step in several cycles: a reading goes from one load's start to the next one's. What a step
        /// adds to one reading it takes from its neighbour, so the mean of many readings is free of steps.
        bool start_to_start = false;
        device::Address texture_base = 0;  ///< where the texture lies, for LoadHint::texture
        device::Texture texture = 0;
    };
    /// Ratio of the two loops' lengths. The larger it is, the better is the extrapolation, but the loop has to fit an
    /// instruction cache.
    static constexpr int kLonger = 3;
    PointerChase(device::Device& device, Shape shape);

    /// Writes the cycle order[0] -> order[1] -> ... -> order[0] where the loads of this chase find it. Addresses of
    /// constants are byte offsets in their array.
    void write_cycle(std::span<const device::Address> order);

    /// Mean latency of one load in cycles. The loads are timed in a short and in a long loop, and the cost of the
    /// loops' own instructions is extrapolated away. The overhead of the clock reads is subtracted. nullopt if no
    /// block reached the wanted SM.
    [[nodiscard]] std::optional<double> average(const ChaseRun& run);
    [[nodiscard]] std::uint32_t average_granularity() const {
        return static_cast<std::uint32_t>(kLonger * shape_.unroll);
    }
    /// Cycles of each load, recording overhead included. If one launch cannot record all loads, each further launch
    /// repeats the loads from the start on. Caches that a launch empties are then in the same state.
    [[nodiscard]] std::vector<std::uint16_t> fine(const ChaseRun& run);
    /// As fine(), with the recording overhead subtracted from each reading.
    [[nodiscard]] std::vector<double> latencies(const ChaseRun& run);
    /// Latencies in cycles of `loads` loads of the written cycle `order`, after `warm` untimed ones. A later launch
    /// repeats at most `replayed` loads before it records: as many as bring back what a launch empties, or 0 if caches
    /// outlive a launch. Throws DeviceError if the chase left the cycle.
    [[nodiscard]] std::vector<double> latencies_of_cycle(std::span<const device::Address> order, std::uint64_t warm,
                                                         std::uint64_t loads, std::uint32_t replayed,
                                                         std::optional<std::uint32_t> sm = std::nullopt);

    /// Measures both overheads on a small cycle of `elements` elements, which must fit any cache. They should lie in
    /// different lines: in some caches loads of the same line wait for each other, the more so if nothing is recorded
    /// in between.
    void calibrate(device::Address start, std::uint32_t elements = 1);

    /// Whether calibration met jitter or outliers. If so, results of average() contain them.
    [[nodiscard]] bool disturbed() const { return disturbed_; }
    [[nodiscard]] double average_overhead() const { return average_overhead_; }
    [[nodiscard]] double record_overhead() const { return record_overhead_; }
    [[nodiscard]] const Shape& shape() const { return shape_; }
    /// Loads that one launch records. A longer trace has a break there.
    [[nodiscard]] std::uint32_t loads_a_launch() const { return shape_.records - (shape_.start_to_start ? 1 : 0); }
    [[nodiscard]] std::array<const CompiledKernel*, 3> kernels() const { return {&average_, &average_long_, &fine_}; }
    [[nodiscard]] const CompiledKernel& average_kernel() const { return average_long_; }
    [[nodiscard]] const CompiledKernel& fine_kernel() const { return fine_; }

private:
    /// What a load of this chase returns if it leads to `address`.
    [[nodiscard]] std::uint64_t link_to(device::Address address) const;
    /// Returns false if no block reached the wanted SM.
    bool launch(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t iterations);
    std::optional<double> cycles_of(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t unroll);
    /// Cycles of `loads` dependent loads without the cost of the loop, clock overhead included.
    std::optional<double> total_cycles(const ChaseRun& run);
    /// The records of one launch.
    struct Recorded {
        std::vector<std::uint16_t> cycles;  ///< of each load; empty if no block reached the wanted SM
        std::uint32_t sum = 0;              ///< of the low halves of what the loads returned
    };
    Recorded record(const ChaseRun& run, CompiledKernel& kernel);
    /// As record() with fine_, for a part of the cycle `order` that begins at element `at`. Throws DeviceError if the
    /// loads left the cycle.
    Recorded record_cycle(std::span<const device::Address> order, std::uint64_t at, const ChaseRun& run);
    /// Calibration: cycles of a number of loads and of twice as many, and the largest difference between runs in
    /// cycles per load.
    struct Totals {
        double once = 0, twice = 0, spread = 0;
    };
    Totals calibration_totals(const ChaseRun& run);
    /// The recording overhead where jitter and outliers disturb single readings: twice a record of one load, less a
    /// record of two loads.
    double disturbed_record_overhead(ChaseRun run, std::uint32_t elements);

    device::Device& device_;
    Shape shape_;
    std::shared_ptr<device::Module> module_;
    LinkWriter writer_;
    CompiledKernel average_;
    CompiledKernel average_long_;
    CompiledKernel fine_;
    device::Buffer results_;
    double average_overhead_ = 0;
    double record_overhead_ = 0;
    bool disturbed_ = false;
    std::uint32_t sms_ = 1;
    std::optional<ConstantLinks> constants_;
};

[[nodiscard]] ptx::KernelBuilder average_chase_kernel(ptx::Target target, LoadHint hint, int unroll);
/// Each record covers `loads` loads.
[[nodiscard]] ptx::KernelBuilder fine_chase_kernel(ptx::Target target, const PointerChase::Shape& shape, int loads = 1);

}  // namespace gputomo::measure
