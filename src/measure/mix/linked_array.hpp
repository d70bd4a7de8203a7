// Memory through which the chains of a mix walk: each word holds the address of one some lines further on, and survives
// adding zero.
#pragma once

#include "device/device.hpp"
#include "ptx/builder.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Lines of 128 bytes. A word holds the address of the same word of the line 2^shift further on.
class LinkedArray {
public:
    /// For streams: `warps` warps on each SM at once that each read `lines`, with up to kMostChains chains. Chains read
    /// 2^shift lines side by side; 2^shift chains after each other are a group. Groups don't begin at equal distances:
    /// where those are bad for the channels of a memory (256 KiB on an H200), all groups meet at the same ones, and
    /// streams are up to 8% slower.
    LinkedArray(device::Device& device, std::int64_t warps, std::int64_t lines);
    /// A ring of a power of two of lines, for loads that hit in a cache.
    [[nodiscard]] static LinkedArray ring(device::Device& device, std::int64_t lines);

    [[nodiscard]] bool is_ring() const { return ring_; }
    /// Arguments for line_parameters(): chains that read `lines` each, from that line on.
    void add_to(device::Arguments& arguments, std::int64_t first_line, std::int64_t lines) const;
    /// Lines of a chain from the beginning of one group's part of the array to the next one's, where chains read
    /// `lines` each.
    [[nodiscard]] std::int64_t distance(std::int64_t lines) const { return lines + most_scattered(); }
    /// First of the lines for `chains` chains that each read `lines`, which were not read for as long as the array
    /// allows. Throws std::logic_error for more than it has.
    [[nodiscard]] std::int64_t take(std::int64_t chains, std::int64_t lines);
    /// The lower half of the address at which a chain ends after `steps` loads, where chains read `lines` each.
    [[nodiscard]] std::uint32_t after(std::int64_t first_line, std::int64_t chain, std::int64_t lines,
                                      std::int64_t steps) const;

    static constexpr std::int64_t kLineBytes = 128;
    static constexpr std::int64_t kMostChains = 8;

private:
    [[nodiscard]] std::uint32_t mask() const {
        return ring_ ? static_cast<std::uint32_t>(lines_ - 1) : ~std::uint32_t{0};
    }
    /// Lines of a chain by which a group begins later in its part, at most.
    [[nodiscard]] std::int64_t most_scattered() const;
    LinkedArray(device::Device& device, std::int64_t lines, std::uint32_t shift, bool ring);

    std::int64_t lines_ = 0;
    std::uint32_t shift_ = 0;
    bool ring_ = false;
    std::int64_t next_ = 0;
    std::vector<device::Buffer> set_aside_;  ///< whose addresses don't survive an add
    device::Buffer buffer_;
};

/// What a kernel is told of the array that it walks through, by LinkedArray::add_to().
struct LineArguments {
    ptx::Reg array, first, each, mask, shift;
};

/// The parameters array (u64), first_line, lines, mask, shift.
[[nodiscard]] LineArguments line_parameters(ptx::KernelBuilder& k);
/// The address (b64) of the pointer that this thread of chain number `chain` begins with: line first + (g x each +
/// s(g)) x 2^shift + c mod 2^shift of group g = c / 2^shift, with s(g) from 0 to 2^(shift + 1) - 1 in no order (0 in a
/// ring), within the mask, so that 2^shift chains read side by side. A pointer has 8 bytes and is read by two threads,
/// so that a warp reads one line.
[[nodiscard]] ptx::Reg line_address(ptx::KernelBuilder& k, const LineArguments& lines, ptx::Reg chain);

}  // namespace gputomo::measure
