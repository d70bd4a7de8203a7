// The port of a cache that SMs share: what code and constants take of it.
#include "memory_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gputomo::sim::test {
namespace near_port_test {
namespace {

constexpr std::int64_t kLine = 128;

/// Two GPCs of three SMs, each with a cache of constants and one of code behind those of the SMs.
machine::Machine two_gpcs() {
    machine::Machine m = bare_machine();
    m.topology.sms_per_gpc.set(3);
    for (const auto* const what : {"constant", "instruction"}) {
        const std::string first = std::string(what) + "_l1", shared = std::string(what) + "_l2";
        m.caches[first] = make_cache({.ways = 1, .sets = 1, .latency = 10});
        m.caches[shared] = make_cache({.scope = "gpc", .ways = 16, .sets = 64, .latency = 50});
        m.caches[shared].bytes_per_cycle.set(16);
        m.paths[what].caches.set({first, shared});
        m.paths[what].memory_latency.set(500);
    }
    m.caches["instruction_l2"].port_of.set("constant_l2");
    return m;
}

/// When a line of constants passes that an SM asks for beside 8 lines of code that the first SM asks for.
double constants_beside_code(const machine::Machine& m, std::uint32_t sm) {
    PlainAddresses addresses;
    const auto memory = make_memory_system(m, addresses, {});
    memory->preload(PathKind::instruction, 0, 8 * kLine, {});
    for (std::uint64_t line = 0; line < 8; ++line)
        (void)memory->access(
            {.address = line * kLine, .bytes = kLine, .sm = 0, .path = PathKind::instruction}, 0);
    return memory->pass_near(PathKind::constant, sm, kLine, 0);
}

TEST(NearPort, ConstantsWaitForCodeOfTheirGpc) {
    const auto m = two_gpcs();
    EXPECT_NEAR(constants_beside_code(m, 2), 8 * kLine / 16.0, 16) << "slots of a calendar are 16 cycles";
    EXPECT_EQ(constants_beside_code(m, 3), 0) << "of another GPC";
    auto apart = m;
    apart.caches["instruction_l2"].port_of = {};
    EXPECT_EQ(constants_beside_code(apart, 2), 0);
}

TEST(NearPort, ConstantsWaitForCodeThatALaunchBrings) {
    PlainAddresses addresses;
    const auto memory = make_memory_system(two_gpcs(), addresses, {});
    // Behind the first one, a line comes every 8 cycles, which is what it takes of the port.
    memory->preload(PathKind::instruction, 0, 9 * kLine, {.ready = 0, .rate = 16});
    EXPECT_GE(memory->pass_near(PathKind::constant, 0, kLine, 16), 64);
    EXPECT_EQ(memory->pass_near(PathKind::constant, 0, kLine, 200), 200);
}

TEST(NearPort, PortsThatCannotBeSharedAreRefusedByName) {
    PlainAddresses addresses;
    const auto refuses = [&](const machine::Machine& m) {
        EXPECT_THAT([&] { (void)make_memory_system(m, addresses, {}); },
                    testing::ThrowsMessage<InputError>(testing::HasSubstr("caches.instruction_l2.port_of")));
    };
    auto m = two_gpcs();
    m.caches["constant_l2"].bytes_per_cycle = {};
    refuses(m);
    m = two_gpcs();
    m.caches["instruction_l2"].port_of.set("instruction_l2");
    refuses(m);
    m.caches["instruction_l2"].port_of.set("constant_l1");
    refuses(m);
    m.caches["instruction_l2"].port_of.set("nothing");
    refuses(m);
}

}  // namespace
}  // namespace near_port_test
}  // namespace gputomo::sim::test
