#include "costs/calendar.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>

namespace gputomo::costs {
namespace {

/// Books work as a calendar without an end does.
class Booked {
public:
    double reserve(double now, double service) {
        auto slot = static_cast<std::int64_t>(now / Calendar::kSlot);
        while (is_full(slot)) ++slot;
        const double start = std::max(now, static_cast<double>(slot) * Calendar::kSlot + used_[slot]);
        for (double left = service;;) {
            const double taken = std::min(left, Calendar::kSlot - used_[slot]);
            used_[slot] += taken;
            left -= taken;
            if (left < 1e-9) return start;
            do ++slot;
            while (is_full(slot));
        }
    }

private:
    [[nodiscard]] bool is_full(std::int64_t slot) { return Calendar::kSlot - used_[slot] < 1e-9; }
    std::map<std::int64_t, double> used_;
};

TEST(Calendar, KeepsWorkOfAllSlotsThatCanBeOpen) {
    std::mt19937_64 random(2);
    Calendar calendar(1 << 16);
    Booked expected;
    // Requests come up to 50,000 slots out of order, far more than a calendar has at first.
    for (int i = 0; i < 20'000; ++i) {
        const auto slot = static_cast<double>(random() % 50'000);
        const double now = slot * Calendar::kSlot + static_cast<double>(random() % 16);
        const double service = static_cast<double>(1 + random() % 60);
        ASSERT_DOUBLE_EQ(calendar.reserve(now, service), expected.reserve(now, service)) << i;
    }
}

TEST(Calendar, GivesUpTheOldestSlots) {
    Calendar calendar(4);
    EXPECT_EQ(calendar.reserve(0, 8), 0);
    EXPECT_EQ(calendar.reserve(10 * Calendar::kSlot, 8), 10 * Calendar::kSlot);
    EXPECT_EQ(calendar.reserve(0, 8), 7 * Calendar::kSlot) << "the oldest one that is open";
}

}  // namespace
}  // namespace gputomo::costs
