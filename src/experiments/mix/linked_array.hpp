// Memory through which the chains of a mix walk: each word holds the address of one some lines further on, and survives adding zero.
#pragma once

#include "device/device.hpp"
#include "ptx/builder.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::experiments {

/// Lines of 128 bytes. A word holds the address of the same word of the line 2^shift further on.
class LinkedArray {
public:
    /// For streams: `warps` warps on each SM at once that each read `lines`. Chains read 2^shift lines side by side.
    LinkedArray(device::Device& device, std::int64_t warps, std::int64_t lines);
    /// A ring of a power of two of lines, for loads that hit in a cache.
    [[nodiscard]] static LinkedArray ring(device::Device& device, std::int64_t lines);

    [[nodiscard]] device::Address address() const { return buffer_.address(); }
    [[nodiscard]] bool is_ring() const { return ring_; }
    [[nodiscard]] std::uint32_t shift() const { return shift_; }
    [[nodiscard]] std::uint32_t mask() const { return ring_ ? static_cast<std::uint32_t>(lines_ - 1) : ~std::uint32_t{0}; }
    /// First of the lines for `chains` chains that each read `lines`, which were not read for as long as the array allows.
    /// Throws std::logic_error for more than it has.
    [[nodiscard]] std::int64_t take(std::int64_t chains, std::int64_t lines);
    /// The lower half of the address at which a chain ends after `steps` loads, where chains read `lines` each.
    [[nodiscard]] std::uint32_t after(std::int64_t first_line, std::int64_t chain, std::int64_t lines, std::int64_t steps) const;

    static constexpr std::int64_t kLineBytes = 128;

private:
    LinkedArray(device::Device& device, std::int64_t lines, std::uint32_t shift, bool ring);

    std::int64_t lines_ = 0;
    std::uint32_t shift_ = 0;
    bool ring_ = false;
    std::int64_t next_ = 0;
    std::vector<device::Buffer> set_aside_;  ///< whose addresses don't survive an add
    device::Buffer buffer_;
};

/// What a kernel is told of the array that it walks through. LinkedArray has these values.
struct LineArguments {
    ptx::Reg array, first, each, mask, shift;
};

/// The parameters array (u64), first_line, lines, mask, shift.
[[nodiscard]] LineArguments line_parameters(ptx::KernelBuilder& k);
/// The address (b64) of the pointer that this thread of chain number `chain` begins with: line first + (c / 2^shift) x each x 2^shift + c mod 2^shift,
/// within the mask, so that 2^shift chains read side by side. A pointer has 8 bytes and is read by two threads, so that a warp reads one line.
[[nodiscard]] ptx::Reg line_address(ptx::KernelBuilder& k, const LineArguments& lines, ptx::Reg chain);

}  // namespace gputomo::experiments
