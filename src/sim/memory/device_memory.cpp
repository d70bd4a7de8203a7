#include "sim/memory/device_memory.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace gputomo::sim {
namespace {

/// Allocations start at multiples of their size, as the driver's do, within these limits. The largest is the driver's
/// page; the smallest is also the gap between two allocations.
constexpr std::uint64_t kLargestAlignment = std::uint64_t{2} << 20;
constexpr std::uint64_t kSmallestAlignment = 512;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

/// The operating system provides calloc's pages when they are first touched, so a large sparse allocation takes only
/// the memory that is used.
std::shared_ptr<std::byte> zeroed(std::uint64_t bytes) {
    auto* memory = static_cast<std::byte*>(std::calloc(bytes, 1));
    if (memory == nullptr)
        throw DeviceError(fmt::format("allocate: the host has no {} bytes for simulated memory", bytes));
    return {memory, [](std::byte* p) { std::free(p); }};
}

}  // namespace

std::uint64_t DeviceMemory::add(Range range, std::uint64_t alignment) {
    if (range.backed == 0) throw DeviceError("allocate: 0 bytes were asked for; expected at least 1");
    if (range.backed > capacity_ - std::min(capacity_, used_))
        throw DeviceError(fmt::format("allocate: out of memory ({} bytes asked, {} of {} free)", range.backed,
                                      capacity_ - used_, capacity_));
    range.bytes = zeroed(range.backed);
    range.physical = next_physical_ = round_up(next_physical_, alignment);
    next_physical_ += range.backed;
    const std::uint64_t base = next_virtual_ = round_up(next_virtual_, alignment);
    next_virtual_ += range.size + kSmallestAlignment;  // a gap, so that an overrun is an illegal address
    used_ += range.backed;
    ranges_.emplace(base, std::move(range));
    last_ = {};
    return base;
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes) {
    const auto alignment =
        std::clamp(std::bit_ceil(std::max<std::uint64_t>(bytes, 1)), kSmallestAlignment, kLargestAlignment);
    return add({bytes, bytes, bytes, 0, nullptr}, alignment);
}

std::uint64_t DeviceMemory::map_aliased(std::uint64_t physical_bytes, std::uint64_t stride, std::uint64_t window) {
    return add({window, stride, physical_bytes, 0, nullptr}, kLargestAlignment);
}

void DeviceMemory::free(std::uint64_t address) noexcept {
    const auto found = ranges_.find(address);
    if (found == ranges_.end()) return;
    used_ -= found->second.backed;
    ranges_.erase(found);
    last_ = {};
}

const DeviceMemory::Found& DeviceMemory::find(std::uint64_t address) const {
    if (last_.range != nullptr && address - last_.base < last_.range->size) return last_;
    auto after = ranges_.upper_bound(address);
    if (after == ranges_.begin()) {
        last_ = {};
    } else {
        --after;
        last_ = {after->first, address - after->first < after->second.size ? &after->second : nullptr};
    }
    return last_;
}

std::byte* DeviceMemory::resolve(std::uint64_t address, std::uint64_t bytes) const {
    const Found& found = find(address);
    if (found.range == nullptr) return nullptr;
    const std::uint64_t offset = address - found.base;
    if (offset + bytes > found.range->size) return nullptr;
    const std::uint64_t inside = found.range->stride == found.range->size ? offset : offset % found.range->stride;
    if (inside + bytes > found.range->backed) return nullptr;
    return found.range->bytes.get() + inside;
}

bool DeviceMemory::is_plain(std::uint64_t address) const {
    const Found& found = find(address);
    return found.range != nullptr && found.range->stride == found.range->size;
}

std::uint64_t DeviceMemory::translate(std::uint64_t address) const {
    const Found& found = find(address);
    if (found.range == nullptr) throw DeviceError(fmt::format("illegal address 0x{:x}", address));
    const std::uint64_t offset = address - found.base;
    return found.range->physical + (found.range->stride == found.range->size ? offset : offset % found.range->stride);
}

}  // namespace gputomo::sim
