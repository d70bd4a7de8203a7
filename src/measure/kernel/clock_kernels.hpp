// Kernels that read the clock register: back to back, around loads, at the start of blocks, at both ends of a spin.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Differences of clock readings in cycles, over all SMs.
struct ClockReadings {
    std::vector<std::int64_t> back_to_back;  ///< differences of neighbouring reads, after a warm-up
    std::vector<std::int64_t> all;  ///< differences of every reading to its SM's first one, over several launches
    std::vector<results::CodeCheck> code_checks;
};

/// Runs one thread on every SM.
[[nodiscard]] ClockReadings read_clocks(device::Device& device);

/// A block's SM and that SM's clock when the block started.
struct BlockStart {
    std::uint32_t sm = 0;
    std::uint32_t clock = 0;
};

/// Starts of the blocks of one launch, `per_sm` for every SM.
[[nodiscard]] std::vector<BlockStart> block_starts(device::Device& device, std::uint32_t per_sm);

/// Spins for a number of cycles.
class Spinner {
public:
    explicit Spinner(device::Device& device);
    struct Result {
        std::uint32_t cycles = 0;  ///< from the first to the last clock read
        Nanoseconds elapsed{0};    ///< of the launch
    };
    Result run(std::uint32_t cycles);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    CompiledKernel kernel_;
    device::Buffer stamps_;
};

}  // namespace gputomo::measure
