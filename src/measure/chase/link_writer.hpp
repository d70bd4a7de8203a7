// Writes the linked lists that chases follow: into device memory, a texture, or a module's constants.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gputomo::measure {

/// Writes linked lists into device memory: a kernel stores each address at the one before it, so that a few elements
/// spread over gigabytes cost as little as neighbours.
class LinkWriter {
public:
    explicit LinkWriter(device::Device& device);
    /// The cycle order[0] -> order[1] -> ... -> order[0].
    void write_cycle(std::span<const device::Address> order) { write(order, 0); }
    /// The same as numbers of 4-byte texels of a texture that begins at `base`.
    void write_texels(std::span<const device::Address> order, device::Address base) { write(order, base); }

private:
    void write(std::span<const device::Address> order, device::Address texels);
    device::Device& device_;
    CompiledKernel kernel_;
};

/// The constants of a module and what their loads follow. Addresses are offsets in the array.
class ConstantLinks {
public:
    /// The module holds constant_array() and constant_base_kernel().
    ConstantLinks(device::Device& device, const std::shared_ptr<device::Module>& module);
    [[nodiscard]] std::uint64_t link_to(device::Address offset) const { return begin_ + offset; }
    /// Adds the cycle order[0] -> order[1] -> ... to what has been written.
    void write_cycle(std::span<const device::Address> order);

private:
    device::Device& device_;
    device::Address for_host_ = 0;
    std::uint64_t begin_ = 0;  ///< for loads of constants
    std::vector<std::uint64_t> links_;
};

/// What a module may have of constants.
inline constexpr Bytes kConstantBytes{64 * 1024};

/// Links: u64 addresses, or for `texels` other than 0 u32 numbers of texels from there on.
[[nodiscard]] ptx::KernelBuilder link_writer_kernel(ptx::Target target);
/// The constants that a chase with LoadHint::constant follows.
[[nodiscard]] ptx::ModuleArray constant_array();
/// Stores where the array begins, in the addresses of constants.
[[nodiscard]] ptx::KernelBuilder constant_base_kernel(ptx::Target target);

}  // namespace gputomo::measure
