// Two complete scans of a real H200, deduced again from their traces and compared with each other.
#include "deduce/pipeline/mma_slots.hpp"
#include "deduce/pipeline/operand_banks.hpp"
#include "deduce/pipeline/schedulers.hpp"
#include "experiments/experiment.hpp"
#include "results/estimates.hpp"
#include "scan/declared_findings.hpp"
#include "scan/files.hpp"
#include "scan/gzip.hpp"
#include "scan/surface_file.hpp"
#include "units/file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace gputomo::scan {
namespace {

using results::Value;

const Scan& recorded(int run) {
    static const auto load = [](int number) {
        const auto file =
            std::string(GPUTOMO_SOURCE_DIR "/recordings/h200-scan-") + std::to_string(number) + ".json.gz";
        return scan_from_json(gunzip(read_file(file, "a recorded scan"), file), file);
    };
    static const std::vector<Scan> scans{load(1), load(2)};
    return scans.at(static_cast<std::size_t>(run - 1));
}

/// The values of a column of the trace EXPERIMENT/..., which must be there.
const std::vector<double>& column(const Scan& scan, std::string_view trace, std::string_view name) {
    const auto* values = scan.column(trace.substr(0, trace.find('/')), trace, name);
    if (values == nullptr || values->empty())
        throw std::runtime_error(std::string(trace) + " has no column " + std::string(name));
    return *values;
}

Value known_value(const Scan& scan, const std::string& path) {
    const auto* estimate = scan.findings.find(path);
    if (estimate == nullptr || !estimate->known()) throw std::runtime_error(path + " is not known");
    return estimate->value;
}

class RecordedScan : public ::testing::TestWithParam<int> {
protected:
    const Scan& scan = recorded(GetParam());
};

TEST_P(RecordedScan, CompletedEachExperimentWithTheExpectedMachineCode) {
    EXPECT_GE(scan.records.size(), 34U);
    for (const auto& record : scan.records) {
        EXPECT_EQ(record.status, Status::done) << record.id << ": " << record.error;
        for (const auto& check : record.outcome.code_checks)
            EXPECT_EQ(check.result, results::CodeResult::passed) << check.kernel;
    }
}

/// Experiments read findings by what others declare that they provide, so the declarations must be complete.
TEST_P(RecordedScan, HoldsOnlyEstimatesThatItsExperimentsProvide) {
    const auto catalogue = experiments::catalogue();
    for (const auto& record : scan.records) {
        const auto experiment = std::ranges::find(catalogue, record.id, &experiments::Experiment::id);
        ASSERT_NE(experiment, catalogue.end()) << record.id;
        for (const auto& estimate : record.outcome.estimates)
            EXPECT_TRUE(provides(*experiment, estimate.path)) << record.id << " does not declare " << estimate.path;
    }
}

TEST_P(RecordedScan, GivesItsSchedulersAgainFromTheTimesOfEqualWarps) {
    const auto &warps = column(scan, "issue/warps", "warps"), &cycles = column(scan, "issue/warps", "cycles");
    std::vector<deduce::SchedulerSample> samples;
    for (std::size_t i = 0; i < warps.size(); ++i) samples.push_back({warps[i], cycles[i]});
    const auto fits = deduce::scheduler_fits(samples, 16);
    ASSERT_GE(fits.size(), 2U);
    EXPECT_EQ(Value(std::int64_t{fits[0].schedulers}), known_value(scan, "issue.schedulers_per_sm"));
    EXPECT_LT(2 * fits[0].error, fits[1].error) << "the experiment decides only where the next fit is twice as bad";
}

/// The timed loops of the trace operand_banks/loops, which has a row for each instruction of each loop.
std::vector<deduce::OperandLoop> operand_loops(const Scan& scan) {
    constexpr std::string_view trace = "operand_banks/loops";
    const std::vector<double>* registers[] = {&column(scan, trace, "first"), &column(scan, trace, "second"),
                                              &column(scan, trace, "third")};
    const auto &loop = column(scan, trace, "loop"), &kept = column(scan, trace, "kept"),
               &cycles = column(scan, trace, "cycles");
    std::vector<deduce::OperandLoop> loops;
    for (std::size_t i = 0; i < loop.size(); ++i) {
        if (i == 0 || loop[i] != loop[i - 1]) loops.push_back({.instructions = {}, .cycles = cycles[i]});
        deduce::InstructionReads reads;
        for (int slot = 0; slot < 3; ++slot) {
            const double number = (*registers[slot])[i];
            const bool reuse = ((static_cast<int>(kept[i]) >> slot) & 1) != 0;
            if (number >= 0) reads.push_back({slot, static_cast<std::uint8_t>(number), reuse});
        }
        loops.back().instructions.push_back(std::move(reads));
    }
    return loops;
}

TEST_P(RecordedScan, GivesItsOperandBanksAgainFromTheTimesOfLoops) {
    const auto loops = operand_loops(scan);
    ASSERT_GT(loops.size(), 20U);
    const auto found = deduce::operand_banks(loops);
    ASSERT_FALSE(found.models.empty());
    for (const auto& model : found.models) {
        EXPECT_EQ(Value(std::int64_t{model.banks}), known_value(scan, "topology.operand_banks"));
        EXPECT_EQ(Value(std::int64_t{model.ports}), known_value(scan, "topology.operand_ports"));
    }
    EXPECT_GT(found.explained, 0.9) << "the experiment decides only above this share";
}

TEST_P(RecordedScan, GivesItsBlockReplacementAgainFromTheGapsBetweenBlocks) {
    const auto* found = scan.findings.find("launch.block_replacement");
    ASSERT_NE(found, nullptr);
    const auto again =
        results::decided_integer(found->path, summarise(column(scan, "launch/block_replacement", "gap")), {});
    EXPECT_EQ(again.knowledge, found->knowledge);
    EXPECT_EQ(again.value, found->value);
}

TEST_P(RecordedScan, GivesTheRangeOfItsMemoryLatencyAgainFromTheLatenciesOfSms) {
    const auto [least, most] = std::ranges::minmax(column(scan, "caches/memory_by_sm", "latency"));
    const std::vector<std::int64_t> range{std::llround(least), std::llround(most)};
    EXPECT_EQ(Value(range), known_value(scan, "paths.global.memory_latency_range"));
}

/// The mean of single readings and the latency from loads timed together must agree: reading the clock after each load
/// must not slow the loads down.
TEST_P(RecordedScan, BiasesSingleReadingsByLessThanOnePercent) {
    for (const auto& [trace, bytes, leaf] : {std::tuple{"caches/near", 131072.0, "caches.l1.latency"},
                                             std::tuple{"caches/far", 16777216.0, "caches.l2.latency"}}) {
        const auto &sizes = column(scan, trace, "size"), &means = column(scan, trace, "mean");
        const auto at = std::ranges::find(sizes, bytes) - sizes.begin();
        ASSERT_LT(at, std::ssize(sizes)) << trace << " has no array of " << bytes << " bytes";
        const auto together = results::as_number(known_value(scan, leaf));
        ASSERT_TRUE(together.has_value()) << leaf;
        EXPECT_NEAR(means[static_cast<std::size_t>(at)] / *together, 1, 0.01) << leaf;
    }
}

/// The rate of a mix on one SM with this number of warps, in instructions per cycle.
double rate_of(const measure::MixSurface& surface, const measure::MixShape& shape, int warps) {
    for (const auto& curve : surface.curves)
        for (const auto& sample : curve.samples)
            if (curve.shape.name() == shape.name() && sample.warps == warps) return sample.instructions_per_cycle;
    throw std::runtime_error(shape.name() + " was not recorded");
}

class RecordedTensorCores : public ::testing::TestWithParam<const char*> {
protected:
    const measure::MixSurface surface = load_surface(std::string(GPUTOMO_SOURCE_DIR "/recordings/") + GetParam());
    /// A mix of MMAs with `adds` adds for each; the mixes of tensor_products have these shapes.
    [[nodiscard]] static measure::MixShape mix(int adds, int chains) {
        return {.access = measure::MixAccess::tensor, .alpha = adds, .chains = chains};
    }
    /// The most instructions per cycle with two, three or four warps on each of the four schedulers.
    [[nodiscard]] double most_of(const measure::MixShape& shape) const {
        return std::max({rate_of(surface, shape, 8), rate_of(surface, shape, 12), rate_of(surface, shape, 16)});
    }
};

/// By hand: 1 / 0.04146 = 24.1 cycles for each MMA, and 2 / 0.06428 - 4 = 27.1 for an MMA and its way to an add. The
/// H100 of recordings/h100-scan-1.json.gz has the same two.
TEST_P(RecordedTensorCores, HaveTheLatenciesOfASingleWarp) {
    EXPECT_EQ(std::lround(1 / rate_of(surface, mix(0, 1), 1)), 24);
    EXPECT_EQ(std::lround(deduce::mma_to_add_latency(1 / rate_of(surface, mix(1, 1), 1), 4)), 27);
}

/// By hand: 0.666 MMAs a cycle are 21.3 lanes of a warp; the adds alone issue at 3.897, so that 17 x 3.897 / 3.0768 -
/// 16 = 5.5 slots with 16 adds for each MMA, and 65 x 3.897 / 3.636 - 64 = 5.7 with 64.
TEST_P(RecordedTensorCores, TakeTheIssueSlotsThatTheirMmasDisplace) {
    EXPECT_NEAR(32 * rate_of(surface, mix(0, 4), 8), 21.3, 0.05);
    const std::vector<deduce::MmaMix> mixes{{16, most_of(mix(16, 4))}, {64, most_of(mix(64, 4))}};
    const auto found = deduce::mma_slots(mixes, most_of({.chains = 4, .arithmetic_only = true}));
    EXPECT_TRUE(found.agree);
    EXPECT_NEAR(found.by_mix[0], 5.5, 0.05);
    EXPECT_NEAR(found.by_mix[1], 5.6, 0.1);
    EXPECT_LE(found.interval[0], 5.56) << "the H100's 5.56 slots lie within the interval";
    EXPECT_GE(found.interval[1], 5.56);
}

INSTANTIATE_TEST_SUITE_P(OfAnH200, RecordedTensorCores,
                         ::testing::Values("h200-surface-tensor.json.gz", "h200-surface-tensor-2.json.gz"));

INSTANTIATE_TEST_SUITE_P(OfAnH200, RecordedScan, ::testing::Values(1, 2));

TEST(RecordedScans, DecideTheSameValues) {
    for (const char* path :
         {"caches.l1.latency", "caches.l1.sector", "caches.l2.sector", "caches.constant_l1.capacity",
          "caches.constant_l1.line", "caches.constant_l1.ways", "caches.constant_l1.sets", "shared.latency",
          "shared.banks", "shared.conflict_cost", "operations[add.f32].latency", "operations[fma.rn.f64].latency",
          "tlbs.global_l1.ways", "tlbs.global_l1.sets", "issue.schedulers_per_sm", "issue.issue_interval",
          "issue.divergence", "issue.barrier_latency", "topology.register_allocation_unit"})
        for (const int run : {1, 2})
            EXPECT_EQ(known_value(recorded(run), path), known_value(recorded(1), path)) << path << " of scan " << run;
}

/// A scan may leave undecided what others decide, but no two scans may decide differently.
TEST(RecordedScans, NeverContradictEachOtherOnTheFirstTlb) {
    for (const auto& [path, value] : {std::pair{"tlbs.global_l1.entries", std::int64_t{16}},
                                      std::pair{"tlbs.global_l1.span", std::int64_t{16 << 20}}}) {
        int decided = 0;
        for (const int run : {1, 2}) {
            const auto* estimate = recorded(run).findings.find(path);
            ASSERT_NE(estimate, nullptr) << path;
            if (!estimate->known()) continue;
            EXPECT_EQ(estimate->value, Value(value)) << path;
            ++decided;
        }
        EXPECT_GE(decided, 2) << path;
    }
}

}  // namespace
}  // namespace gputomo::scan
