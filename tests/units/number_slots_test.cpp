#include "units/number_slots.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace gputomo {
namespace {

TEST(NumberSlots, FindWhatAMapOfNodesFindsAlsoAfterNumbersWereTakenOut) {
    std::mt19937_64 random(5);
    NumberSlots slots;
    std::vector<std::uint64_t> numbers;
    const auto number = [&](std::uint32_t place) { return numbers[place]; };
    std::map<std::uint64_t, std::uint32_t> expected;
    for (int i = 0; i < 30'000; ++i) {
        // Neighbouring sectors, and multiples of a large power of two, whose hashes have equal low bits.
        const std::uint64_t one = i % 2 == 0 ? random() % 300 : (random() % 100) << 48;
        const auto known = expected.find(one);
        ASSERT_EQ(slots.find(one, number), known == expected.end() ? NumberSlots::kNone : known->second) << i;
        if (known != expected.end()) {
            slots.erase(one, number);
            expected.erase(known);
        } else {
            const auto place = static_cast<std::uint32_t>(numbers.size());
            numbers.push_back(one);
            slots.add(one, place, number);
            expected.emplace(one, place);
        }
    }
    EXPECT_GT(expected.size(), 100U);
    for (const auto& [one, place] : expected) EXPECT_EQ(slots.find(one, number), place) << one;
}

TEST(NumberSlots, KeepTheFirstPlaceOfANumber) {
    NumberSlots slots;
    const std::vector<std::uint64_t> numbers{7, 7};
    const auto number = [&](std::uint32_t place) { return numbers[place]; };
    EXPECT_EQ(slots.find_or_add(7, 0, number), 0U);
    EXPECT_EQ(slots.find_or_add(7, 1, number), 0U);
    slots.clear();
    EXPECT_EQ(slots.find(7, number), NumberSlots::kNone);
}

}  // namespace
}  // namespace gputomo
