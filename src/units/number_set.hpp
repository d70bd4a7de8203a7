// A set of numbers, such as sectors of memory, that is filled, asked and copied far faster than one of nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace gputomo {

/// Numbers in the order in which they came. Single numbers cannot be taken out.
class NumberSet {
public:
    static constexpr std::size_t kNone = ~std::size_t{0};

    NumberSet() = default;
    NumberSet(std::initializer_list<std::uint64_t> numbers) {
        for (const std::uint64_t number : numbers) place(number);
    }

    /// The place of `number` in the order; adds it behind the others where it is new.
    std::size_t place(std::uint64_t number) {
        if ((numbers_.size() + 1) * kFill > table_.size()) grow();
        std::uint32_t& slot = table_[slot_of(number)];
        if (slot == kEmpty) {
            numbers_.push_back(number);
            slot = static_cast<std::uint32_t>(numbers_.size());
        }
        return slot - 1;
    }
    /// Returns whether `number` is new.
    bool insert(std::uint64_t number) {
        const std::size_t before = numbers_.size();
        return place(number) == before;
    }
    void insert(const NumberSet& others) {
        for (const std::uint64_t number : others.numbers_) place(number);
    }
    /// The place of `number`, or kNone.
    [[nodiscard]] std::size_t find(std::uint64_t number) const {
        if (numbers_.empty()) return kNone;
        const std::uint32_t slot = table_[slot_of(number)];
        return slot == kEmpty ? kNone : slot - 1;
    }
    [[nodiscard]] bool contains(std::uint64_t number) const { return find(number) != kNone; }
    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    [[nodiscard]] bool empty() const { return numbers_.empty(); }
    /// Keeps its memory.
    void clear() {
        if (numbers_.empty()) return;
        numbers_.clear();
        std::fill(table_.begin(), table_.end(), kEmpty);
    }

    [[nodiscard]] auto begin() const { return numbers_.begin(); }
    [[nodiscard]] auto end() const { return numbers_.end(); }

private:
    static constexpr std::uint32_t kEmpty = 0;
    /// Slots for each number, at least. Fewer make searches longer; more fill the host's caches.
    static constexpr std::size_t kFill = 2;
    static constexpr std::size_t kFirstSlots = 64;

    /// Numbers that differ in these bits alone have slots in one line of the host's caches, because neighbours come
    /// together.
    static constexpr std::uint64_t kNeighbours = 15;
    static_assert(kFirstSlots > kNeighbours);

    /// The slot of the number, or the empty one where it belongs.
    [[nodiscard]] std::size_t slot_of(std::uint64_t number) const {
        constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: Fibonacci hashing
        const std::size_t last = table_.size() - 1;
        std::size_t slot = ((number & ~kNeighbours) * kMultiplier >> shift_) ^ (number & kNeighbours);
        while (table_[slot] != kEmpty && numbers_[table_[slot] - 1] != number) slot = (slot + 1) & last;
        return slot;
    }
    void grow() {
        const std::size_t slots = std::max(kFirstSlots, 2 * table_.size());
        table_.assign(slots, kEmpty);
        shift_ = 64;
        for (std::size_t rest = slots; rest > 1; rest /= 2) --shift_;
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            table_[slot_of(numbers_[i])] = static_cast<std::uint32_t>(i + 1);
    }

    std::vector<std::uint64_t> numbers_;
    std::vector<std::uint32_t> table_;  ///< by slot: one more than the place of its number
    unsigned shift_ = 64;
};

}  // namespace gputomo
