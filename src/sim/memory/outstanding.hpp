// Outstanding misses of a cache: an MSHR file or a pending request table (Lashgar 2015, section 2).
#pragma once

#include "sim/memory/key_index.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim {

class OutstandingTable {
public:
    struct Design {
        std::uint32_t entries = 1;
        /// Requests that share one entry of the same key. MSHR: outstanding_merge, keyed by line. PRT: no limit, keyed
        /// by warp instruction, because all requests of one instruction share its entry.
        std::uint32_t merge_limit = 1;
    };
    explicit OutstandingTable(const Design& design);

    struct Slot {
        /// When the request has its entry: later than `now` where it, or the request that took the entry, had to wait.
        double start = 0;
        std::uint32_t index = 0;  ///< for release_at(); meaningless with `replay`
        /// The key's entry merges no more requests. The request waits until `start`, when the entry's data have come,
        /// and is then looked up again.
        bool replay = false;
        double shared_until = 0;  ///< where the request merged: when the data of the entry's first request come
    };
    /// Joins the live entry of `key`, or takes a free one, or waits for the earliest release.
    Slot join(std::uint64_t key, double now);
    /// Keeps the entry at least until `when`.
    void release_at(std::uint32_t index, double when);

private:
    struct Entry {
        double start = 0;
        double release = 0;
        std::uint32_t requests = 0;
    };
    void settle(std::uint32_t index);

    Design design_;
    std::vector<Entry> entries_;
    KeyIndex index_;
    /// Tournament over entries: winner_[1] is the entry with the earliest release.
    std::uint32_t leaves_;
    std::vector<std::uint32_t> winner_;
};

}  // namespace gputomo::sim
