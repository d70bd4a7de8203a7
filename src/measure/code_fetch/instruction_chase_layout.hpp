// Where the compiler put the dispatcher and the slots of the chase through code, and the filling that aligns them.
#pragma once

#include "measure/code_fetch/instruction_chase_kernel.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gputomo::measure::code_chase {

/// Where the parts of the code lie, in instructions from the start of the kernel.
struct Layout {
    std::size_t dispatcher = 0, length = 0;  ///< of the dispatcher, up to its jump
    std::size_t first_slot = 0;
    /// The compiler put the dispatcher, or a part of it, after the slots.
    [[nodiscard]] bool apart() const { return dispatcher > first_slot; }
};

/// The kernel for this device and number of slots, padded so that the parts lie as they should.
[[nodiscard]] ptx::KernelBuilder kernel_of(device::Device& device, std::uint32_t slots);
/// nullopt if the machine code has an unknown layout.
[[nodiscard]] std::optional<Layout> layout_in(const CompiledKernel& compiled, const ptx::KernelBuilder& written,
                                              std::uint32_t slots);

}  // namespace gputomo::measure::code_chase
