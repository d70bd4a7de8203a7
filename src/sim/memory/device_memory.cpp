#include "sim/memory/device_memory.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <utility>

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

DeviceMemory::Unfilled::Unfilled(FillPart fill, std::uint64_t bytes)
    : fill_(std::move(fill)), bytes_(bytes), unfilled_((bytes + kPage - 1) / kPage, true) {}

void DeviceMemory::Unfilled::fill(std::byte* memory, std::uint64_t page) {
    const std::uint64_t begin = page * kPage;
    fill_(begin, {memory + begin, static_cast<std::size_t>(std::min(kPage, bytes_ - begin))});
    unfilled_[page] = false;
}

void DeviceMemory::fill_when_reached(std::uint64_t address, FillPart fill) {
    const auto found = ranges_.find(address);
    if (found == ranges_.end())
        throw DeviceError(fmt::format("fill: {:#x} is no allocation; expected the first address of one", address));
    found->second.unfilled = std::make_shared<Unfilled>(std::move(fill), found->second.backed);
}

void DeviceMemory::back(Range& range) {
    if (range.backed == 0) throw DeviceError("allocate: 0 bytes were asked for; expected at least 1");
    if (range.backed > capacity_ - std::min(capacity_, used_))
        throw DeviceError(fmt::format("allocate: out of memory ({} bytes asked, {} of {} free)", range.backed,
                                      capacity_ - used_, capacity_));
    range.bytes = zeroed(range.backed);
    used_ += range.backed;
    last_ = {};
}

std::uint64_t DeviceMemory::add(Range range, std::uint64_t alignment) {
    back(range);
    range.physical = next_physical_ = round_up(next_physical_, alignment);
    next_physical_ += range.backed;
    std::uint64_t base = round_up(next_virtual_, alignment);
    while (const std::uint64_t end = end_of_overlap(base, range.size)) base = round_up(end, alignment);
    next_virtual_ = base;
    next_virtual_ += range.size + kSmallestAlignment;  // a gap, so that an overrun is an illegal address
    ranges_.emplace(base, std::move(range));
    return base;
}

std::uint64_t DeviceMemory::end_of_overlap(std::uint64_t address, std::uint64_t bytes) const {
    const auto after = ranges_.lower_bound(address);
    if (after != ranges_.end() && after->first - address < bytes) return after->first + after->second.size;
    if (after == ranges_.begin()) return 0;
    const auto& [base, range] = *std::prev(after);
    return address - base < range.size ? base + range.size : 0;
}

void DeviceMemory::allocate_at(std::uint64_t address, std::uint64_t bytes) {
    if (address > ~std::uint64_t{0} - bytes || end_of_overlap(address, bytes) != 0)
        throw DeviceError(fmt::format("allocate: {} bytes at {:#x}; expected a place that is free", bytes, address));
    Range range{.size = bytes, .stride = bytes, .backed = bytes};
    back(range);
    range.physical = fixed_place(address, bytes);
    ranges_.emplace(address, std::move(range));
}

std::uint64_t DeviceMemory::fixed_place(std::uint64_t address, std::uint64_t bytes) {
    if (auto after = places_.upper_bound(address); after != places_.begin()) {
        const auto& [base, known] = *--after;
        const std::uint64_t offset = address - base;
        if (offset < known.first && bytes <= known.first - offset) return known.second + offset;
    }
    // The place within a page of the driver is that of the address.
    const std::uint64_t place = round_up(next_physical_, kLargestAlignment) + address % kLargestAlignment;
    next_physical_ = place + bytes;
    places_[address] = {bytes, place};
    return place;
}

std::uint64_t DeviceMemory::allocate(std::uint64_t bytes) {
    const auto alignment =
        std::clamp(std::bit_ceil(std::max<std::uint64_t>(bytes, 1)), kSmallestAlignment, kLargestAlignment);
    return add({.size = bytes, .stride = bytes, .backed = bytes}, alignment);
}

std::uint64_t DeviceMemory::map_aliased(std::uint64_t physical_bytes, std::uint64_t stride, std::uint64_t window) {
    return add({.size = window, .stride = stride, .backed = physical_bytes}, kLargestAlignment);
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
    std::byte* const memory = found.range->bytes.get();
    if (found.range->unfilled && bytes > 0) found.range->unfilled->reach(memory, inside, bytes);
    return memory + inside;
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

std::vector<std::pair<std::uint64_t, std::uint64_t>> DeviceMemory::allocations() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& [address, range] : ranges_) all.emplace_back(address, range.size);
    return all;
}

}  // namespace gputomo::sim
