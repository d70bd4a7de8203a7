// Writes the linked lists that chases follow: into device memory, a texture, or a module's constants.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gputomo::measure {

/// Writes linked lists into device memory. A kernel stores each address at the address before it, so a few elements
/// spread over gigabytes cost as little as neighbours.
class LinkWriter {
public:
    explicit LinkWriter(device::Device& device);
    /// Writes the cycle order[0] -> order[1] -> ... -> order[0].
    void write_cycle(std::span<const device::Address> order) { write(order, 0); }
    /// Writes the same cycle as indices of 4-byte texels of a texture that begins at `base`.
    void write_texels(std::span<const device::Address> order, device::Address base) { write(order, base); }

private:
    void write(std::span<const device::Address> order, device::Address texels);
    device::Device& device_;
    CompiledKernel kernel_;
};

/// The constants of a module and the links between them. Addresses are byte offsets in constant_array().
class ConstantLinks {
public:
    /// The module must hold constant_array() and constant_base_kernel().
    ConstantLinks(device::Device& device, const std::shared_ptr<device::Module>& module);
    [[nodiscard]] std::uint64_t link_to(device::Address offset) const { return begin_ + offset; }
    /// Adds the cycle order[0] -> order[1] -> ... -> order[0] to what has been written.
    void write_cycle(std::span<const device::Address> order);

private:
    device::Device& device_;
    /// address of the array for copies from the host
    device::Address for_host_ = 0;
    std::uint64_t begin_ = 0;  ///< address of the array for ld.const
    std::vector<std::uint64_t> links_;
};

/// Size of the constants that a module may have.
inline constexpr Bytes kConstantBytes{64 * 1024};

/// Writes u64 addresses, or u32 texel indices relative to `texels` if that is not 0.
[[nodiscard]] ptx::KernelBuilder link_writer_kernel(ptx::Target target);
/// The constants that a chase with LoadHint::constant follows.
[[nodiscard]] ptx::ModuleArray constant_array();
/// Stores the address at which ld.const finds the array.
[[nodiscard]] ptx::KernelBuilder constant_base_kernel(ptx::Target target);

}  // namespace gputomo::measure
