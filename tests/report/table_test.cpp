#include "report/table.hpp"

#include "machines.hpp"

#include <gtest/gtest.h>

namespace gputomo::report {
namespace {

TEST(Table, ShowsEveryLeafByItsSection) {
    EXPECT_EQ(table(testing::described()), R"(identity
  identity.name                     R&D <GPU>             Doe 2010, Table <1>

operations
  operations[add.f32].throughput         7.25 ops/cycle

shared
  shared.banks                             16 count        90%
  shared.latency                           38 cycles       95%  [37.5, 38.5]

caches
  caches.l1.ways                  one of 4, 8 count        50%
  caches.l2.capacity                   absent

paths
  paths.global.caches                [l1, l2]
)");
}

TEST(Table, IsEmptyForAnEmptyDescription) { EXPECT_EQ(table({}), ""); }

TEST(Table, OneLongValueDoesNotWidenTheOthers) {
    auto machine = testing::described();
    machine.paths["global"].tlbs.set({"a_translation_buffer_with_a_long_name", "another_translation_buffer"},
                                     {.method = "m"});
    const auto text = table(machine);
    EXPECT_NE(text.find("[a_translation_buffer_with_a_long_name, another_translation_buffer]"), std::string::npos);
    const auto line = text.find("  shared.banks");
    EXPECT_LT(text.find('\n', line) - line, 100U);
}

}  // namespace
}  // namespace gputomo::report
