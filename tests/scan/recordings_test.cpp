// What three whole scans of a real H200 found, as they were written.
#include "scan/gzip.hpp"

#include "units/file.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <tuple>

namespace gputomo::scan {
namespace {

using Json = nlohmann::json;

std::map<std::string, Json> estimates_of(int run) {
    const auto file = std::string(GPUTOMO_SOURCE_DIR "/recordings/h200-scan-") + std::to_string(run) + ".json.gz";
    const auto scan = Json::parse(gunzip(read_file(file, "a recorded scan"), file));
    std::map<std::string, Json> found;
    for (const auto& experiment : scan.at("experiments")) {
        EXPECT_EQ(experiment.at("status"), "done") << experiment.at("id");
        for (const auto& check : experiment.at("code_checks"))
            EXPECT_EQ(check.at("result"), "passed") << check.at("kernel");
        for (const auto& estimate : experiment.at("estimates")) found[estimate.at("path")] = estimate;
    }
    return found;
}

TEST(RecordedScans, OfAnH200SayTheSame) {
    std::map<std::string, Json> runs[] = {estimates_of(1), estimates_of(2), estimates_of(3)};
    for (const char* path :
         {"caches.l1.latency", "caches.l1.sector", "caches.l2.sector", "caches.constant_l1.capacity",
          "caches.constant_l1.line", "caches.constant_l1.ways", "caches.constant_l1.sets", "shared.latency",
          "shared.banks", "shared.conflict_cost", "operations[add.f32].latency", "operations[fma.rn.f64].latency",
          "tlbs.global_l1.ways", "tlbs.global_l1.sets", "issue.schedulers_per_sm", "issue.issue_interval",
          "issue.divergence", "issue.barrier_latency", "topology.register_allocation_unit"})
        for (const auto& run : runs) {
            ASSERT_TRUE(run.contains(path)) << path;
            EXPECT_EQ(run.at(path).at("verdict"), "decided") << path;
            EXPECT_EQ(run.at(path).at("value"), runs[0].at(path).at("value")) << path;
        }
}

/// A scan may leave open what others decide; none decides otherwise.
TEST(RecordedScans, OfAnH200NeverContradictEachOtherOnTheFirstTlb) {
    const std::map<std::string, Json> runs[] = {estimates_of(1), estimates_of(2), estimates_of(3)};
    for (const auto& [path, value] :
         {std::pair{"tlbs.global_l1.entries", 16}, std::pair{"tlbs.global_l1.span", 16 << 20}}) {
        int decided = 0;
        for (const auto& run : runs) {
            if (run.at(path).at("verdict") != "decided") continue;
            EXPECT_EQ(run.at(path).at("value"), value) << path;
            ++decided;
        }
        EXPECT_GE(decided, 2) << path;
    }
}

/// Mean of an array's single readings, and of its loads timed together.
struct Bias {
    double recorded = 0, together = 0;
};

Bias bias_of(int run, const std::string& trace_name, double bytes, const std::string& latency) {
    const auto file = std::string(GPUTOMO_SOURCE_DIR "/recordings/h200-scan-") + std::to_string(run) + ".json.gz";
    const auto scan = Json::parse(gunzip(read_file(file, "a recorded scan"), file));
    Bias bias;
    for (const auto& experiment : scan.at("experiments")) {
        for (const auto& trace : experiment.at("traces")) {
            if (trace.at("name") != trace_name) continue;
            const auto column = [&](const char* name) {
                for (const auto& c : trace.at("columns"))
                    if (c.at("name") == name) return c.at("values");
                return Json();
            };
            const auto sizes = column("size"), means = column("mean");
            for (std::size_t i = 0; i < sizes.size(); ++i)
                if (sizes[i] == bytes) bias.recorded = means[i];
        }
        for (const auto& estimate : experiment.at("estimates"))
            if (estimate.at("path") == latency) bias.together = estimate.at("value");
    }
    return bias;
}

TEST(RecordedScans, SingleReadingsOfAnH200AreBiasedByLessThanOnePercent) {
    for (const int run : {1, 2, 3})
        for (const auto& [trace, bytes, latency] : {std::tuple{"caches/near", 131072.0, "caches.l1.latency"},
                                                    std::tuple{"caches/far", 16777216.0, "caches.l2.latency"}}) {
            const auto bias = bias_of(run, trace, bytes, latency);
            ASSERT_GT(bias.together, 0) << latency;
            EXPECT_NEAR(bias.recorded / bias.together, 1, 0.01)
                << latency << ": " << bias.recorded << " and " << bias.together;
        }
}

}  // namespace
}  // namespace gputomo::scan
