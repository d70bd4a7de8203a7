#include "measure/mix/linked_array.hpp"

#include "measure/kernel/device_facts.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gputomo::measure {
namespace {

/// As floating-point numbers, bit patterns from here on are infinite or NaN, and an add may change them.
constexpr std::uint32_t kInfinity = 0x7f800000;
/// The sign bit of a floating-point number.
constexpr std::uint32_t kSign = 0x80000000;
/// Allocations that are tried. The second one usually lies elsewhere.
constexpr int kMostTries = 8;
/// Addresses that are NaN lie together: 8 MiB of each 2 GiB. A small allocation would again lie beside the one that
/// failed, in the same piece of the driver's memory.
constexpr std::int64_t kFartherApart = std::int64_t{8} << 20;
/// 2^this chains of a stream read adjacent lines (2 KiB), as the threads of a block do (Volkov 2016, 5.10).
constexpr std::uint32_t kStreamShift = 4;

/// A multiplicative hash scatters the groups (Knuth 1973, 6.4): bits from bit 16 on of g times 2^32 divided by the
/// golden ratio.
constexpr std::uint32_t kHash = 0x9E3779B1;
constexpr std::uint32_t kHashShift = 16;

/// The mask of a group's scatter for groups of 2^shift chains: all ones below 2^(shift + 1). It leaves a ring nothing
/// to scatter between its chains, which are groups of one.
std::uint32_t scatter_mask(std::uint32_t shift) {
    const std::uint32_t side = (std::uint32_t{1} << shift) - 1;
    return side << 1 | side;
}

bool survives_adding(device::Address first, std::int64_t bytes) {
    const device::Address last = first + static_cast<device::Address>(bytes) - 1;
    if (first >> 32 != last >> 32) return false;
    const auto low = static_cast<std::uint32_t>(first), high = static_cast<std::uint32_t>(last);
    return (low ^ high) < kSign && (high & ~kSign) < kInfinity;
}

std::int64_t streamed_lines(const device::Device& device, std::int64_t warps, std::int64_t lines) {
    constexpr std::int64_t kStep = std::int64_t{1} << kStreamShift;
    const std::int64_t scattered = LinkedArray::kMostChains * (scatter_mask(kStreamShift) + 1);
    return (std::int64_t{sms_of(device)} * warps + kStep - 1) / kStep * kStep * (lines + scattered);
}

}  // namespace

LinkedArray::LinkedArray(device::Device& device, std::int64_t warps, std::int64_t lines)
    : LinkedArray(device, streamed_lines(device, warps, lines), kStreamShift, false) {}

LinkedArray LinkedArray::ring(device::Device& device, std::int64_t lines) { return {device, lines, 0, true}; }

LinkedArray::LinkedArray(device::Device& device, std::int64_t lines, std::uint32_t shift, bool ring)
    : lines_(lines), shift_(shift), ring_(ring) {
    const std::int64_t step = std::int64_t{1} << shift,
                       bytes = (lines_ + (ring ? 0 : step)) * kLineBytes;  // the last links need a target
    buffer_ = device::Buffer(device, Bytes{bytes});
    for (int i = 0; !survives_adding(buffer_.address(), bytes); ++i) {
        if (i == kMostTries)
            throw DeviceError(
                fmt::format("{}: {} allocations of {} bytes lie where addresses change when zero is added; expected "
                            "one where they do not",
                            device.name(), i + 1, bytes));
        set_aside_.push_back(std::move(buffer_));
        buffer_ = device::Buffer(device, Bytes{std::max(bytes, kFartherApart)});
    }
    set_aside_.clear();
    std::vector<std::uint64_t> links(static_cast<std::size_t>(bytes / 8));
    const std::uint64_t size = static_cast<std::uint64_t>(lines_) * kLineBytes;
    for (std::size_t i = 0; i < links.size(); ++i) {
        const std::uint64_t next = 8 * i + static_cast<std::uint64_t>(step * kLineBytes);
        links[i] = buffer_.address() + (ring ? next % size : next);
    }
    buffer_.write(links);
}

std::int64_t LinkedArray::most_scattered() const { return scatter_mask(shift_); }

void LinkedArray::add_to(device::Arguments& arguments, std::int64_t first_line, std::int64_t lines) const {
    arguments.add(buffer_.address())
        .add(static_cast<std::uint32_t>(first_line))
        .add(static_cast<std::uint32_t>(distance(lines)))
        .add(mask())
        .add(shift_);
}

std::int64_t LinkedArray::take(std::int64_t chains, std::int64_t lines) {
    if (ring_) return 0;
    const std::int64_t step = std::int64_t{1} << shift_, taken = (chains + step - 1) / step * step * distance(lines);
    if (taken > lines_)
        throw std::logic_error(fmt::format("LinkedArray::take: expected at most {1} lines, got {0}", taken, lines_));
    if (next_ + taken > lines_) next_ = 0;
    return std::exchange(next_, next_ + taken);
}

std::uint32_t LinkedArray::after(std::int64_t first_line, std::int64_t chain, std::int64_t lines,
                                 std::int64_t steps) const {
    const std::int64_t step = std::int64_t{1} << shift_;
    const auto group = static_cast<std::uint32_t>(chain / step);
    const std::int64_t scattered = group * kHash >> kHashShift & scatter_mask(shift_);
    const std::int64_t line = first_line + (group * distance(lines) + scattered + steps) * step + chain % step;
    return static_cast<std::uint32_t>(buffer_.address() +
                                      static_cast<device::Address>((ring_ ? line % lines_ : line) * kLineBytes));
}

LineArguments line_parameters(ptx::KernelBuilder& k) {
    using ptx::Type;
    const auto array = k.param(Type::u64, "array"), first = k.param(Type::u32, "first_line"),
               each = k.param(Type::u32, "lines"), mask = k.param(Type::u32, "mask");
    return {array, first, each, mask, k.param(Type::u32, "shift")};
}

ptx::Reg line_address(ptx::KernelBuilder& k, const LineArguments& lines, ptx::Reg chain) {
    using ptx::Type;
    constexpr int kPointerBytes = 8, kThreadsOfPointerShift = 1;
    const auto line = k.reg(Type::u32), side_line = k.reg(Type::u32), side = k.reg(Type::u32), word = k.reg(Type::u32),
               pair = k.reg(Type::u32);
    const auto scattered = k.reg(Type::u32), mask = k.reg(Type::u32);
    k("shr.u32", pair, k.special(ptx::SpecialRegister::laneid), kThreadsOfPointerShift);
    k("mov.u32", side, 1);
    k("shl.b32", side, side, lines.shift);
    k("sub.u32", side, side, 1);
    k("and.b32", side_line, chain, side);
    k("shr.u32", line, chain, lines.shift);
    k("shl.b32", mask, side, 1);
    k("or.b32", mask, mask, side);
    k("mul.lo.u32", scattered, line, static_cast<std::int64_t>(kHash));
    k("shr.u32", scattered, scattered, static_cast<int>(kHashShift));
    k("and.b32", scattered, scattered, mask);
    k("mul.lo.u32", line, line, lines.each);
    k("add.u32", line, line, scattered);
    k("shl.b32", line, line, lines.shift);
    k("add.u32", line, line, side_line);
    k("add.u32", line, line, lines.first);
    k("and.b32", line, line, lines.mask);
    k("mad.lo.u32", word, line, static_cast<int>(LinkedArray::kLineBytes / kPointerBytes), pair);
    const auto address = k.reg(Type::b64);
    k("mov.b64", address, k.element(lines.array, word, Bytes{kPointerBytes}));
    return address;
}

}  // namespace gputomo::measure
