#include "machine/names.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputomo::machine {
namespace {

const std::vector<DescriptionName> kKnown{{"gtx280", "GeForce GTX 280"},
                                          {"h100", "NVIDIA H100 80GB HBM3"},
                                          {"h200", "NVIDIA H200"},
                                          {"m2070", "Tesla M2070"},
                                          {"rtx4090", "NVIDIA GeForce RTX 4090"}};

TEST(DescriptionNames, CapitalsBrandsAndPunctuationMakeNoDifference) {
    for (const auto* given : {"h200", "H200", "NVIDIA H200", "nvidia-h200", "Nvidia_H200", " H 200 "})
        EXPECT_EQ(description_named(given, kKnown), "h200") << given;
    for (const auto* given : {"RTX 4090", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "rtx-4090"})
        EXPECT_EQ(description_named(given, kKnown), "rtx4090") << given;
    EXPECT_EQ(description_named("Tesla M2070", kKnown), "m2070");
    EXPECT_EQ(description_named("NVIDIA H100 80GB HBM3", kKnown), "h100");
    EXPECT_EQ(description_named("NVIDIA H100", kKnown), "h100");
}

TEST(DescriptionNames, AnotherGpuIsNotTaken) {
    for (const auto* given : {"H100 PCIe", "NVIDIA H200 NVL", "GTX 280M", "H20", "200", "h2000", "rtx4090.json"})
        EXPECT_EQ(description_named(given, kKnown), std::nullopt) << given;
}

TEST(DescriptionNames, NoNameFitsWhatHasNoWord) {
    for (const auto* given : {"", "NVIDIA", "GeForce", "-"})
        EXPECT_EQ(description_named(given, kKnown), std::nullopt) << given;
    EXPECT_EQ(description_named("nvidia", std::vector<DescriptionName>{{"tesla", "Tesla"}}), std::nullopt);
}

TEST(DescriptionNames, ADescriptionsOwnNameComesBeforeGpus) {
    const std::vector<DescriptionName> known{{"a", "B"}, {"b", "A"}};
    EXPECT_EQ(description_named("A", known), "a");
    EXPECT_EQ(description_named("B", known), "b");
}

}  // namespace
}  // namespace gputomo::machine
