// How many blocks are on one SM at a time: from the SM, the start and the end that each block records.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::measure {

/// Most blocks that were on an SM at once; both lists, of its clock, in order of time.
[[nodiscard]] std::size_t most_at_once(const std::vector<std::int32_t>& starts, const std::vector<std::int32_t>& ends);

/// A kernel whose blocks stay for a while, with as many registers or arguments as asked.
class ResidencyProbe {
public:
    struct Shape {
        int live_values = 0;      ///< values that each thread holds meanwhile
        int extra_arguments = 0;  ///< besides its own three
    };
    ResidencyProbe(device::Device& device, Shape shape);

    /// Most blocks on one SM at once; `expected` is how many there may be, so that the grid has some more.
    [[nodiscard]] int blocks_per_sm(int threads, Bytes shared, int expected);
    /// Whether a block of so many threads can be launched. A device that refuses is asked again for a block of one
    /// warp, and throws what it threw where it refuses that too.
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
