// Outstanding misses: an MSHR file that merges requests for one line, or a pending request table (Lashgar 2015).
#pragma once

#include <cstdint>
#include <vector>

namespace gputomo::sim {

class OutstandingTable {
public:
    struct Design {
        bool merges_lines = true;   ///< MSHR; false: one entry per warp request (PRT)
        std::uint32_t entries = 0;
        std::uint32_t merge_limit = 1;
    };
    explicit OutstandingTable(const Design& design) : design_(design), entries_(design.entries) {}

    /// When a miss that arrives at `now` can leave: at once when it merges or an entry is free, else when one is released.
    /// `key` is the line (MSHR) or the warp request (PRT). Returns the slot to release.
    struct Slot {
        double start = 0;
        std::uint32_t index = 0;
        bool merged = false;  ///< the data come with the earlier request, at release_time()
    };
    Slot reserve(std::uint64_t key, double now);
    void set_release(std::uint32_t index, double when);
    [[nodiscard]] double release_time(std::uint32_t index) const { return entries_[index].release; }

private:
    struct Entry {
        std::uint64_t key = ~std::uint64_t{0};
        double release = 0;
        std::uint32_t merged = 0;
    };
    Design design_;
    std::vector<Entry> entries_;
};

}  // namespace gputomo::sim
