// Which GPU a report compares with.
#include "report/generations.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputomo::report {
namespace {

machine::Machine gpu(std::int64_t major, std::int64_t minor, const std::string& architecture) {
    machine::Machine m;
    m.identity.compute_capability_major.set(major);
    m.identity.compute_capability_minor.set(minor);
    m.identity.architecture.set(architecture);
    return m;
}

TEST(Generations, TheOneBeforeIsTheNewestOfAnotherArchitecture) {
    const std::vector<machine::Machine> known{gpu(2, 0, "fermi"), gpu(3, 5, "kepler"), gpu(2, 1, "fermi"),
                                              gpu(3, 0, "kepler")};
    EXPECT_EQ(generation_before(gpu(3, 5, "kepler"), known), &known[2]) << "not the other Kepler";
    EXPECT_EQ(generation_before(gpu(5, 2, "maxwell"), known), &known[1]);
    EXPECT_EQ(generation_before(gpu(2, 0, "fermi"), known), nullptr);
}

TEST(Generations, AnOlderOneIsNotTheOneBefore) {
    const std::vector<machine::Machine> known{gpu(5, 2, "maxwell"), gpu(9, 0, "hopper")};
    EXPECT_EQ(generation_before(gpu(9, 0, "hopper"), known), nullptr) << "Ampere is not described";
    EXPECT_EQ(generation_before(gpu(6, 0, "pascal"), known), &known[0]);
    EXPECT_EQ(generation_before(gpu(10, 0, "blackwell"), known), &known[1]);
    EXPECT_EQ(generation_before(gpu(99, 0, "to come"), known), nullptr) << "a capability of no generation known";
}

TEST(Generations, AreUnknownWithoutAComputeCapability) {
    const std::vector<machine::Machine> known{gpu(2, 0, "fermi"), machine::Machine{}};
    EXPECT_EQ(generation_before({}, known), nullptr);
    EXPECT_EQ(generation_before(gpu(3, 0, "kepler"), known), &known[0]) << "others without one are left out";
}

}  // namespace
}  // namespace gputomo::report
