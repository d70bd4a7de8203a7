// Where the compiler put the dispatcher and the slots of the chase through code, and the filling that aligns them.
#pragma once

#include "measure/code_fetch/instruction_chase_kernel.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gputomo::measure::code_chase {

/// Where the parts of the code lie, in instructions from the kernel's begin.
struct Layout {
    std::size_t dispatcher = 0, length = 0;  ///< up to its jump
    std::size_t first_slot = 0;
    /// The compiler put the dispatcher, or a part of it, behind the slots.
    [[nodiscard]] bool apart() const { return dispatcher > first_slot; }
};

/// For that device and so many slots, filled up so that the parts lie as they should.
[[nodiscard]] ptx::KernelBuilder kernel_of(device::Device& device, std::uint32_t slots);
/// Nothing where the machine code is none that is known.
[[nodiscard]] std::optional<Layout> layout_in(const CompiledKernel& compiled, const ptx::KernelBuilder& written,
                                              std::uint32_t slots);

}  // namespace gputomo::measure::code_chase
