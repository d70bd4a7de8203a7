// The contents of a cache that keeps what was used most recently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace gputomo::predict {

/// The most recently used granules that fit a capacity, each with the time at which its data arrive.
class RecentGranules {
public:
    explicit RecentGranules(double capacity) : capacity_(static_cast<std::size_t>(std::max(0.0, capacity))) {}

    /// The arrival of a granule that is there, which becomes the most recent; nullptr if it is not.
    double* find(std::uint64_t granule) {
        const auto found = places_.find(granule);
        if (found == places_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return &found->second->second;
    }
    void insert(std::uint64_t granule, double arrival) {
        if (capacity_ == 0) return;
        if (places_.size() >= capacity_) {
            places_.erase(order_.back().first);
            order_.pop_back();
        }
        order_.emplace_front(granule, arrival);
        places_[granule] = order_.begin();
    }

private:
    std::size_t capacity_;
    std::list<std::pair<std::uint64_t, double>> order_;
    std::unordered_map<std::uint64_t, std::list<std::pair<std::uint64_t, double>>::iterator> places_;
};

}  // namespace gputomo::predict
