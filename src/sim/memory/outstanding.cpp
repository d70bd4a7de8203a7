#include "sim/memory/outstanding.hpp"

#include <algorithm>

namespace gputomo::sim {

OutstandingTable::Slot OutstandingTable::reserve(std::uint64_t key, double now) {
    std::uint32_t earliest = 0;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        Entry& entry = entries_[i];
        const bool same = entry.key == key && entry.release > now;
        if (same && (!design_.merges_lines || entry.merged < design_.merge_limit)) {
            ++entry.merged;
            return {now, i, design_.merges_lines};
        }
        if (entry.release < entries_[earliest].release) earliest = i;
    }
    Entry& entry = entries_[earliest];
    const double start = std::max(now, entry.release);
    entry = {key, start, 1};
    return {start, earliest, false};
}

void OutstandingTable::set_release(std::uint32_t index, double when) {
    entries_[index].release = std::max(entries_[index].release, when);
}

}  // namespace gputomo::sim
