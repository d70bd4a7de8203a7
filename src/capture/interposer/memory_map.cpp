#include "capture/interposer/memory_map.hpp"

#include <iterator>
#include <utility>

namespace gputomo::capture {
namespace {

bool is_mapped(const Allocation& allocation) { return allocation.space == Space::mapped && allocation.accessible; }

}  // namespace

void MemoryMap::add(Allocation allocation) {
    const std::scoped_lock guard(lock_);
    const auto address = allocation.address;
    if (address != 0 && allocation.bytes != 0) by_address_.insert_or_assign(address, std::move(allocation));
}

void MemoryMap::remove(std::uint64_t address) {
    const std::scoped_lock guard(lock_);
    by_address_.erase(address);
}

void MemoryMap::make_accessible(std::uint64_t address, std::uint64_t bytes) {
    const std::scoped_lock guard(lock_);
    for (auto at = by_address_.lower_bound(address); at != by_address_.end() && at->first < address + bytes; ++at)
        at->second.accessible = true;
}

void MemoryMap::unmap(std::uint64_t address, std::uint64_t bytes) {
    const std::scoped_lock guard(lock_);
    for (auto at = by_address_.lower_bound(address); at != by_address_.end() && at->first < address + bytes;)
        at = at->second.space == Space::mapped ? by_address_.erase(at) : std::next(at);
}

std::optional<Allocation> MemoryMap::around(std::uint64_t address) const {
    const std::scoped_lock guard(lock_);
    auto at = by_address_.upper_bound(address);
    if (at == by_address_.begin()) return std::nullopt;
    --at;
    if (address - at->first >= at->second.bytes || !at->second.accessible) return std::nullopt;
    Allocation found = at->second;
    if (found.space != Space::mapped) return found;
    for (auto next = std::next(at);
         next != by_address_.end() && is_mapped(next->second) && next->first == found.address + found.bytes; ++next)
        found.bytes += next->second.bytes;
    while (at != by_address_.begin()) {
        --at;
        if (!is_mapped(at->second) || at->first + at->second.bytes != found.address) break;
        found.address = at->first;
        found.bytes += at->second.bytes;
    }
    return found;
}

std::pair<std::uint64_t, std::uint64_t> MemoryMap::bounds() const {
    const std::scoped_lock guard(lock_);
    if (by_address_.empty()) return {0, 0};
    const auto& last = by_address_.rbegin()->second;
    return {by_address_.begin()->first, last.address + last.bytes};
}

std::vector<Allocation> MemoryMap::variables() const {
    const std::scoped_lock guard(lock_);
    std::vector<Allocation> all;
    for (const auto& [address, allocation] : by_address_)
        if (allocation.space == Space::variable) all.push_back(allocation);
    return all;
}

}  // namespace gputomo::capture
