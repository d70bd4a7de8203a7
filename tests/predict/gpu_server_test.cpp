// Bandwidths that all SMs share, and how far SMs are out of step.
#include "predict/launch/gpu_server.hpp"
#include "predict/launch/steps_apart.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace gputomo::predict {
namespace {

constexpr Askers kInStep{.sms = 100}, kOutOfStep{.sms = 100, .apart = 1600};

TEST(GpuServer, RequestsOfSmsInStepQueue) {
    GpuServer server;
    EXPECT_DOUBLE_EQ(server.take(512, 100, kInStep), 512);
    EXPECT_DOUBLE_EQ(server.take(512, 100, kInStep), 612);
    EXPECT_DOUBLE_EQ(server.take(512, 100, kInStep), 712);
    EXPECT_DOUBLE_EQ(server.busy(), 300);
    EXPECT_DOUBLE_EQ(server.served_until(), 812);
}

TEST(GpuServer, SmsOutOfStepLeaveGapsForEachOther) {
    GpuServer server;
    // Five requests of all SMs occupy a third of the time in which they are made.
    for (int i = 0; i < 5; ++i) EXPECT_LT(server.take(5000, 100, kOutOfStep), 5000 + 20 * (i + 1));
    EXPECT_DOUBLE_EQ(server.busy(), 500);
}

TEST(GpuServer, SmsOutOfStepDoNotRaiseTheBandwidth) {
    GpuServer server;
    constexpr int kRequests = 400;
    double start = 0;
    for (int i = 0; i < kRequests; ++i) start = server.take(50.0 * i, 100, kOutOfStep);
    EXPECT_NEAR(start, kRequests * 100, 1600);
    EXPECT_NEAR(server.served_until(), start + 1, 1e-9);
}

TEST(GpuServer, SmsThatAreFarApartDoNotWaitForRequestsOfLater) {
    GpuServer server;
    for (double now = 0; now < 2e7; now += 1e4)
        ASSERT_LT(server.take(now, 1000, {.sms = 100, .apart = now / 4}), now + 1000) << now;
}

TEST(GpuServer, LongServicesQueueFromTheMomentTheFirstOneBegan) {
    GpuServer server(true);
    EXPECT_DOUBLE_EQ(server.take(15, 157, kInStep), 15) << "late in a slot of the calendar";
    EXPECT_DOUBLE_EQ(server.take(15, 157, kInStep), 15 + 157);
}

TEST(GpuServer, NothingIsServedAtOnce) {
    GpuServer server;
    (void)server.take(0, 1000, kInStep);
    EXPECT_DOUBLE_EQ(server.take(10, 0, kInStep), 10);
    EXPECT_DOUBLE_EQ(server.busy(), 1000);
}

TEST(StepsApart, EqualBlocksStayInStep) {
    StepsApart steps;
    EXPECT_DOUBLE_EQ(steps.after(1), 0);
    for (int i = 0; i < 10; ++i) steps.end_block(700);
    EXPECT_DOUBLE_EQ(steps.after(1000), 0);
}

TEST(StepsApart, DifferencesAddUpUpToOneBlock) {
    StepsApart steps;
    constexpr std::array<double, 4> kCycles{900, 1100, 900, 1100};
    for (const double cycles : kCycles) steps.end_block(cycles);
    const double variance = 4 * 100 * 100 / 3.0;
    EXPECT_NEAR(steps.after(1), std::sqrt(12 * variance), 1e-9);
    EXPECT_NEAR(steps.after(4), 2 * steps.after(1), 1e-9);
    EXPECT_DOUBLE_EQ(steps.after(10000), 1000);
}

}  // namespace
}  // namespace gputomo::predict
