// The pointer chase through a memory: every load's address is what the load before it returned.
#pragma once

#include "measure/chase/link_writer.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::measure {

/// The path that a load of the chase takes, and the first cache that it may hit.
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
        start_again;                  ///< of average()'s second walk, where the first leaves traces in a cache
    std::uint32_t warm = 0;           ///< loads before the timed ones, in the same launch
    std::uint32_t loads = 0;          ///< timed loads; a multiple of average_granularity() for average()
    std::optional<std::uint32_t> sm;  ///< run on this SM; nothing: wherever the device puts a lone block
    Bytes shared{0};                  ///< of shared memory that the block takes at least
};

/// Chases pointers with one thread, in two ways that must agree: average() times many loads at once, fine() each load
/// (Mei 2014, Listing 4; where loads went, which its listing records too, is checked by a sum). Clock reads, stores of
/// records and loop control are measured by calibrate() and taken off by whoever asks for latencies.
class PointerChase {
public:
    struct Shape {
        LoadHint hint = LoadHint::all;
        int unroll = 8;  ///< loads per turn of average()'s shorter loop; the longer one's is kLonger times as large
        /// Loads that one launch of fine() records. 7 KiB of records and the 1 KiB that the system takes are the
        /// smallest shared-memory carve-out of current GPUs, so that the L1 keeps nearly all of its memory.
        std::uint32_t records = 3584;
        /// For clocks that step in several cycles: a load's reading is taken from one start to the next, so that what
        /// the steps add to one reading they take off its neighbour, and the mean of many readings is free of them.
        bool start_to_start = false;
        device::Address texture_base = 0;  ///< for LoadHint::texture: where the texture lies
        device::Texture texture = 0;
    };
    static constexpr int kLonger = 3;
    PointerChase(device::Device& device, Shape shape);

    /// Writes the cycle order[0] -> order[1] -> ... -> order[0] where the loads of this chase find it. Addresses of
    /// constants are offsets in their array.
    void write_cycle(std::span<const device::Address> order);

    /// Mean latency of one load: the walk is timed in a short and in a long loop, and what the loops' own instructions
    /// add is extrapolated away; the overhead of the clock reads is taken off. Nothing where no block came to the
    /// wanted SM.
    [[nodiscard]] std::optional<double> average(const ChaseRun& run);
    [[nodiscard]] std::uint32_t average_granularity() const {
        return static_cast<std::uint32_t>(kLonger * shape_.unroll);
    }
    /// Each load's reading. More loads than one launch can record take several launches, each of which walks there from
    /// the start again, so that caches that a launch empties are in the same state. As read, recording overhead
    /// included.
    [[nodiscard]] std::vector<std::uint16_t> fine(const ChaseRun& run);
    /// As fine(), with the overhead of recording taken off each reading.
    [[nodiscard]] std::vector<double> latencies(const ChaseRun& run);
    /// Latencies of `loads` loads of the cycle `order`, already written, after `warm` ones. A later launch starts at
    /// most `rewalk` loads before the first that it records: as many as it takes to bring back what a launch empties,
    /// or 0 where caches outlive a launch. Throws DeviceError when the chase left the cycle.
    [[nodiscard]] std::vector<double> latencies_of_cycle(std::span<const device::Address> order, std::uint64_t warm,
                                                         std::uint64_t loads, std::uint32_t rewalk,
                                                         std::optional<std::uint32_t> sm = std::nullopt);

    /// Measures both overheads on a small cycle of `elements` elements, which any cache holds. Several of them, in
    /// different lines: loads of one and the same line wait for each other in some caches, and more so when nothing is
    /// recorded in between.
    void calibrate(device::Address start, std::uint32_t elements = 1);

    /// Whether calibration met jitter or accidents: what average() gives then holds them.
    [[nodiscard]] bool disturbed() const { return disturbed_; }
    [[nodiscard]] double average_overhead() const { return average_overhead_; }
    [[nodiscard]] double record_overhead() const { return record_overhead_; }
    [[nodiscard]] const Shape& shape() const { return shape_; }
    /// Loads that one launch records; a longer trace has a break there.
    [[nodiscard]] std::uint32_t loads_a_launch() const { return shape_.records - (shape_.start_to_start ? 1 : 0); }
    [[nodiscard]] std::array<const CompiledKernel*, 3> kernels() const { return {&average_, &average_long_, &fine_}; }
    [[nodiscard]] const CompiledKernel& average_kernel() const { return average_long_; }
    [[nodiscard]] const CompiledKernel& fine_kernel() const { return fine_; }

private:
    /// What a load of this chase returns when it leads to `address`.
    [[nodiscard]] std::uint64_t link_to(device::Address address) const;
    /// False where no block came to the wanted SM.
    bool launch(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t iterations);
    std::optional<double> cycles_of(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t unroll);
    /// Cycles of `loads` dependent loads without the loop's part, clock overhead included.
    std::optional<double> total_cycles(const ChaseRun& run);
    /// Of one launch.
    struct Recorded {
        std::vector<std::uint16_t> cycles;  ///< of each load; empty where no block came to the wanted SM
        std::uint32_t sum = 0;              ///< of the low halves of what the loads returned
    };
    Recorded record(const ChaseRun& run, CompiledKernel& kernel);
    /// As record() of fine loads of the cycle `order` from the `at`-th element on. Throws DeviceError when they left
    /// it.
    Recorded record_cycle(std::span<const device::Address> order, std::uint64_t at, const ChaseRun& run);
    /// Of calibration: cycles of a number of loads and of twice as many, and how much a load's share of them differs
    /// between runs.
    struct Totals {
        double once = 0, twice = 0, spread = 0;
    };
    Totals calibration_totals(const ChaseRun& run);
    /// What recording adds to a load where jitter and accidents add to it as well: twice a record of one load, less one
    /// of two loads.
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
/// Records so many loads together.
[[nodiscard]] ptx::KernelBuilder fine_chase_kernel(ptx::Target target, const PointerChase::Shape& shape, int loads = 1);

}  // namespace gputomo::measure
