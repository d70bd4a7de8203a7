// A set of numbers, such as sectors of memory, that is filled, asked and copied far faster than one of nodes.
#pragma once

#include "units/number_slots.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace gputomo {

/// Numbers in the order in which they came. Single numbers cannot be taken out.
class NumberSet {
    [[nodiscard]] auto numbers() const {
        return [this](std::uint32_t place) { return numbers_[place]; };
    }

public:
    static constexpr std::size_t kNone = ~std::size_t{0};

    NumberSet() = default;
    NumberSet(std::initializer_list<std::uint64_t> numbers) {
        for (const std::uint64_t number : numbers) place(number);
    }

    /// The place of `number` in the order; adds it behind the others where it is new.
    std::size_t place(std::uint64_t number) {
        const auto last = static_cast<std::uint32_t>(numbers_.size());
        const std::uint32_t place = slots_.find_or_add(number, last, numbers());
        if (place == last) numbers_.push_back(number);
        return place;
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
        const std::uint32_t place = slots_.find(number, numbers());
        return place == NumberSlots::kNone ? kNone : place;
    }
    [[nodiscard]] bool contains(std::uint64_t number) const { return find(number) != kNone; }
    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    [[nodiscard]] bool empty() const { return numbers_.empty(); }
    /// Keeps its memory.
    void clear() {
        numbers_.clear();
        slots_.clear();
    }

    [[nodiscard]] auto begin() const { return numbers_.begin(); }
    [[nodiscard]] auto end() const { return numbers_.end(); }

private:
    std::vector<std::uint64_t> numbers_;
    NumberSlots slots_;
};

}  // namespace gputomo
