// Deduction on what a real H200 answered, replayed from recordings/.
#include "deduce/cache/levels/levels.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

namespace gputomo::deduce {
namespace {

/// Latencies by array size, in cycles, each as often as it was read.
class Recording {
public:
    Recording(const std::string& file, const std::string& trace_name) {
        std::ifstream stream(std::string(GPUTOMO_SOURCE_DIR) + "/recordings/" + file);
        const auto json = nlohmann::json::parse(stream);
        for (const auto& trace : json.at("traces")) {
            if (trace.at("name") != trace_name) continue;
            const nlohmann::json& columns = trace.at("columns");
            const nlohmann::json& size = columns.at(0).at("values");
            const nlohmann::json& latency = columns.at(1).at("values");
            const nlohmann::json& times = columns.at(2).at("values");
            for (std::size_t i = 0; i < size.size(); ++i) {
                auto& readings = readings_[size[i].get<std::uint64_t>()];
                readings.insert(readings.end(), times[i].get<std::size_t>(), latency[i].get<double>());
            }
        }
    }
    ChaseTrace operator()(const ChaseRequest& request) const {
        const std::uint64_t stride = request.offsets.at(1) - request.offsets.at(0);
        return {readings_.at(stride * request.offsets.size())};
    }
    [[nodiscard]] std::uint64_t largest() const { return readings_.rbegin()->first; }
    [[nodiscard]] std::uint64_t smallest() const { return readings_.begin()->first; }

private:
    std::map<std::uint64_t, std::vector<double>> readings_;
};

class H200Recording : public testing::TestWithParam<const char*> {};

TEST_P(H200Recording, HasAFirstLevelOf32CyclesUpToAQuarterMegabyte) {
    const Recording near(GetParam(), "caches/near_latencies");
    const auto sweep = deduce_levels(near, {.smallest = near.smallest(), .largest = near.largest(), .stride = 64});
    ASSERT_EQ(sweep.levels.size(), 2U);
    EXPECT_EQ(sweep.levels[0].latency, 32);
    EXPECT_EQ(sweep.levels[0].fits, 128U << 10);
    EXPECT_EQ(sweep.levels[0].overflows, 256U << 10);
    EXPECT_NEAR(sweep.levels[1].latency, 275, 10);
}

TEST_P(H200Recording, HasOneLevelBeforeMemoryPastTheFirst) {
    const Recording far(GetParam(), "caches/far_latencies");
    const auto sweep = deduce_levels(far, {.smallest = far.smallest(), .largest = far.largest(), .stride = 128});
    ASSERT_EQ(sweep.levels.size(), 2U) << "sizes at which part of the array hits are no level of their own";
    EXPECT_NEAR(sweep.levels[0].latency, 275, 10);
    EXPECT_EQ(sweep.levels[0].fits, 16U << 20);
    EXPECT_EQ(sweep.levels[0].overflows, 32U << 20);
    EXPECT_NEAR(sweep.levels[1].latency, 700, 60);
}

INSTANTIATE_TEST_SUITE_P(Runs, H200Recording, testing::Values("h200-1.json", "h200-2.json", "h200-3.json"),
                         [](const auto& run) { return "Run" + std::to_string(run.index + 1); });

}  // namespace
}  // namespace gputomo::deduce
