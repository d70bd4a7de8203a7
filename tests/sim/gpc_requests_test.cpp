// Loads of a GPC's SMs for one line that become one request, and the port that all of them pass.
#include "sim/memory/gpc_requests.hpp"
#include "memory_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

LineLoad load(std::uint32_t sm, std::uint64_t line = 5, std::uint64_t sectors = 0xF) {
    return {.line = line, .sectors = sectors, .bytes = 128, .sm = sm};
}

TEST(GpcRequests, LoadsOfOneLineAreOneRequestWithinAShortTime) {
    GpcRequests requests({.cycles_per_byte = 0, .merged = 4, .within = 64});
    EXPECT_FALSE(requests.join(load(0), 100));
    requests.add(load(0), 100, 400);
    EXPECT_EQ(requests.join(load(1), 164), 400);
    EXPECT_EQ(requests.join(load(2), 40), 400) << "earlier, but booked later";
    EXPECT_FALSE(requests.join(load(3), 165));
    EXPECT_FALSE(requests.join(load(3, 6), 100)) << "another line";
}

TEST(GpcRequests, NoMoreAreMergedThanDescribed) {
    GpcRequests requests({.cycles_per_byte = 0, .merged = 3, .within = 64});
    requests.add(load(0), 0, 300);
    EXPECT_TRUE(requests.join(load(1), 1));
    EXPECT_TRUE(requests.join(load(2), 2));
    EXPECT_FALSE(requests.join(load(3), 3));
}

TEST(GpcRequests, SectorsThatWereNotAskedForAreARequest) {
    GpcRequests requests({.cycles_per_byte = 0, .merged = 4, .within = 64});
    requests.add(load(0, 5, 0x3), 0, 300);
    EXPECT_TRUE(requests.join(load(1, 5, 0x2), 0));
    EXPECT_FALSE(requests.join(load(2, 5, 0x6), 0));
}

TEST(GpcRequests, AnSmThatAsksTwiceTakesThePortTwice) {
    GpcRequests requests({.cycles_per_byte = 1, .merged = 4, .within = 64});
    (void)requests.port().reserve(0, 128);
    requests.add(load(0), 0, 200);
    EXPECT_EQ(requests.join(load(1), 0), 200);
    EXPECT_EQ(requests.port().busy_until(), 128);
    (void)requests.join(load(0), 0);
    EXPECT_EQ(requests.port().busy_until(), 256);
}

/// Two GPCs of four SMs whose L2 holds all lines.
machine::Machine two_gpcs() {
    machine::Machine m = bare_machine();
    m.topology.sms.set(8);
    m.topology.sms_per_gpc.set(4);
    m.caches["l2"] = make_cache({.scope = "gpu", .line = 128, .sector = 128, .ways = 16, .sets = 64, .latency = 200});
    m.caches["l2"].gpc_bytes_per_cycle.set(64);
    m.caches["l2"].merged_requests.set(4);
    m.caches["l2"].merged_within.set(50);
    m.paths["global"].caches.set({"l2"});
    m.paths["global"].memory_latency.set(600);
    return m;
}

/// When the last of 64 lines is there that SMs load at once; `own`: each has lines of its own.
double last_of(const machine::Machine& m, std::vector<std::uint32_t> sms, bool own) {
    PlainAddresses addresses;
    const auto memory = make_memory_system(m, addresses, {});
    const auto load_all = [&](double now) {
        double last = 0;
        for (std::uint64_t line = 0; line < 64; ++line)
            for (const auto sm : sms)
                last = std::max(
                    last, memory->access({.address = (line + (own ? 64 * sm : 0)) * 128, .bytes = 128, .sm = sm}, now));
        return last - now;
    };
    (void)load_all(0);  // brings them to the L2
    return load_all(1e6);
}

TEST(GpcPort, SmsOfAGpcShareIt) {
    const auto m = two_gpcs();
    const double alone = last_of(m, {0}, true);
    EXPECT_NEAR(alone, 200 + 64 * 128 / 64.0, 20);
    EXPECT_NEAR(last_of(m, {0, 1, 2, 3}, true), 200 + 4 * 64 * 128 / 64.0, 20);
    EXPECT_NEAR(last_of(m, {0, 4}, true), alone, 20) << "different GPCs";
}

TEST(GpcPort, CommonLinesPassOnce) {
    const auto m = two_gpcs();
    EXPECT_NEAR(last_of(m, {0, 1, 2, 3}, false), 200 + 64 * 128 / 64.0, 20);
    auto apart = m;
    apart.caches["l2"].merged_requests.set(1);
    EXPECT_NEAR(last_of(apart, {0, 1, 2, 3}, false), 200 + 4 * 64 * 128 / 64.0, 20);
}

TEST(GpcPort, BadDescriptionsAreRefusedByName) {
    PlainAddresses addresses;
    auto m = two_gpcs();
    m.caches["l2"].merged_within = {};
    EXPECT_THAT([&] { (void)make_memory_system(m, addresses, {}); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("caches.l2.merged_within")));
    m = two_gpcs();
    m.caches["l2"].scope.set("sm");
    EXPECT_THAT([&] { (void)make_memory_system(m, addresses, {}); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("caches.l2.gpc_bytes_per_cycle")));
}

}  // namespace
}  // namespace gputomo::sim::test
