// The simulator's events come in order.
#include "sim/sm/engine/event_queue.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <tuple>

namespace gputomo::sim {
namespace {

using Row = std::tuple<double, double, std::uint32_t>;

Row row_of(const Event& event) { return {event.time, event.last_issue, event.scheduler}; }

TEST(EventQueue, GivesTheEarliestFirstAndOfEqualTimesWhoIssuedLongestAgo) {
    std::mt19937 random(1);
    EventQueue queue;
    std::multiset<Row> expected;
    for (int step = 0; step < 20000; ++step) {
        if (const bool grows = step < 10000; expected.empty() || random() % 4 < (grows ? 3U : 1U)) {
            const double time = 0.5 * static_cast<double>(random() % 50), last = static_cast<double>(random() % 5);
            const Event event{.time = time, .last_issue = last, .scheduler = static_cast<std::uint32_t>(random() % 5)};
            queue.push(event);
            expected.insert(row_of(event));
        } else {
            ASSERT_EQ(queue.first_time(), std::get<0>(*expected.begin()));
            ASSERT_EQ(row_of(queue.first()), *expected.begin());
            queue.pop();
            expected.erase(expected.begin());
        }
        ASSERT_EQ(queue.empty(), expected.empty());
    }
}

TEST(EventQueue, TakesANegativeZeroForZero) {
    EventQueue queue;
    queue.push({.time = 1});
    queue.push({.time = -0.0});
    EXPECT_EQ(queue.first_time(), 0);
}

}  // namespace
}  // namespace gputomo::sim
