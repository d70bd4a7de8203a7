// Atomics by many warps, each thread at an address of its own choice, again and again: how long they take together.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "units/warp.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace gputomo::measure {

enum class AtomicKind : std::uint8_t { add_integer, add_float, add_double, compare_swap };
[[nodiscard]] std::string_view name_of(AtomicKind kind);
/// Bytes of the value.
[[nodiscard]] std::uint32_t bytes_of(AtomicKind kind);
/// The lowest compute capability (20 for 2.0) that has it on global memory.
[[nodiscard]] int needed_capability(AtomicKind kind);

class AtomicLoop {
public:
    /// Atomics of a thread in an iteration, and the warps of a block.
    static constexpr int kCount = 8, kWarps = 8;
    /// The offset of a thread that takes no part.
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    /// Throws CodeMismatch if the machine code has other atomics.
    AtomicLoop(device::Device& device, AtomicKind kind, int most_blocks);

    /// Bytes from the start of the array to what a lane of a warp asks for; warps count from 0 over all blocks.
    using OffsetOf = std::function<std::uint32_t(std::uint32_t warp, std::uint32_t lane)>;
    /// Cycles of one warp instruction of all warps together: `iterations` against twice as many, the fastest of `runs`.
    /// nullopt where more of them took no longer.
    std::optional<double> cycles_of_warp(int blocks, const OffsetOf& offset_of, device::Address array, int iterations,
                                         int runs);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    double launch(int blocks, device::Address array, int iterations);

    CompiledKernel kernel_;
    device::Buffer offsets_, results_;
};

}  // namespace gputomo::measure
