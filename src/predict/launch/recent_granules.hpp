// The contents of a cache that keeps what was used most recently.
#pragma once

#include "units/number_slots.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gputomo::predict {

/// The most recently used granules that fit a capacity, each with the time at which its data arrive.
class RecentGranules {
    [[nodiscard]] auto number() const {
        return [this](std::uint32_t place) { return entries_[place].granule; };
    }

public:
    explicit RecentGranules(double capacity)
        : capacity_(static_cast<std::size_t>(std::min(std::max(0.0, capacity), kMost))) {}

    /// The arrival of a granule that is there, which becomes the most recent; nullptr if it is not. It is valid until
    /// the next insertion.
    double* find(std::uint64_t granule) {
        const std::uint32_t place = slots_.find(granule, number());
        if (place == NumberSlots::kNone) return nullptr;
        if (place != newest_) {
            unlink(place);
            link(place);
        }
        return &entries_[place].arrival;
    }
    /// Adds a granule that is not there. The least recent one leaves a cache that is full.
    void insert(std::uint64_t granule, double arrival) {
        if (capacity_ == 0) return;
        std::uint32_t place = oldest_;
        if (entries_.size() < capacity_) {
            place = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back({.granule = granule, .arrival = arrival});
        } else {
            slots_.erase(entries_[place].granule, number());
            unlink(place);
            entries_[place].granule = granule;
            entries_[place].arrival = arrival;
        }
        link(place);
        slots_.add(granule, place, number());
    }

private:
    static constexpr std::uint32_t kNone = NumberSlots::kNone;
    /// Places are numbers of 32 bits. Larger caches than this keep all that a launch touches.
    static constexpr double kMost = 1U << 31;

    struct Entry {
        std::uint64_t granule = 0;
        double arrival = 0;
        std::uint32_t newer = kNone, older = kNone;
    };

    void unlink(std::uint32_t place) {
        const Entry& entry = entries_[place];
        (entry.newer == kNone ? newest_ : entries_[entry.newer].older) = entry.older;
        (entry.older == kNone ? oldest_ : entries_[entry.older].newer) = entry.newer;
    }
    void link(std::uint32_t place) {
        entries_[place].newer = kNone;
        entries_[place].older = newest_;
        (newest_ == kNone ? oldest_ : entries_[newest_].newer) = place;
        newest_ = place;
    }

    std::size_t capacity_;
    std::vector<Entry> entries_;
    NumberSlots slots_;
    std::uint32_t newest_ = kNone, oldest_ = kNone;
};

}  // namespace gputomo::predict
