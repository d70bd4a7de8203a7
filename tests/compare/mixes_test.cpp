#include "compare/mixes/cusp.hpp"
#include "compare/mixes/evaluation.hpp"
#include "compare/mixes/judged_mixes.hpp"
#include "compare/mixes/modelled.hpp"
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"
#include "scan/declared_findings.hpp"
#include "sim/simulator.hpp"
#include "surfaces.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace gputomo::compare::of_mixes {
namespace {

using ::testing::AllOf;
using testing::curve;
using testing::curve_of_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using testing::parameters;
using testing::surface;

const std::vector<int> kWarps{4, 8, 16, 32, 64};

machine::Machine shipped(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& e) {
        return e.what();
    }
    return "no InputError";
}

TEST(JudgedMixes, HasTheChosenAccessAndChainsSortedByAlpha) {
    using measure::MixAccess;
    const auto measured =
        surface({curve({.alpha = 8}, {{4, 1}}), curve({.alpha = 2}, {{4, 2}}),
                 curve({.access = MixAccess::sfu, .alpha = 4}, {{4, 3}}), curve({.alpha = 4, .chains = 2}, {{4, 4}})});
    auto p = parameters();
    const auto one = judged_mixes(measured, {.chains = 1, .alphas = {}}, p);
    ASSERT_EQ(one.size(), 2U);
    EXPECT_EQ(one[0].mix.alpha, 2);
    EXPECT_THAT(one[0].throughput, ElementsAre(Pair(4, 2)));
    EXPECT_EQ(one[1].mix.alpha, 8);
    const auto two = judged_mixes(measured, {.chains = 2, .alphas = {}}, p);
    ASSERT_EQ(two.size(), 1U);
    EXPECT_EQ(two[0].mix.ilp, 2);
    EXPECT_THAT(judged_mixes(measured, {.chains = 1, .alphas = {8}}, p), ::testing::SizeIs(1));
}

TEST(JudgedMixes, CountsSeveralAccessesForEachAddAsAFractionalAlpha) {
    auto p = parameters();
    const auto mixes = judged_mixes(surface({curve({.alpha = 1, .accesses = 4}, {{4, 1}})}), {}, p);
    ASSERT_EQ(mixes.size(), 1U);
    EXPECT_EQ(mixes[0].mix.alpha, 0.25);
}

TEST(JudgedMixes, LeavesOutOccupanciesThatSchedulersCannotShareEqually) {
    const auto measured = surface({curve({.alpha = 4}, {{3, 0.1}, {4, 0.2}, {5, 0.3}, {8, 0.4}})});
    auto p = parameters();
    EXPECT_THAT(judged_mixes(measured, {}, p)[0].throughput, ElementsAre(Key(4), Key(8)));
    EXPECT_THAT(judged_mixes(measured, {.every_occupancy = true}, p)[0].throughput,
                ElementsAre(Key(3), Key(4), Key(5), Key(8)));
}

TEST(JudgedMixes, MakesParametersOfInstructionsAlone) {
    const auto measured =
        surface({curve({.alpha = 0}, {{1, 0.002}, {10, 0.02}, {20, 0.02}}),
                 curve({.alpha = 0, .chains = 8}, {{20, 0.05}}), curve({.arithmetic_only = true}, {{4, 1}})});
    auto p = parameters();
    p.memory = {0, 0};
    EXPECT_THAT(judged_mixes(measured, {}, p), IsEmpty());
    EXPECT_EQ(p.memory.throughput, 0.05) << "the highest rate with any number of chains";
    EXPECT_DOUBLE_EQ(p.memory.latency, 1 / 0.002) << "Little's law at the smallest number in flight";
    EXPECT_THAT(p.memory_curve, ElementsAre(Pair(1, 0.002), Pair(10, 0.02), Pair(20, 0.02)));
    EXPECT_THAT(p.arithmetic_curve, ElementsAre(Pair(4, 1)));
    EXPECT_THAT(p.loaded_latency, ElementsAre(Pair(0.002, 500), Pair(0.02, 500))) << "up to the first peak";
}

TEST(JudgedMixes, KeepsTheDescriptionsThroughputAndLatency) {
    auto p = parameters();
    static_cast<void>(judged_mixes(surface({curve({.alpha = 0}, {{1, 0.5}})}), {}, p));
    EXPECT_EQ(p.memory.throughput, 0.1);
    EXPECT_EQ(p.memory.latency, 400);
}

TEST(MixEvaluation, FindsNoErrorInTheModelThatMadeTheSurface) {
    const auto measured =
        surface({curve_of_model("volkov-basic", 4, kWarps), curve_of_model("volkov-basic", 64, kWarps)});
    const auto evaluation = evaluate(measured, parameters(), {}, "surface.json");
    int own = 0;
    double others = 0;
    for (const auto& row : evaluation.models) {
        if (row.model != "volkov-basic") {
            others = std::max(others, row.mean_error);
            continue;
        }
        ++own;
        EXPECT_DOUBLE_EQ(row.smallest, 1);
        EXPECT_DOUBLE_EQ(row.largest, 1);
        EXPECT_EQ(row.needed_estimated, row.needed_measured);
    }
    EXPECT_EQ(own, 2);
    EXPECT_GT(others, 1.05) << "so that the test can fail";
    ASSERT_GE(evaluation.needed.size(), 2U);
    EXPECT_EQ(evaluation.needed[0].source, "measured");
    EXPECT_EQ(evaluation.needed[1].source, "volkov-basic");
}

TEST(MixEvaluation, SaysWhatTheSurfaceLacks) {
    const auto alone = surface({curve({.alpha = 0}, {{4, 1}})});
    EXPECT_THAT(refusal([&] { static_cast<void>(evaluate(alone, parameters(), {}, "s.json")); }),
                AllOf(HasSubstr("s.json: no mixes of global and adds with 1 chains"), HasSubstr("gputomo surface")));
    auto p = parameters();
    p.memory.throughput = 0;
    EXPECT_THAT(refusal([&] {
                    static_cast<void>(evaluate(surface({curve({.alpha = 4}, {{4, 1}})}), p, {}, "s.json"));
                }),
                HasSubstr("s.json: no curve of global accesses alone"));
}

TEST(MixEvaluation, NeedsToKnowHowManyThreadsAnSmHolds) {
    auto machine = shipped("gtx680");
    EXPECT_EQ(evaluation_parameters(machine, models::Access::shared, "m.json").max_warps, 64);
    machine.topology.max_threads_per_sm = {};
    EXPECT_THAT(refusal([&] { static_cast<void>(evaluation_parameters(machine, models::Access::shared, "m.json")); }),
                HasSubstr("m.json: topology.max_threads_per_sm"));
}

TEST(MixEvaluation, WritesWarpsThatNoOccupancyReachesAsNull) {
    const auto measured = surface({curve_of_model("volkov-basic", 16, {4})});  // 4 warps hide nothing
    const auto json = evaluation_json(evaluate(measured, parameters(), {}, "surface.json"));
    EXPECT_EQ(json.at("schema"), "gputomo-evaluation-1");
    EXPECT_EQ(json.at("surface").at(0).at("alpha"), 16);
    EXPECT_TRUE(json.at("cusp").at(0).at("needed").at(0).at("warps").is_null());
    EXPECT_GT(json.at("cusp").at(1).at("needed").at(0).at("warps").get<int>(), 4) << "a model may need more than fit";
}

TEST(MixEvaluation, TableHasEveryModelAndTheCusp) {
    const auto measured = surface({curve_of_model("volkov-basic", 4, kWarps)});
    const auto text = evaluation_table(evaluate(measured, parameters(), {}, "surface.json"));
    for (const auto& model : models::catalogue()) EXPECT_THAT(text, HasSubstr(std::string(model.id)));
    EXPECT_THAT(text, AllOf(HasSubstr("Test GPU"), HasSubstr("the cusp: the mix that needs the most warps")));
}

/// The description with what these experiments provide, and nothing else.
machine::Machine found_by(const std::vector<std::string>& ids, const machine::Machine& whole) {
    machine::Machine found;
    for (const auto& leaf : machine::all_leaves(whole))
        for (const auto& experiment : experiments::catalogue())
            if (std::ranges::find(ids, experiment.id) != ids.end() && scan::provides(experiment, leaf.path))
                machine::set_leaf(found, leaf.path, leaf.leaf);
    return found;
}

/// The parameters of arithmetic and of each kind of access, as text; why there are none where some are missing.
std::string parameters_found_by(const std::vector<std::string>& ids) {
    std::string text;
    for (const auto access : {models::Access::global, models::Access::shared, models::Access::sfu}) {
        text += refusal([&] {
            const auto p = evaluation_parameters(found_by(ids, shipped("gtx980")), access, "m.json");
            for (const double value : {p.arithmetic.latency, p.arithmetic.throughput, p.memory.latency,
                                       p.memory.throughput, p.pin_bandwidth, p.clock_ghz, double(p.max_warps)})
                text += std::to_string(value) + " ";
        });
    }
    return text;
}

TEST(MixEvaluation, MeasuresParametersWithTheExperimentsThatProvideThem) {
    const auto& ids = parameter_experiments();
    for (const auto& id : ids)
        EXPECT_TRUE(std::ranges::any_of(experiments::catalogue(), [&](const auto& e) { return e.id == id; })) << id;
    const auto found = parameters_found_by(ids);
    EXPECT_THAT(found, Not(HasSubstr("m.json"))) << "nothing is missing";
    for (const auto& id : ids) {
        auto others = ids;
        std::erase(others, id);
        EXPECT_NE(parameters_found_by(others), found) << id << " adds nothing";
    }
}

TEST(MixEvaluation, MeasuresTheRequestedMixes) {
    const auto machine = shipped("gtx680");
    const auto device = sim::make_device(machine, {.id = "sim:gtx680", .seed = 1});
    std::vector<std::string> reports;
    const auto measured =
        measure_mixes(*device, evaluation_parameters(machine, models::Access::sfu, "gtx680"), {.alphas = {4}},
                      [&](double, std::string_view what) { reports.emplace_back(what); });
    ASSERT_EQ(measured.curves.size(), 1U);
    EXPECT_EQ(measured.curves[0].shape.alpha, 4);
    EXPECT_EQ(measured.curves[0].shape.access, measure::MixAccess::sfu);
    EXPECT_EQ(measured.curves[0].samples.front().warps, 4) << "one warp for each scheduler";
    EXPECT_EQ(reports.size(), 2U) << "the search for a loop length, and the mix";
}

TEST(Cusp, HasALineForEachMachineAndPointsForItsSurface) {
    auto measured = surface({curve({.alpha = 0}, {{4, 0.05}, {64, 0.1}}), curve({.alpha = 8}, {{4, 0.1}, {64, 10}})});
    auto machine = shipped("gtx680");
    measured.gpu = *machine.identity.name;
    const auto plots = cusp({{"first", machine}, {"nothing known", {}}}, {measured});
    ASSERT_EQ(plots.size(), 1U);
    EXPECT_THAT(plots[0].lines, ElementsAre("first"));
    ASSERT_EQ(plots[0].trace.columns.size(), 3U) << "alpha, the model's line, measured points";
    EXPECT_EQ(plots[0].trace.columns[2].name, "first, measured");
    EXPECT_THAT(cusp({{"nothing known", {}}}, {measured}), IsEmpty());
}

TEST(ModelledSurfaces, HaveEveryModelOverEachMix) {
    const auto machine = shipped("gtx680");
    const auto measured =
        surface({curve({.alpha = 0}, {{4, 0.05}, {64, 0.1}}), curve({.alpha = 8}, {{4, 0.1}, {64, 0.9}})});
    const auto all = modelled({measured}, machine);
    ASSERT_EQ(all.models.size(), models::catalogue().size());
    EXPECT_TRUE(all.models.front().shown);
    ASSERT_EQ(all.accesses.size(), 1U);
    ASSERT_EQ(all.accesses[0].mixes.size(), 1U);
    EXPECT_EQ(all.accesses[0].mixes[0].estimated.size(), all.models.size());
    EXPECT_THAT(all.accesses[0].mixes[0].measured, ElementsAre(Pair(4, 0.1), Pair(64, 0.9)));
}

TEST(ModelledSurfaces, SayWhyTheyHaveNoModels) {
    const auto measured = surface({curve({.alpha = 8}, {{4, 0.1}})});
    const auto all = modelled({measured}, {});
    ASSERT_EQ(all.accesses.size(), 1U);
    EXPECT_FALSE(all.accesses[0].why_no_models.empty());
    EXPECT_THAT(all.accesses[0].mixes[0].estimated, IsEmpty());
}

}  // namespace
}  // namespace gputomo::compare::of_mixes
