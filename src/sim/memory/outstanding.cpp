#include "sim/memory/outstanding.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace gputomo::sim {

OutstandingTable::OutstandingTable(const Design& design)
    : design_(design),
      entries_(std::bit_ceil(design.entries)),
      index_(design.entries),
      leaves_(std::bit_ceil(design.entries)),
      winner_(std::size_t{leaves_} * 2) {
    // Leaves without an entry never win.
    for (std::uint32_t i = design.entries; i < leaves_; ++i)
        entries_[i].release = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < leaves_; ++i) winner_[leaves_ + i] = i;
    for (std::size_t node = leaves_ - 1; node > 0; --node) winner_[node] = winner_[node * 2];
    for (std::uint32_t i = 0; i < leaves_; ++i) settle(i);
}

void OutstandingTable::settle(std::uint32_t index) {
    for (std::size_t node = (leaves_ + index) / 2; node > 0; node /= 2) {
        const std::uint32_t left = winner_[node * 2], right = winner_[node * 2 + 1];
        winner_[node] = entries_[right].release < entries_[left].release ? right : left;
    }
}

OutstandingTable::Slot OutstandingTable::join(std::uint64_t key, double now) {
    const std::uint32_t same = index_.find(key);
    if (same != KeyIndex::kNone && entries_[same].release > now) {
        Entry& entry = entries_[same];
        if (entry.requests >= design_.merge_limit) return {entry.release, same, true};
        ++entry.requests;
        return {std::max(now, entry.start), same, false, entry.release};
    }
    const std::uint32_t earliest = winner_[1];
    Entry& entry = entries_[earliest];
    const double start = std::max(now, entry.release);
    entry = {start, start, 1};
    index_.assign(earliest, key);
    settle(earliest);
    return {start, earliest, false};
}

void OutstandingTable::release_at(std::uint32_t index, double when) {
    if (when <= entries_[index].release) return;
    entries_[index].release = when;
    settle(index);
}

}  // namespace gputomo::sim
