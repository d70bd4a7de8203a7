// Atomics that meet: the units of the last cache, and how many requests a warp sends them.
#include "launching.hpp"
#include "memory_fixture.hpp"
#include "unit_memory.hpp"

#include "costs/atomic_units.hpp"
#include "sim/sm/load_store/load_store.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gputomo::sim::test {
namespace {

using costs::AtomicClass;
using costs::AtomicRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kAllLanes = 0xFFFFFFFF;

void describe_cost(machine::Access& access, double same_address, double part, double sector) {
    access.same_address_cycles.set(same_address);
    access.part_cycles.set(part);
    access.sector_cycles.set(sector);
}

/// Four units of 256 bytes; floats wait 10 cycles for each other, integers 3.
void describe_atomics(machine::Machine& machine) {
    machine::Access& integers = machine.accesses["l2_atomic"];
    integers.units.set(4);
    integers.unit_bytes.set(256);
    describe_cost(integers, 3, 3, 2);
    describe_cost(machine.accesses["l2_atomic_float"], 10, 3, 2);
    describe_cost(machine.accesses["l2_atomic_swap"], 3, 5, 4);
}

machine::Machine described() {
    auto m = machine_with({{"l2", make_cache({.scope = "gpu", .sector = 32, .ways = 16, .sets = 64, .latency = 200})}});
    m.caches["l2"].write_policy.set("write-back");
    describe_atomics(m);
    return m;
}

std::string refusal(const machine::Machine& machine) {
    try {
        (void)costs::atomic_units_of(machine);
    } catch (const InputError& e) {
        return e.what();
    }
    return "";
}

TEST(AtomicUnits, NeighbouringPiecesBelongToDifferentUnits) {
    const auto units = costs::atomic_units_of(described());
    ASSERT_TRUE(units);
    for (const std::uint64_t group : {0U, 7U, 123U}) {
        std::set<std::size_t> found;
        for (std::uint64_t piece = 0; piece < 4; ++piece) found.insert(units->unit_of((group * 4 + piece) * 256));
        EXPECT_EQ(found.size(), 4U) << group;
    }
    EXPECT_EQ(units->unit_of(256), units->unit_of(511));
}

TEST(AtomicUnits, PowersOfTwoApartDoNotKeepToOneUnit) {
    const auto units = costs::atomic_units_of(described());
    std::set<std::size_t> found;
    for (std::uint64_t i = 0; i < 64; ++i) found.insert(units->unit_of(i << 16));
    EXPECT_EQ(found.size(), 4U);
}

TEST(AtomicUnits, RequestsForTheSectorOfTheLastOneWait) {
    const auto units = costs::atomic_units_of(described());
    const AtomicRequest word{.kind = AtomicClass::floating, .lone = true};
    EXPECT_EQ(units->apart(word), 3);
    EXPECT_EQ(units->together(word), 10);
    const AtomicRequest line{.kind = AtomicClass::floating, .sectors = 4, .partial = false};
    EXPECT_EQ(units->apart(line), 8);
    EXPECT_EQ(units->together(line), 10);
}

TEST(AtomicUnits, ALoneSwapTakesNoLongerThanOnesOnItsAddress) {
    const auto units = costs::atomic_units_of(described());
    EXPECT_EQ(units->apart({.kind = AtomicClass::compare_swap, .sectors = 2}), 10);
    EXPECT_EQ(units->apart({.kind = AtomicClass::compare_swap, .lone = true}), 3);
}

TEST(AtomicUnits, ClassesThatAreNotDescribedAreAsIntegers) {
    std::vector<std::string> assumptions;
    const auto units = costs::atomic_units_of(described(), &assumptions);
    EXPECT_EQ(units->together({.kind = AtomicClass::double_precision, .lone = true}), 3);
    EXPECT_THAT(assumptions, ElementsAre(HasSubstr("accesses.l2_atomic_double")));
}

TEST(AtomicUnits, AreUnknownWhereALeafIsMissing) {
    auto m = described();
    m.accesses["l2_atomic"].part_cycles = {};
    EXPECT_FALSE(costs::atomic_units_of(m));
}

TEST(AtomicUnits, RefuseValuesThatCannotBe) {
    auto m = described();
    m.accesses["l2_atomic"].units.set(0);
    EXPECT_EQ(refusal(m), "accesses.l2_atomic.units: found 0; expected a whole number from 1 to 4096");
    m = described();
    m.accesses["l2_atomic"].unit_bytes.set(48);
    EXPECT_EQ(refusal(m), "accesses.l2_atomic.unit_bytes: found 48; expected a multiple of 32 bytes");
    m = described();
    m.accesses["l2_atomic_float"].part_cycles.set(0.0);
    EXPECT_EQ(refusal(m), "accesses.l2_atomic_float.part_cycles: found 0; expected a number greater than 0");
    EXPECT_THROW((void)Rig(m), InputError);
}

TEST(AtomicUnits, EachAddressHasOneLaneInAPass) {
    std::array<std::uint64_t, 32> addresses{};
    for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = 4 * (lane % 8);
    EXPECT_EQ(costs::next_pass(addresses, kAllLanes), 0xFFU);
    EXPECT_EQ(costs::next_pass(addresses, kAllLanes & ~0xFFU), 0xFF00U);
    addresses.fill(64);
    EXPECT_EQ(costs::next_pass(addresses, 0xF0), 0x10U);
}

Transaction add(std::uint64_t address, AtomicClass kind) {
    return {.address = address,
            .bytes = 32,
            .kind = AccessKind::atomic,
            .touched = 32,
            .partial = true,
            .asked = 4,
            .lone = true,
            .pieces = 1,
            .atomic_class = kind};
}

/// Cycles from the first to the last of atomics that arrive at once, one on each of these addresses in turn.
double span(Rig& rig, const std::vector<std::uint64_t>& addresses, AtomicClass kind, int rounds) {
    for (const auto address : addresses) (void)rig.latency(add(address, kind));  // into the cache
    rig.now += 100'000;
    double last = 0;
    for (int i = 0; i < rounds; ++i)
        for (const auto address : addresses) last = rig.memory->access(add(address, kind), rig.now);
    return last - rig.now - 200;
}

TEST(MetAtomics, OnOneAddressWaitByType) {
    Rig rig(described());
    EXPECT_EQ(span(rig, {64}, AtomicClass::integer, 101), 300);
    EXPECT_EQ(span(rig, {64}, AtomicClass::floating, 101), 1000);
}

TEST(MetAtomics, InOneUnitWaitForTheUnitOnly) {
    Rig rig(described());
    EXPECT_EQ(span(rig, {0, 128}, AtomicClass::floating, 51), 101 * 3);
}

TEST(MetAtomics, InDifferentUnitsDoNotWait) {
    Rig rig(described());
    EXPECT_EQ(span(rig, {0, 256, 512, 768}, AtomicClass::integer, 101), 300);
}

TEST(MetAtomics, QueuesLongerThanTheCalendarKeepTheirLength) {
    Rig rig(described());
    EXPECT_NEAR(span(rig, {64}, AtomicClass::floating, 20'001), 200'000, 1);
}

/// The transactions of a warp's atomics, lane l on first + (l % different) * stride.
std::vector<Transaction> sent(const machine::Machine& machine, std::uint64_t different, std::uint64_t stride) {
    FixedLatencyMemory memory(100);
    LoadStoreUnit unit{.spec = load_store_spec_of(machine, GlobalLoads(machine)),
                       .coalescers = Coalescers(machine),
                       .state = {.banks_free = {0.0}},
                       .memory = memory};
    for (auto& free : unit.state.ports_free) free.assign(1, 0.0);
    std::array<std::uint64_t, 32> addresses{};
    for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = 0x1000 + lane % different * stride;
    (void)access(unit,
                 {.instruction = {.kind = AccessKind::atomic, .atomic_class = AtomicClass::floating},
                  .addresses = addresses,
                  .mask = kAllLanes},
                 0);
    std::vector<Transaction> transactions;
    for (const auto& access : memory.accesses) transactions.push_back(access.transaction);
    return transactions;
}

machine::Machine with_l2(bool knows_units) {
    auto m = small_machine();
    m.memory.coalescing_group.set(32);
    m.caches["l2"] = make_cache({.scope = "gpu", .sector = 32, .ways = 16, .sets = 64, .latency = 200});
    m.paths["global"].caches.set({"l2"});
    if (knows_units) describe_atomics(m);
    return m;
}

TEST(LoadStore470, LanesOnOneAddressAreRequestsOfTheirOwn) {
    const auto transactions = sent(with_l2(true), 1, 4);
    ASSERT_EQ(transactions.size(), 32U);
    EXPECT_TRUE(transactions.front().lone);
    EXPECT_EQ(transactions.front().asked, 4U);
    EXPECT_EQ(transactions.front().atomic_class, AtomicClass::floating);
    EXPECT_EQ(sent(with_l2(false), 1, 4).size(), 1U) << "where no units are known";
}

TEST(LoadStore471, LanesOnAWholeLineAreOneRequest) {
    const auto transactions = sent(with_l2(true), 32, 4);
    ASSERT_EQ(transactions.size(), 1U);
    EXPECT_FALSE(transactions.front().partial);
    EXPECT_FALSE(transactions.front().lone);
    EXPECT_EQ(transactions.front().touched, 128U);
    EXPECT_EQ(transactions.front().pieces, 0xFU);
}

TEST(LoadStore472, EachPassSendsItsLines) {
    const auto transactions = sent(with_l2(true), 16, 64);  // 16 addresses in 8 lines, two lanes each
    EXPECT_EQ(transactions.size(), 2 * 16U) << "two sectors of a line that do not touch are two transactions";
}

TEST(MetAtomics, OfALaunchTakeTheTimeOfTheirType) {
    const auto time = [](const std::string& instruction, Type type, int stride) {
        auto m = with_l2(true);
        m.identity.compute_capability_major.set(6);
        const auto gpu = make_device(m, {});
        KernelBuilder k("atomics", ptx::Target{6, 0, 60});
        const Reg out = k.param(Type::u64, "out"), tid = k.special(SpecialRegister::tid_x), value = k.reg(type);
        if (type == Type::f32)
            k("mov.f32", value, 1.0);
        else
            k("mov.b32", value, 1);
        const Reg to = k.element(out, tid, Bytes(stride));
        k.repeat(8, [&](int) { k(instruction, Mem(to), value); });
        (void)run(*gpu, k, 64, {1}, {32});
        return static_cast<double>(gpu->counters().cycles);
    };
    const double integers = time("red.global.add.u32", Type::u32, 0);
    const double floats = time("red.global.add.f32", Type::f32, 0);
    constexpr double kRequests = 8 * 32;
    EXPECT_NEAR(floats - integers, (kRequests - 1) * (10 - 3), 20);
    EXPECT_GT(integers, kRequests * 3);
    EXPECT_LT(time("red.global.add.u32", Type::u32, 4), kRequests * 3) << "a whole line is one request";
}

}  // namespace
}  // namespace gputomo::sim::test
