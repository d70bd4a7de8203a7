// Queues of shared memory: which accesses wait for the banks while their warps go on.
#include "costs/shared_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::costs {
namespace {

/// Issues accesses one cycle apart as the queue allows, each of which occupies the banks for `served` cycles. Returns
/// when the last one issued.
double last_issue(const SharedQueueSpec& spec, int accesses, bool loads, double served) {
    SharedQueue queue(spec, 1);
    double now = 0, banks_free = 0;
    for (int i = 0; i < accesses; ++i) {
        now = std::max(now + 1, queue.room(0));
        const double starts = std::max(now, banks_free);
        banks_free = starts + served;
        queue.note(0, loads, now, starts);
    }
    return now;
}

TEST(SharedQueue, HoldsAsManyAsItHasEntries) {
    const SharedQueueSpec spec{.of_scheduler = 4};
    // The first is served at once, four wait, and the sixth issues when the second one is served.
    EXPECT_EQ(last_issue(spec, 5, true, 100), 5);
    EXPECT_EQ(last_issue(spec, 6, true, 100), 101);
    EXPECT_EQ(last_issue(spec, 7, true, 100), 201);
}

TEST(SharedQueue, LoadsGoOnIntoTheQueueOfTheSm) {
    const SharedQueueSpec spec{.of_scheduler = 4, .loads_of_sm = 3};
    EXPECT_EQ(last_issue(spec, 8, true, 100), 8);
    EXPECT_EQ(last_issue(spec, 9, true, 100), 101);
    EXPECT_EQ(last_issue(spec, 5, false, 100), 5);
    EXPECT_EQ(last_issue(spec, 6, false, 100), 101);
}

TEST(SharedQueue, SchedulersHaveQueuesOfTheirOwn) {
    SharedQueue queue({.of_scheduler = 1}, 2);
    queue.note(0, true, 1, 1);
    queue.note(0, true, 2, 101);
    EXPECT_EQ(queue.room(0), 101);
    EXPECT_EQ(queue.room(1), 0);
}

TEST(SharedQueue, IsNotDescribedWithoutEntries) {
    EXPECT_FALSE(SharedQueue({.loads_of_sm = 7}, 4).described());
    EXPECT_FALSE(SharedQueue(shared_queue_spec_of({}), 4).described());
    machine::SharedMemory shared;
    shared.queue.set(3);
    EXPECT_TRUE(SharedQueue(shared_queue_spec_of(shared), 4).described());
}

}  // namespace
}  // namespace gputomo::costs
