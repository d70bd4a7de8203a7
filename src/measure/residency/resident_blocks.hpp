// How many blocks are resident on one SM at a time, from the SM, start and end that each block records.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::measure {

/// Most blocks that were on an SM at once. Both lists are times of that SM's clock in ascending order.
[[nodiscard]] std::size_t most_at_once(const std::vector<std::int32_t>& starts, const std::vector<std::int32_t>& ends);

/// A kernel whose blocks stay for a while, with a given number of registers or arguments.
class ResidencyProbe {
public:
    struct Shape {
        int live_values = 0;      ///< values that each thread keeps in registers meanwhile
        int extra_arguments = 0;  ///< arguments besides the kernel's own three
    };
    ResidencyProbe(device::Device& device, Shape shape);

    /// Most blocks on one SM at once. `expected` is how many there may be; the grid has some more.
    [[nodiscard]] int blocks_per_sm(int threads, Bytes shared, int expected);
    /// Whether a block of `threads` threads can be launched. If the device refuses, a block of one warp is tried, and
    /// its error is thrown if that fails too.
    [[nodiscard]] bool can_launch(int threads);
    [[nodiscard]] int registers() const { return kernel_.properties().registers_per_thread; }
    [[nodiscard]] bool spills() const { return kernel_.properties().local_per_thread.count() > 0; }
    [[nodiscard]] static int own_arguments();

private:
    void launch(std::uint32_t blocks, int threads, Bytes shared, std::uint32_t cycles);

    device::Device& device_;
    Shape shape_;
    CompiledKernel kernel_;
    device::Buffer data_;
    device::Buffer records_;
};

[[nodiscard]] ptx::KernelBuilder residency_kernel(ptx::Target target, ResidencyProbe::Shape shape);

}  // namespace gputomo::measure
