#include "sim/sm/coalescer.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::sim {

Coalescer::Coalescer(const machine::Machine& machine, const std::string& path) {
    group_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(machine.memory.coalescing_group.value_or(32), 1, 32));
    const auto described = machine.paths.find(path);
    const auto caches = described == machine.paths.end() ? std::vector<std::string>{} : described->second.caches.value_or({});
    const auto first = caches.empty() ? machine.caches.end() : machine.caches.find(caches.front());
    if (first != machine.caches.end()) {
        segment_ = static_cast<std::uint32_t>(first->second.sector.value_or(first->second.line.value_or(segment_)));
    } else if (machine.memory.transaction_sizes && !machine.memory.transaction_sizes.value.empty()) {
        for (const auto size : machine.memory.transaction_sizes.value) smaller_.push_back(static_cast<std::uint32_t>(size));
        std::sort(smaller_.begin(), smaller_.end());
        segment_ = smaller_.back();
    }
}

const std::vector<Segment>& Coalescer::merge(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) {
    segments_.clear();
    for (std::uint32_t first = 0; first < 32; first += group_) {
        const std::uint32_t group = group_ == 32 ? mask : mask & (((1U << group_) - 1) << first);
        if (group != 0) merge_group(addresses, group, bytes);
    }
    return segments_;
}

void Coalescer::merge_group(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) {
    const std::size_t start = segments_.size();
    std::array<std::uint64_t, 64> low{}, high{};
    for (; mask != 0; mask &= mask - 1) {
        const std::uint64_t begin = addresses[static_cast<std::size_t>(std::countr_zero(mask))], end = begin + bytes;
        for (std::uint64_t base = begin / segment_ * segment_; base < end; base += segment_) {
            const auto found = std::find_if(segments_.begin() + static_cast<std::ptrdiff_t>(start), segments_.end(),
                                            [&](const Segment& s) { return s.address == base; });
            const auto index = static_cast<std::size_t>(found - segments_.begin()) - start;
            if (found == segments_.end()) {
                segments_.push_back({base, segment_});
                if (index < low.size()) low[index] = std::max(begin, base), high[index] = std::min(end, base + segment_);
            } else if (index < low.size()) {
                low[index] = std::min(low[index], std::max(begin, base));
                high[index] = std::max(high[index], std::min(end, base + segment_));
            }
        }
    }
    if (smaller_.empty()) return;
    for (std::size_t i = start; i < segments_.size() && i - start < low.size(); ++i)
        for (const auto size : smaller_) {
            const std::uint64_t base = low[i - start] / size * size;
            if (high[i - start] > base + size) continue;
            segments_[i] = {base, size};
            break;
        }
}

}  // namespace gputomo::sim
