#include "machine/origin_json.hpp"

#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gputomo::machine {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

results::Origin example() {
    results::Origin origin{.version = "0.1.0",
                           .commit = "9a7d7c912345-dirty",
                           .command = "gputomo scan --out 'two words'",
                           .date = "2026-11-23T10:44:49Z"};
    origin.gpu = results::MeasuredGpu{.name = "NVIDIA H200",
                                      .device = "cuda:0",
                                      .uuid = "GPU-1",
                                      .pci_bus_id = "0000:3b:00.0",
                                      .driver = "570.86.15",
                                      .cuda = "12.8"};
    origin.gpu->before = {{"sm_mhz", 1980.0},
                          {"throttle_reasons", std::vector<std::string>{"power cap"}},
                          {"ecc", true},
                          {"other_processes", std::int64_t{0}}};
    origin.gpu->after = {{"throttle_reasons", std::vector<std::string>{}}};
    origin.merged = {
        {.version = "0.1.0", .commit = "unknown", .command = "gputomo scan", .date = "2026-11-22T00:00:00Z"}};
    return origin;
}

TEST(OriginJson, ReadsBackWhatItWrote) {
    const auto json = origin_json(example());
    EXPECT_EQ(json.at("gpu").at("before").at("throttle_reasons").at(0), "power cap");
    EXPECT_FALSE(json.at("gpu").contains("description")) << "unknown texts are left out";
    EXPECT_EQ(origin_json(origin_from(json, "origin")), json);
}

TEST(OriginJson, IgnoresMembersOfLaterVersionsAndRefusesOtherTypes) {
    auto json = origin_json(example());
    json["later"] = {{"a", 1}};
    json["gpu"]["later"] = true;
    EXPECT_EQ(origin_json(origin_from(json, "origin")), origin_json(example()));
    const auto refuse = [&](const char* pointer, const Json& value, const std::string& expected) {
        auto broken = origin_json(example());
        broken[Json::json_pointer(pointer)] = value;
        EXPECT_THAT([&] { (void)origin_from(broken, "m.json: origin"); },
                    ThrowsMessage<InputError>(StartsWith("m.json: origin" + expected)))
            << pointer;
    };
    refuse("/date", 3, ".date: found 3; expected a string");
    refuse("/gpu", "x", ".gpu: found \"x\"; expected an object");
    refuse("/gpu/uuid", Json::array(), ".gpu.uuid: found array; expected a string");
    refuse("/gpu/before/sm_mhz", nullptr, ".gpu.before.sm_mhz: found null");
    refuse("/gpu/before/sm_mhz", Json::array({1}), ".gpu.before.sm_mhz: found array");
    refuse("/merged", "x", ".merged: found \"x\"; expected a list");
    refuse("/merged/0", "x", ".merged[0]: found \"x\"; expected an object");
}

TEST(OriginJson, ADescriptionKeepsItAndNoDiffCountsIt) {
    Machine machine;
    machine.shared.latency.set(23, {.source = "made up"});
    const auto without = to_json(machine);
    EXPECT_FALSE(from_json(without).origin);
    machine.origin = example();
    const auto again = from_json(to_json(machine));
    ASSERT_TRUE(again.origin);
    EXPECT_EQ(origin_json(*again.origin), origin_json(example()));
    EXPECT_EQ(to_json(again), to_json(machine));
    const auto compared = diff(from_json(without), again);
    EXPECT_EQ(compared.equal, 1U);
    EXPECT_EQ(compared.differing.size() + compared.only_a.size() + compared.only_b.size(), 0U);
}

TEST(OriginJson, AFaultInADescriptionNamesTheFile) {
    EXPECT_THAT([] { (void)from_json(R"({"schema":"gputomo-machine-1","origin":[]})", "m.json"); },
                ThrowsMessage<InputError>(HasSubstr("m.json: origin: found array; expected an object")));
}

}  // namespace
}  // namespace gputomo::machine
