// The table of a hashed container of numbers, which are kept elsewhere: where each of them is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo {

/// Finds the places of numbers. It does not know the numbers: `number(place)` gives the one that was added with a
/// place. Places are below `kNone`.
class NumberSlots {
public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    [[nodiscard]] std::uint32_t find(std::uint64_t wanted, const auto& number) const {
        return table_.empty() ? kNone : table_[slot_of(wanted, number)];
    }
    /// Adds a number that is not there.
    void add(std::uint64_t added, std::uint32_t place, const auto& number) {
        if ((count_ + 1) * kFill > table_.size()) grow(number);
        table_[slot_of(added, number)] = place;
        ++count_;
    }
    /// The place of a number; where it is new, it is added with `place`.
    std::uint32_t find_or_add(std::uint64_t wanted, std::uint32_t place, const auto& number) {
        if ((count_ + 1) * kFill > table_.size()) grow(number);
        std::uint32_t& slot = table_[slot_of(wanted, number)];
        if (slot == kNone) {
            slot = place;
            ++count_;
        }
        return slot;
    }
    /// Takes out a number that is there.
    void erase(std::uint64_t taken, const auto& number) {
        const std::size_t last = table_.size() - 1;
        std::size_t hole = slot_of(taken, number);
        table_[hole] = kNone;
        --count_;
        // Numbers behind the hole that belong to it or before it move up, so that searches end at no hole before them.
        for (std::size_t slot = (hole + 1) & last; table_[slot] != kNone; slot = (slot + 1) & last) {
            const std::size_t home = home_of(number(table_[slot]));
            if (((slot - home) & last) < ((slot - hole) & last)) continue;
            table_[hole] = table_[slot];
            table_[slot] = kNone;
            hole = slot;
        }
    }
    /// Keeps its memory.
    void clear() {
        if (count_ == 0) return;
        count_ = 0;
        std::fill(table_.begin(), table_.end(), kNone);
    }

private:
    /// Slots for each number, at least. Fewer make searches longer; more fill the host's caches.
    static constexpr std::size_t kFill = 2;
    static constexpr std::size_t kFirstSlots = 64;

    /// Numbers that differ in these bits alone have slots in one line of the host's caches, because neighbours come
    /// together.
    static constexpr std::uint64_t kNeighbours = 15;
    static_assert(kFirstSlots > kNeighbours);

    /// Where a search begins.
    [[nodiscard]] std::size_t home_of(std::uint64_t number) const {
        constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: Fibonacci hashing
        return ((number & ~kNeighbours) * kMultiplier >> shift_) ^ (number & kNeighbours);
    }
    /// The slot of the number, or the empty one where it belongs.
    [[nodiscard]] std::size_t slot_of(std::uint64_t wanted, const auto& number) const {
        const std::size_t last = table_.size() - 1;
        std::size_t slot = home_of(wanted);
        while (table_[slot] != kNone && number(table_[slot]) != wanted) slot = (slot + 1) & last;
        return slot;
    }
    void grow(const auto& number) {
        std::vector<std::uint32_t> places(std::max(kFirstSlots, 2 * table_.size()), kNone);
        places.swap(table_);
        shift_ = 64;
        for (std::size_t rest = table_.size(); rest > 1; rest /= 2) --shift_;
        for (const std::uint32_t place : places)
            if (place != kNone) table_[slot_of(number(place), number)] = place;
    }

    std::vector<std::uint32_t> table_;  ///< by slot
    std::size_t count_ = 0;
    unsigned shift_ = 64;
};

}  // namespace gputomo
