#include "scan/runner.hpp"

#include "fakes.hpp"
#include "scan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace gputomo::scan {
namespace {

using testing::decided;
using ::testing::ElementsAre;
using testing::FakeExperiments;
using ::testing::HasSubstr;

class RunnerTest : public ::testing::Test {
protected:
    Scan run(const std::vector<experiments::Experiment>& catalogue, const Options& options = {}) {
        return scan::run(device, plan_of_all(catalogue, measure::Budget::small), options);
    }
    static std::vector<Status> statuses(const Scan& scan) {
        std::vector<Status> all;
        for (const auto& record : scan.records) all.push_back(record.status);
        return all;
    }
    FakeExperiments fakes;
    testing::LosableDevice device;
};

TEST_F(RunnerTest, RecordsOptionsAndOutcomes) {
    FakeExperiments::finds('a', {decided("shared.latency", std::int64_t{38})});
    FakeExperiments::body('b', [](experiments::Context& context) {
        EXPECT_EQ(context.findings.number("shared.latency"), 38);
        EXPECT_EQ(context.seed, 7U);
        EXPECT_TRUE(context.quick);
        return results::Outcome{.warnings = {"warm"}};
    });
    const auto scan = run({FakeExperiments::make('a'), FakeExperiments::make('b', {"a"})}, {.seed = 7, .quick = true});
    EXPECT_EQ(scan.device_name, "Scripted");
    EXPECT_EQ(scan.device_id, "scripted:0");
    EXPECT_EQ(scan.seed, 7U);
    EXPECT_TRUE(scan.quick);
    EXPECT_THAT(statuses(scan), ElementsAre(Status::done, Status::done));
    EXPECT_EQ(scan.findings.number("shared.latency"), 38);
    EXPECT_THAT(scan.records.at(1).outcome.warnings, ElementsAre("warm"));
    EXPECT_FALSE(scan.interrupted());
    EXPECT_EQ(scan.first_failure(), nullptr);
}

TEST_F(RunnerTest, SkipsOnlyWhatNeedsAFailedExperiment) {
    struct Case {
        void (*fail)();
        Status status;
    };
    const Case cases[] = {
        {[] { FakeExperiments::throws<InputError>('a', "why"); }, Status::failed},
        {[] { FakeExperiments::throws<std::runtime_error>('a', "why"); }, Status::failed},
        {[] { FakeExperiments::throws<DeviceError>('a', "why"); }, Status::device_failed},
        {[] { FakeExperiments::throws<TimeLimitError>('a', "why"); }, Status::timed_out},
    };
    FakeExperiments::finds('d', {decided("shared.latency", std::int64_t{38})});
    for (const auto& one : cases) {
        SCOPED_TRACE(status_name(one.status));
        one.fail();
        const auto scan = run({FakeExperiments::make('a'), FakeExperiments::make('b', {"a"}),
                               FakeExperiments::make('c', {"b"}), FakeExperiments::make('d')});
        EXPECT_THAT(statuses(scan), ElementsAre(one.status, Status::skipped, Status::skipped, Status::done));
        EXPECT_EQ(scan.records.at(0).error, "why");
        EXPECT_THAT(scan.records.at(1).error, HasSubstr("needs a"));
        EXPECT_THAT(scan.records.at(2).error, HasSubstr("needs b"));
        EXPECT_EQ(scan.findings.number("shared.latency"), 38);
        ASSERT_NE(scan.first_failure(), nullptr);
        EXPECT_EQ(scan.first_failure()->id, "a");
        EXPECT_FALSE(scan.interrupted());
    }
}

TEST_F(RunnerTest, EndsTheScanWhenTheDeviceIsLost) {
    FakeExperiments::body('b', [this](experiments::Context&) -> results::Outcome {
        device.lost = true;
        throw DeviceError("cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS");
    });
    FakeExperiments::body('c', [](experiments::Context&) -> results::Outcome {
        ADD_FAILURE() << "ran on a lost device";
        return {};
    });
    FakeExperiments::finds('a', {decided("shared.latency", std::int64_t{38})});
    const auto scan = run({FakeExperiments::make('a'), FakeExperiments::make('b'), FakeExperiments::make('c'),
                           FakeExperiments::make('d')});
    EXPECT_THAT(statuses(scan), ElementsAre(Status::done, Status::device_failed, Status::skipped, Status::skipped));
    EXPECT_EQ(scan.records.at(2).error, "the device is lost since b failed");
    EXPECT_EQ(scan.records.at(3).error, "the device is lost since b failed");
    EXPECT_EQ(scan.findings.number("shared.latency"), 38);
}

TEST_F(RunnerTest, TreatsADeviceThatReturnsAnotherWordAsLost) {
    FakeExperiments::throws<TimeLimitError>('a', "kernel spin not finished within 10 s");
    class Forgetful : public testing::LosableDevice {
        void copy_to_host(std::span<std::byte> to, device::Address) override {
            std::fill(to.begin(), to.end(), std::byte{0});
        }
    } forgetful;
    const std::vector catalogue{FakeExperiments::make('a'), FakeExperiments::make('b')};
    EXPECT_THAT(statuses(scan::run(forgetful, plan_of_all(catalogue, measure::Budget::small), {})),
                ElementsAre(Status::timed_out, Status::skipped));
}

TEST_F(RunnerTest, KeepsResultsAndStartsNothingAfterAnInterrupt) {
    FakeExperiments::finds('a', {decided("shared.latency", std::int64_t{38})});
    FakeExperiments::body('b', [](experiments::Context& context) -> results::Outcome {
        context.progress(0.5, "half");
        ADD_FAILURE() << "went on after the interrupt";
        return {};
    });
    Options options;
    options.progress = [](double, double, std::string_view what) {
        if (what == "b: half") throw Interrupted("interrupted by the user");
    };
    const auto scan =
        run({FakeExperiments::make('a'), FakeExperiments::make('b'), FakeExperiments::make('c')}, options);
    EXPECT_THAT(statuses(scan), ElementsAre(Status::done, Status::interrupted, Status::skipped));
    EXPECT_EQ(scan.records.at(2).error, "interrupted");
    EXPECT_TRUE(scan.interrupted());
    EXPECT_EQ(scan.first_failure(), nullptr);
    EXPECT_EQ(scan.findings.number("shared.latency"), 38);
}

TEST_F(RunnerTest, SavesAfterEveryExperimentEvenAFailedOne) {
    FakeExperiments::throws<DeviceError>('a', "why");
    FakeExperiments::finds('c', {decided("shared.latency", std::int64_t{38})});
    std::vector<std::size_t> records;
    std::vector<std::size_t> findings;
    Options options;
    options.save = [&](const Scan& scan) {
        records.push_back(scan.records.size());
        findings.push_back(scan.findings.all().size());
    };
    (void)run({FakeExperiments::make('a'), FakeExperiments::make('b', {"a"}), FakeExperiments::make('c')}, options);
    EXPECT_THAT(records, ElementsAre(1, 2, 3));
    EXPECT_THAT(findings, ElementsAre(0, 0, 1));
}

TEST_F(RunnerTest, ReportsProgressFromZeroToOne) {
    const auto half = [](experiments::Context& context) {
        context.progress(0.5, "half");
        context.progress(7, "too much");
        return results::Outcome{};
    };
    FakeExperiments::body('a', half);
    FakeExperiments::body('b', half);
    std::vector<double> fractions;
    Options options;
    options.progress = [&](double fraction, double, std::string_view) { fractions.push_back(fraction); };
    (void)run({FakeExperiments::make('a'), FakeExperiments::make('b')}, options);
    EXPECT_THAT(fractions, ElementsAre(0, 0.25, 0.5, 0.5, 0.75, 1));
}

/// If only describe() found these faults, each of them would cost the whole scan.
TEST_F(RunnerTest, FailsAnExperimentWhoseOutcomeFitsNoDescription) {
    auto unsure = decided("shared.latency", std::int64_t{38});
    unsure.confidence = std::numeric_limits<double>::quiet_NaN();
    auto wide = decided("shared.latency", std::int64_t{38});
    wide.interval = {38, std::numeric_limits<double>::infinity()};
    for (const auto& faulty :
         {decided("shared.lateness", std::int64_t{38}), decided("shared.latency", std::string("short")),
          decided("clock.sm_mhz", std::numeric_limits<double>::quiet_NaN()), unsure, wide}) {
        FakeExperiments::finds('a', {faulty});
        FakeExperiments::finds('b', {decided("shared.banks", std::int64_t{32})});
        const auto scan = run({FakeExperiments::make('a'), FakeExperiments::make('b')});
        EXPECT_THAT(statuses(scan), ElementsAre(Status::failed, Status::done));
        EXPECT_THAT(scan.records.at(0).error, HasSubstr(faulty.path));
        EXPECT_TRUE(scan.records.at(0).outcome.estimates.empty());
        EXPECT_EQ(*describe(scan).shared.banks, 32);
    }
}

TEST(Describe, TurnsAnEstimateIntoALeafWithProvenance) {
    Scan scan;
    auto latency = decided("caches.l1.latency", std::int64_t{42});
    latency.interval = {41, 43};
    latency.note = "of 12 repetitions";
    scan.findings.add(latency);
    auto ways = decided("caches.l1.ways", std::int64_t{});
    ways.knowledge = results::Knowledge::undecided;
    ways.candidates = {std::int64_t{4}, std::int64_t{8}};
    scan.findings.add(ways);
    auto l2 = decided("caches.l2.capacity", std::int64_t{});
    l2.knowledge = results::Knowledge::absent;
    scan.findings.add(l2);
    scan.findings.add(decided("clock.sm_mhz", std::int64_t{1300}));
    const auto machine = describe(scan);

    const auto& l1 = machine.caches.at("l1");
    EXPECT_EQ(*l1.latency, 42);
    EXPECT_EQ(l1.latency.provenance.method, "fake, by decree");
    EXPECT_EQ(l1.latency.provenance.source, "");
    EXPECT_EQ(l1.latency.provenance.confidence, 0.75);
    EXPECT_EQ(l1.latency.provenance.interval, (std::array<double, 2>{41, 43}));
    EXPECT_EQ(l1.latency.provenance.note, "of 12 repetitions");
    EXPECT_EQ(l1.ways.knowledge, machine::Knowledge::undecided);
    EXPECT_THAT(l1.ways.candidates, ElementsAre(4, 8));
    EXPECT_EQ(machine.caches.at("l2").capacity.knowledge, machine::Knowledge::absent);
    EXPECT_EQ(*machine.clock.sm_mhz, 1300.0);
    EXPECT_EQ(machine.shared.latency.knowledge, machine::Knowledge::unknown);
}

TEST(Describe, ClampsConfidencesAndFillsEmptyMethods) {
    Scan scan;
    auto sure = decided("shared.latency", std::int64_t{38});
    sure.confidence = 1.2;
    sure.method.clear();
    scan.findings.add(sure);
    const auto machine = describe(scan);
    EXPECT_EQ(machine.shared.latency.provenance.confidence, 1.0);
    EXPECT_EQ(machine.shared.latency.provenance.method, "measured");
}

}  // namespace
}  // namespace gputomo::scan
