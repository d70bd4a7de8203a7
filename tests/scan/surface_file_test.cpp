// Writes and reads surface files, plain and compressed, and checks that errors name the field.
#include "scan/surface_file.hpp"
#include "scan/gzip.hpp"

#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <algorithm>
#include <filesystem>
#include <string>

namespace gputomo::scan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

measure::MixSurface surface() {
    measure::MixSurface made{.gpu = "GPU",
                             .sms = 4,
                             .max_warps = 64,
                             .sm_mhz = 1980,
                             .curves = {},
                             .checked_kernels = 2,
                             .warnings = {"one"}};
    made.curves.push_back(
        {.shape = {.chains = 2, .arithmetic_only = true}, .sm_mhz = {}, .samples = {{1, 0.25, 1}, {4, 1, 0.5}}});
    made.curves.push_back({.shape = {.access = measure::MixAccess::l2, .alpha = 3, .chains = 1, .accesses = 2},
                           .sm_mhz = 1965,
                           .samples = {{7, 0.125, 0.9}}});
    return made;
}

void expect_same(const measure::MixSurface& read) {
    const auto made = surface();
    EXPECT_EQ(to_json(read), to_json(made));
    ASSERT_EQ(read.curves.size(), 2U);
    EXPECT_TRUE(read.curves[0].shape.arithmetic_only);
    EXPECT_EQ(read.curves[1].shape.access, measure::MixAccess::l2);
    EXPECT_EQ(read.curves[1].shape.accesses, 2);
    EXPECT_EQ(read.curves[0].samples[1].instructions_per_cycle, 1);
}

TEST(SurfaceFile, ReadsBackWhatItWrote) {
    for (const std::string name : {"surface_test.json", "surface_test.json.gz"}) {
        const auto file = std::filesystem::temp_directory_path() / name;
        save_surface(surface(), file);
        expect_same(load_surface(file));
        std::filesystem::remove(file);
    }
}

TEST(SurfaceFile, NamesTheFieldInErrors) {
    auto text = to_json(surface());
    text.replace(text.find("\"l2\""), 4, "\"l9\"");
    EXPECT_THAT(
        [&] { (void)surface_from_json(text, "file"); },
        ThrowsMessage<InputError>(AllOf(HasSubstr("file: curves[1].access"), HasSubstr("expected a kind of access"))));
    EXPECT_THROW((void)surface_from_json("{", "file"), InputError);
}

TEST(SurfaceFile, RefusesNumbersThatNoDoubleHolds) {
    EXPECT_THAT(
        [] { (void)surface_from_json(R"({"schema": "gputomo-surface-1", "sm_mhz": 1E2021606147920418})", "a.json"); },
        ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("a.json: not JSON")));
}

TEST(Gzip, RefusesDamagedData) {
    const std::string text(100'000, 'x');
    const auto packed = gzip(text);
    EXPECT_TRUE(is_gzip(packed));
    EXPECT_EQ(gunzip(packed, "file"), text);
    EXPECT_THROW((void)gunzip(packed.substr(0, packed.size() / 2), "file"), InputError);
}

/// The highest instructions per cycle of `access` alone, or of adds alone.
double most_alone(const measure::MixSurface& surface, bool adds) {
    double most = 0;
    for (const auto& curve : surface.curves)
        if (curve.shape.arithmetic_only == adds && (adds || curve.shape.alpha == 0))
            for (const auto& sample : curve.samples) most = std::max(most, sample.instructions_per_cycle);
    return most;
}

measure::MixSurface recorded(const std::string& access, const std::string& run = "") {
    return load_surface(GPUTOMO_SOURCE_DIR "/recordings/h200-surface-" + access + run + ".json.gz");
}

class RecordedTwice : public ::testing::TestWithParam<const char*> {};

TEST_P(RecordedTwice, GivesTheSameThroughputsInTheNextRun) {
    const auto first = recorded(GetParam()), second = recorded(GetParam(), "-2");
    ASSERT_EQ(first.curves.size(), second.curves.size());
    int samples = 0, apart = 0, apart_one_chain = 0;
    for (std::size_t i = 0; i < first.curves.size(); ++i)
        for (const auto& a : first.curves[i].samples)
            for (const auto& b : second.curves[i].samples) {
                if (a.warps != b.warps) continue;
                ++samples;
                const bool differs = std::abs(a.instructions_per_cycle / b.instructions_per_cycle - 1) > 0.02;
                apart += differs ? 1 : 0;
                apart_one_chain += differs && first.curves[i].shape.chains == 1 ? 1 : 0;
            }
    EXPECT_GT(samples, 400);
    EXPECT_LE(apart, samples / 300);
    EXPECT_EQ(apart_one_chain, 0);
}

INSTANTIATE_TEST_SUITE_P(Accesses, RecordedTwice,
                         ::testing::Values("global", "shared", "sfu", "l1", "l2", "shared_conflict", "tensor"),
                         [](const auto& access) { return std::string(access.param); });

TEST(RecordedSurface, ReachesThePeakOfEachUnitOfAnH200) {
    EXPECT_NEAR(most_alone(recorded("global"), true), 4, 0.04);
    EXPECT_NEAR(most_alone(recorded("sfu"), false), 0.5, 0.005);
    EXPECT_NEAR(most_alone(recorded("shared"), false), 1, 0.01);
    EXPECT_NEAR(most_alone(recorded("shared_conflict"), false), 0.5, 0.005);
    EXPECT_NEAR(most_alone(recorded("l1"), false), 1, 0.01);
    const auto global = recorded("global");
    const double terabytes = most_alone(global, false) * global.sms * global.sm_mhz.value() * 1e6 * 128 / 1e12;
    EXPECT_GT(terabytes, 0.97 * 4.8143);
    EXPECT_LT(terabytes, 4.8143);
}

}  // namespace
}  // namespace gputomo::scan
