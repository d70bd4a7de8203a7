// What the instruction table says of units and costs, beside the description of an H200.
#include "machine/json.hpp"
#include "sass/form.hpp"
#include "sass/table.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputomo::sim {
namespace {

std::string label_of(const sass::Row& row) {
    return std::string(sass::name_of(row.operation)) + " " + row.modifiers.data();
}

TEST(TheTable, NamesOperationsThatScansTime) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    int timed = 0;
    for (const sass::Row& row : sass::rows()) {
        const std::string like(sass::facts_of(row).timed_as);
        if (like.empty()) continue;
        ++timed;
        const auto found = machine.operations.find(like);
        ASSERT_NE(found, machine.operations.end()) << label_of(row) << ": no scan times " << like;
        EXPECT_TRUE(found->second.latency) << like;
        if (sass::facts_of(row).assumed) continue;
        EXPECT_EQ(found->second.instructions.value_or(1), 1)
            << label_of(row) << ": " << like << " is several instructions, whose latency is not that of one";
    }
    EXPECT_GT(timed, 50);
}

TEST(TheTable, TimedInstructionsAreOnDescribedUnits) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    for (const sass::Row& row : sass::rows()) {
        const sass::Facts& facts = sass::facts_of(row);
        const std::string unit(sass::name_of(facts.unit));
        if (unit.empty() || facts.assumed || !facts.timed_as.empty()) continue;
        EXPECT_TRUE(machine.pipelines.contains(unit)) << label_of(row) << " has no cost but that of its unit " << unit;
    }
}

/// Memory, barriers and branches take their own time. A unit beside that would never be asked.
TEST(TheTable, OnlyComputationTakesAUnit) {
    for (const sass::Row& row : sass::rows()) {
        const sass::Facts& facts = sass::facts_of(row);
        EXPECT_TRUE(facts.what == sass::Class::compute || facts.unit == sass::Unit::none) << label_of(row);
    }
}

}  // namespace
}  // namespace gputomo::sim
