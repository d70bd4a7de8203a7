// What a simulated GPU's description says of atomics that meet comes back.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

namespace gputomo::experiments::of_atomic_contention {
namespace {

struct Costs {
    double same_address = 0, part = 0, sector = 0;
};

void describe(machine::Access& access, const Costs& costs) {
    access.same_address_cycles.set(costs.same_address);
    access.part_cycles.set(costs.part);
    access.sector_cycles.set(costs.sector);
}

machine::Machine gpu_with(std::int64_t sms, std::int64_t units, std::int64_t unit_bytes, const Costs& integers,
                          const Costs& floats) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    machine.topology.sms.set(sms);
    machine.launch.empty_kernel = {};
    machine.paths.at("global").memory_latency_range = {};
    machine.caches.at("constant_l2").latency_range = {};  // over more SMs than these
    auto& all = machine.accesses["l2_atomic"];
    all.units.set(units);
    all.unit_bytes.set(unit_bytes);
    describe(all, integers);
    describe(machine.accesses["l2_atomic_float"], floats);
    return sim::completed(machine).machine;
}

Outcome outcome_of(const machine::Machine& machine) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    const Findings none;
    Context context = quiet_context(*gpu, none, true);
    return atomic_contention_experiment().run(context);
}

const results::Estimate* estimate(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    return found == outcome.estimates.end() ? nullptr : &*found;
}

double decided(const Outcome& outcome, std::string_view path) {
    const auto* found = estimate(outcome, path);
    if (found == nullptr || found->knowledge != results::Knowledge::known) {
        ADD_FAILURE() << path << (found == nullptr ? ": missing" : ": " + found->note);
        return 0;
    }
    if (const auto* whole = std::get_if<std::int64_t>(&found->value)) return static_cast<double>(*whole);
    return std::get<double>(found->value);
}

TEST(AtomicContention, FindsWhatADescriptionSays) {
    const auto outcome = outcome_of(gpu_with(16, 12, 1024, {2, 1.8, 1.5}, {6, 2, 1.6}));
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic.same_address_cycles"), 2, 0.05);
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic.part_cycles"), 1.8, 0.05);
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic.sector_cycles"), 1.5, 0.05);
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic_float.same_address_cycles"), 6, 0.1);
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic_float.part_cycles"), 2, 0.05);
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic.units"), 12, 1);
    EXPECT_EQ(decided(outcome, "accesses.l2_atomic.unit_bytes"), 1024);
}

/// A wait that is longer than the time of four sectors hides that time.
TEST(AtomicContention, TimesThatWaitingHidesStayOpen) {
    const auto outcome = outcome_of(gpu_with(8, 4, 256, {2, 2, 2}, {20, 2, 2}));
    EXPECT_NEAR(decided(outcome, "accesses.l2_atomic_float.same_address_cycles"), 20, 0.3);
    const auto* part = estimate(outcome, "accesses.l2_atomic_float.part_cycles");
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->knowledge, results::Knowledge::undecided);
    EXPECT_NE(part->note.find("waits 20"), std::string::npos) << part->note;
}

/// Two SMs cannot keep 64 units busy.
TEST(AtomicContention, UnitsStayOpenWhereSmsAreTheLimit) {
    const auto outcome = outcome_of(gpu_with(2, 64, 256, {4, 4, 4}, {4, 4, 4}));
    const auto* units = estimate(outcome, "accesses.l2_atomic.units");
    ASSERT_NE(units, nullptr);
    EXPECT_EQ(units->knowledge, results::Knowledge::undecided);
    EXPECT_NE(units->note.find("at least"), std::string::npos) << units->note;
}

}  // namespace
}  // namespace gputomo::experiments::of_atomic_contention
