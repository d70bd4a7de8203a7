// The order of the jump table: access sequences of few slots read few of its lines, whatever their steps.
#include "measure/code_fetch/instruction_chase_layout.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gputomo::measure::code_chase {
namespace {

constexpr std::uint32_t kSlots = 1544;

TEST(JumpTable, HasAnEntryForEachSlot) {
    for (const std::uint32_t slots : {16, 1531, 1544}) {
        std::set<std::uint32_t> entries;
        for (std::uint32_t slot = 0; slot < slots; ++slot) entries.insert(entry_of(slot, slots));
        EXPECT_EQ(entries.size(), slots);
        EXPECT_LT(*entries.rbegin(), entries_of(slots));
    }
}

/// Lines that hold the entries of `count` slots, `step` apart.
std::size_t lines_of(std::uint64_t count, std::uint32_t step) {
    std::set<std::uint64_t> lines;
    for (std::uint32_t i = 0; i < count; ++i) lines.insert(entry_of(i * step, kSlots) * kEntryBytes / kTableLine);
    return lines.size();
}

TEST(JumpTable, SequencesOfEveryStepReadFewLines) {
    for (const std::uint64_t lines : {8, 28, 32}) {
        const auto visits = visits_of_lines(lines);
        EXPECT_GT(visits, 14 * (lines - 8));
        for (const std::uint32_t step : {1, 2, 4})
            EXPECT_LE(lines_of(visits, step), lines) << visits << " visits in steps of " << step;
    }
    EXPECT_EQ(lines_of(160, 8), 10U);
}

}  // namespace
}  // namespace gputomo::measure::code_chase
