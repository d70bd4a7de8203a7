// A description is simulated, the simulation scanned, and what comes out compared with what went in.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "sim/simulator.hpp"
#include "validate/compare.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputomo::validate {
namespace {

struct ClosedLoop {
    std::vector<std::string> wrong;
    std::size_t exact = 0;
};

/// `only`: experiments, with what they need; all where there are none.
ClosedLoop close_loop(const std::string& file, const std::vector<std::string>& only = {}) {
    const auto truth = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/" + file);
    const auto device = sim::make_device(truth, {.id = "sim:closed-loop", .seed = 3});
    const auto plan = only.empty() ? scan::plan_of_all(experiments::catalogue(), true) : scan::plan(experiments::catalogue(), only);
    const auto scanned = scan::run(*device, plan, {.seed = 3});
    ClosedLoop loop;
    for (const auto& record : scanned.records)
        if (record.status != scan::Status::done) loop.wrong.push_back(record.id + ": " + record.error);
    for (const auto& comparison : compare(truth, scan::describe(scanned))) {
        if (comparison.verdict == Verdict::exact) ++loop.exact;
        if (comparison.verdict == Verdict::wrong) loop.wrong.push_back(comparison.path);
    }
    return loop;
}

TEST(ClosedLoop, OfTheGtx280ComesBack) {
    const auto loop = close_loop("machines/gtx280.json");
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_GE(loop.exact, 60U);
}

TEST(ClosedLoop, OfAFermiLikeGpuComesBack) {
    const auto loop = close_loop("tests/data/machines/fermi_like.json");
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_GE(loop.exact, 70U);
}

TEST(ClosedLoop, OfAKeplerLikeGpuComesBack) {
    const auto loop = close_loop("tests/data/machines/kepler_like.json");
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_GE(loop.exact, 70U);
}

TEST(ClosedLoop, OfTlbsThatAPageWindowLiesAcrossComesBack) {
    // One set of 16 entries and seven unequal ones; a page window ends among the pages that are walked (Mei 2014, 4.2).
    const auto loop = close_loop("machines/gtx780.json", {"caches", "tlb"});
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_GE(loop.exact, 25U) << "caches alone are 17";
}

}  // namespace
}  // namespace gputomo::validate
