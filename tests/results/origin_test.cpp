#include "results/origin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::results {
namespace {

using ::testing::HasSubstr;

const MeasuredGpu kGpu{.name = "NVIDIA H200",
                       .device = "cuda:0",
                       .uuid = "GPU-1",
                       .pci_bus_id = "0000:3b:00.0",
                       .driver = "570.86.15",
                       .cuda = "12.8"};

TEST(Origin, AGpuIsTheSameUnderAnotherNumberOnAnotherBus) {
    auto again = kGpu;
    again.device = "cuda:3";
    again.pci_bus_id = "0000:5e:00.0";
    again.before = {{"sm_mhz", 1980.0}};
    EXPECT_EQ(difference(again, kGpu), "");
}

TEST(Origin, AnotherUuidOrDriverIsNamed) {
    auto other = kGpu;
    other.uuid = "GPU-2";
    other.driver = "";
    EXPECT_EQ(difference(other, kGpu), "UUID GPU-2 instead of GPU-1, driver unknown instead of 570.86.15");
}

TEST(Origin, WithoutUuidsThePlaceOnTheBusCounts) {
    auto old = kGpu, other = kGpu;
    old.uuid = other.uuid = "";
    other.pci_bus_id = "0000:5e:00.0";
    EXPECT_EQ(difference(other, old), "PCI bus id 0000:5e:00.0 instead of 0000:3b:00.0");
    EXPECT_EQ(difference(old, old), "");
}

TEST(Origin, SimulatedGpusAreToldApartByTheirDescriptions) {
    const MeasuredGpu a{.name = "GeForce GTX 280", .device = "sim:gtx280", .description = "1234"};
    auto b = a;
    b.description = "5678";
    EXPECT_THAT(difference(b, a), HasSubstr("5678 instead of 1234"));
}

TEST(Origin, TheSummaryLeavesOutWhatIsUnknown) {
    Origin origin{.version = "0.1.0", .commit = "abc", .command = "gputomo scan", .date = "2026-11-23T10:44:49Z"};
    EXPECT_EQ(summary(origin), "2026-11-23T10:44:49Z by gputomo 0.1.0 (abc)");
    origin.gpu = kGpu;
    EXPECT_EQ(summary(origin), "2026-11-23T10:44:49Z by gputomo 0.1.0 (abc) on NVIDIA H200, GPU-1, driver 570.86.15");
}

}  // namespace
}  // namespace gputomo::results
