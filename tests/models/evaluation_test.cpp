// Evaluates models on surfaces that other models made.
#include "gpus.hpp"

#include "models/evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace gputomo::models::testing::of_evaluation {
namespace {

MeasuredMix as_if(std::string_view model, const Parameters& p, double alpha) {
    MeasuredMix measured{{alpha}, {}};
    for (int warps = p.schedulers; warps <= p.max_warps; warps += p.schedulers)
        measured.throughput[warps] = ipc(model, p, alpha, warps);
    return measured;
}

const Evaluation& row(const std::vector<Evaluation>& rows, std::string_view model, double alpha) {
    return *std::find_if(rows.begin(), rows.end(),
                         [&](const auto& e) { return e.model == model && e.mix.alpha == alpha; });
}

TEST(Evaluation, ModelAgreesWithItself) {
    const auto p = gpu("gtx280");
    const auto rows = evaluate(p, {as_if("volkov-basic", p, 1), as_if("volkov-basic", p, 32)});
    EXPECT_EQ(rows.size(), 2 * catalogue().size());
    EXPECT_DOUBLE_EQ(row(rows, "volkov-basic", 32).smallest, 1);
    EXPECT_DOUBLE_EQ(row(rows, "volkov-basic", 32).largest, 1);
    EXPECT_NEAR(row(rows, "hong-kim", 32).largest, 2.1, 0.05);
    EXPECT_NEAR(row(rows, "baghsorkhi", 1).smallest, 0.1, 0.05);
    for (const auto& model : overall(rows)) {
        EXPECT_GE(model.mean_error, 1) << model.model;
        EXPECT_LE(model.mean_error, std::max(model.largest, 1 / model.smallest) + 1e-9) << model.model;
        EXPECT_LE(model.smallest, row(rows, model.model, 1).smallest);
        EXPECT_GE(model.largest, row(rows, model.model, 32).largest);
    }
}

TEST(Evaluation, NeededOccupancyIsTheFirstWith90PercentOfThePeak) {
    const auto p = gpu("gtx980");
    const auto rows = evaluate(p, {as_if("volkov-contention", p, 1), as_if("volkov-contention", p, 48)});
    const auto& basic = row(rows, "volkov-basic", 1);
    EXPECT_EQ(basic.needed_estimated, warps_to_reach(find_model("volkov-basic"), p, {1}, 0.9, 64).value() / 4 * 4 + 0);
    EXPECT_GT(basic.needed_measured.value(), basic.needed_estimated.value());
    EXPECT_FALSE(row(rows, "chen-aamodt-1", 1).needed_estimated.has_value());
}

TEST(Evaluation, SkipsMixesWithoutSamples) { EXPECT_TRUE(evaluate(gpu("gtx980"), {{{1}, {}}}).empty()); }

}  // namespace
}  // namespace gputomo::models::testing::of_evaluation
