// Memory through which the chains of a mix go: each word holds the address of another one, and the address survives
// adding zero as a floating-point number.
#pragma once

#include "device/device.hpp"
#include "ptx/builder.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Lines of 128 bytes. A word holds the address of the same word in the line that is 2^shift lines further on.
class LinkedArray {
public:
    /// A stream for `warps` warps on each SM at once, which read `lines` lines each, with up to kMostChains chains.
    /// Successive chains, 2^shift at a time, are a group and read adjacent lines. Groups do not begin at equal
    /// distances. With a distance that maps to few memory channels (256 KiB on an H200) all groups would use the same
    /// channels, and streams would be up to 8% slower.
    LinkedArray(device::Device& device, std::int64_t warps, std::int64_t lines);
    /// A ring of `lines` lines (a power of two), for loads that hit in a cache.
    [[nodiscard]] static LinkedArray ring(device::Device& device, std::int64_t lines);

    [[nodiscard]] bool is_ring() const { return ring_; }
    /// Adds the arguments for line_parameters(): chains read `lines` lines each, from `first_line` on.
    void add_to(device::Arguments& arguments, std::int64_t first_line, std::int64_t lines) const;
    /// Lines of each chain from the start of one group's part of the array to the next group's, if chains read `lines`
    /// lines each.
    [[nodiscard]] std::int64_t distance(std::int64_t lines) const { return lines + most_scattered(); }
    /// Reserves lines for `chains` chains that read `lines` lines each and returns the first one. These are the lines
    /// whose last use is longest ago. Throws std::logic_error if the array is too small.
    [[nodiscard]] std::int64_t take(std::int64_t chains, std::int64_t lines);
    /// The lower half of the address at which a chain ends after `steps` loads, if chains read `lines` lines each.
    [[nodiscard]] std::uint32_t after(std::int64_t first_line, std::int64_t chain, std::int64_t lines,
                                      std::int64_t steps) const;

    /// Bytes that a warp reads at a time.
    static constexpr std::int64_t kLineBytes = 128;
    /// Chains of a warp for which a stream reserves scattered lines.
    static constexpr std::int64_t kMostChains = 8;

private:
    [[nodiscard]] std::uint32_t mask() const {
        return ring_ ? static_cast<std::uint32_t>(lines_ - 1) : ~std::uint32_t{0};
    }
    /// Most lines of a chain by which a group's begin is displaced.
    [[nodiscard]] std::int64_t most_scattered() const;
    LinkedArray(device::Device& device, std::int64_t lines, std::uint32_t shift, bool ring);

    std::int64_t lines_ = 0;
    std::uint32_t shift_ = 0;
    bool ring_ = false;
    std::int64_t next_ = 0;
    std::vector<device::Buffer> set_aside_;  ///< allocations whose addresses do not survive an add
    device::Buffer buffer_;
};

/// A kernel's parameters for its array, as LinkedArray::add_to() passes them.
struct LineArguments {
    ptx::Reg array, first, each, mask, shift;
};

/// Declares the parameters array (u64), first_line, lines, mask, shift.
[[nodiscard]] LineArguments line_parameters(ptx::KernelBuilder& k);
/// The address (b64) of the first pointer that this thread of chain number `chain` reads. Its line is first + (g x
/// each + s(g)) x 2^shift + chain mod 2^shift, within the mask. Here g = chain / 2^shift is the group, and s(g) is a
/// scattered number from 0 to 2^(shift + 1) - 1 (0 in a ring). The chains of a group read adjacent lines. A pointer
/// has 8 bytes and two threads read it, so a warp reads one line.
[[nodiscard]] ptx::Reg line_address(ptx::KernelBuilder& k, const LineArguments& lines, ptx::Reg chain);

}  // namespace gputomo::measure
