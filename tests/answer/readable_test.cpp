// What an answer says in words, its interval, its rates and its operations.
#include "answer/answer_text.hpp"
#include "answer/operations/flop.hpp"
#include "answer/predict.hpp"
#include "answer/published_errors.hpp"
#include "answer/simulate.hpp"
#include "answer/summary.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <string>

namespace gputomo::answer {
namespace {

using testing::AllOf;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const machine::Machine& readable_h200() {
    static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    return machine;
}

/// Blocks of 256 threads of c = a + b.
launch::Launch sum_of(std::uint32_t blocks) {
    launch::Launch launch;
    launch.code = read_file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/vector_add.cubin", "a cubin");
    launch.kernel = "vector_add";
    launch.grid = {blocks};
    launch.block = {256};
    for (std::uint64_t i = 0; i < 3; ++i) {
        launch.arguments.push_back({.offset = 8 * i, .bytes = std::vector<std::byte>(8), .buffer = i});
        launch.buffers.push_back({.name = "an array", .bytes = std::uint64_t{blocks} * 1024, .address = {}});
    }
    return launch;
}

const capture::Capture& products() {
    static const auto captured = capture::load(GPUTOMO_SOURCE_DIR "/tests/answer/fixtures/sgemm");
    return captured;
}

Answer answer_to(const launch::Launch& launch) { return predict(launch, {readable_h200(), "sim:h200"}, {}); }
const Answer& product() {
    static const auto answer = answer_to(launch::captured_launch(products(), products().launches[0]));
    return answer;
}

TEST(ReadableAnswer, TheLimiterIsTheRowWithMostCycles) {
    for (const auto& answer : {product(), answer_to(sum_of(4096)), answer_to(sum_of(8)), answer_to(sum_of(65536))}) {
        const auto& limiter = *answer.limiter;
        double most = limiter.latency_cycles;
        for (const auto& bound : limiter.bounds) most = std::max(most, bound.cycles);
        const auto row = std::ranges::find(limiter.bounds, limiter.resource, &Bound::resource);
        EXPECT_EQ(limiter.resource == "latency" ? limiter.latency_cycles : row->cycles, most);
        const auto text = answer_text(answer);
        const auto rows = text.substr(text.find("of each resource alone\n") + 23);
        EXPECT_THAT(rows, StartsWith("  " + limiter.resource)) << "the table begins with it";
    }
}

TEST(ReadableAnswer, PartsAddUpToTheTime) {
    for (const auto& answer : {product(), answer_to(sum_of(8))}) {
        const auto& parts = answer.limiter->parts;
        const double sum = std::accumulate(parts.begin(), parts.end(), 0.0,
                                           [](double all, const TimePart& part) { return all + part.cycles; });
        EXPECT_NEAR(sum, answer.time.cycles, 1e-6 * sum);
    }
}

TEST(ReadableAnswer, TheIntervalComesFromPublishedErrors) {
    const auto published = nlohmann::json::parse(published_accuracy());
    const auto& table = published["tables"][0];
    ASSERT_EQ(table["gpu"], "H200");
    ASSERT_EQ(table["columns"][5], "90th percentile");
    const auto row = std::ranges::find_if(table["rows"], [](const auto& r) { return r[0] == "`predict`"; });
    const double error = std::stod((*row)[5].get<std::string>()) / 100;
    const auto& interval = product().time.interval;
    ASSERT_TRUE(interval);
    EXPECT_DOUBLE_EQ(product().time.cycles / interval->low - 1, error) << "a measured time so much shorter";
    EXPECT_DOUBLE_EQ(1 - product().time.cycles / interval->high, error);
    EXPECT_THAT(interval->basis, HasSubstr("docs/results/accuracy.json"));
    EXPECT_FALSE(interval_of(1000, Method::predict, "GeForce GTX 280")) << "no errors are published";
    const double of_h200 = worst_factor("dependent", Method::simulate, "NVIDIA H200");
    const double of_h100 = worst_factor("dependent", Method::simulate, "NVIDIA H100 80GB HBM3");
    EXPECT_GT(of_h200, 1);
    EXPECT_EQ(worst_factor("dependent", Method::simulate, "GeForce GTX 280"), std::max(of_h200, of_h100));
    EXPECT_EQ(worst_factor("no such class", Method::simulate, "NVIDIA H200"), 1);
    EXPECT_NE(interval_of(1000, Method::predict, "NVIDIA H100 80GB HBM3")->high,
              interval_of(1000, Method::predict, "NVIDIA H200")->high);
}

TEST(ReadableAnswer, ASmallGridLimitsOccupancyItself) {
    const auto few = answer_to(sum_of(8));
    EXPECT_EQ(few.occupancy->limited_by, "the grid");
    EXPECT_THAT(few.summary, StartsWith("Its 8 blocks leave 124 of 132 SMs without work. "));
    EXPECT_EQ(answer_to(sum_of(132 * 8)).occupancy->limited_by, "threads of an SM");
    EXPECT_EQ(answer_to(sum_of(132 * 7)).occupancy->limited_by, "the grid");
    EXPECT_EQ(product().occupancy->limited_by, "registers");
}

TEST(ReadableAnswer, AchievedOccupancyIsBelowTheResidentWarps) {
    for (const auto& answer : {product(), answer_to(sum_of(4096))}) {
        const double achieved = *answer.occupancy->achieved_warps_per_sm;
        EXPECT_GT(achieved, 0.3 * answer.occupancy->warps_per_sm);
        EXPECT_LE(achieved, answer.occupancy->warps_per_sm);
    }
}

TEST(ReadableAnswer, AccessesWithoutConflictsTakeOnceTheirTime) {
    // LDS.128 takes four times as long as LDS, without any conflict; only the stores of sgemm have some.
    EXPECT_THAT(*product().work.shared_time_ratio, DoubleNear(1.04, 0.01));
    EXPECT_EQ(*answer_to(sum_of(8)).work.shared_time_ratio, 1) << "it has no shared memory";
}

TEST(ReadableAnswer, OperationsAndRatesAreCounted) {
    const auto sum = answer_to(sum_of(4096));
    ASSERT_TRUE(sum.work.flop);
    EXPECT_EQ(sum.work.flop->at("f32"), 4096 * 256);
    const auto& roofline = sum.roofline;
    EXPECT_EQ(roofline.type, "f32");
    EXPECT_DOUBLE_EQ(*roofline.flop_per_second, 4096 * 256 / sum.time.microseconds * 1e6);
    EXPECT_NEAR(*roofline.flop_per_second_ceiling, 2 * 128 * 132 * 1.98e9, 1e12) << "fused multiply-adds";
    EXPECT_NEAR(*roofline.dram_bytes_per_second_ceiling, 4.66e12, 0.01e12);
    const auto read = std::ranges::find(sum.byte_rates, "L1 from L2", &Rate::what);
    EXPECT_NEAR(read->per_second, 2 * 4 * 4096 * 256 / sum.time.microseconds * 1e6, 1e10);
    // 2 m n k of the whole product
    EXPECT_NEAR(product().work.flop->at("f32"), 2.0 * 2048 * 2048 * 512, 0.01 * 2.0 * 2048 * 2048 * 512);
}

TEST(ReadableAnswer, ASimulationHasRegistersAnIntervalAndCeilings) {
    const auto answer = simulate(sum_of(264), {readable_h200(), "sim:h200"}, {});
    EXPECT_EQ(answer.launch.registers_per_thread, 12);
    EXPECT_EQ(answer.launch.shared_bytes, 1024) << "what the system keeps";
    EXPECT_TRUE(answer.time.interval);
    EXPECT_FALSE(answer.work.flop) << "it does not count them";
    EXPECT_FALSE(answer.roofline.flop_per_second);
    EXPECT_TRUE(answer.roofline.flop_per_second_ceiling);
    EXPECT_GT(answer.roofline.dram_bytes_per_second, 0);
    EXPECT_THAT(answer_text(answer), AllOf(HasSubstr("roofline      ? FLOP/s of 67"), HasSubstr("12 registers")));
}

TEST(Flop, InstructionsByTheirText) {
    const auto count = [](std::string_view text) {
        const auto flop = flop_of(text);
        return flop ? std::pair(flop->type, flop->of_thread + flop->of_warp) : std::pair(std::string("-"), 0.0);
    };
    EXPECT_EQ(count("@!P0 FFMA.FTZ R1, R2, R3, R4 at 0x40"), std::pair(std::string("f32"), 2.0));
    EXPECT_EQ(count("DADD R2, R2, R4"), std::pair(std::string("f64"), 1.0));
    EXPECT_EQ(count("HFMA2.MMA R1, R2, R3, R4"), std::pair(std::string("f16"), 4.0));
    EXPECT_EQ(count("HFMA2.MMA R1, -RZ, RZ, 1.875, 0").first, "-") << "a move";
    EXPECT_EQ(count("HADD2.F32 R1, -RZ, R2.H0_H0").first, "-") << "a conversion";
    EXPECT_EQ(count("HMMA.16816.F32.BF16 R4, R8, R2, R4"), std::pair(std::string("tensor bf16"), 4096.0));
    EXPECT_EQ(count("IMMA.16832.S8.S8 R4, R8, R2, R4"), std::pair(std::string("tensor i8"), 8192.0));
    EXPECT_EQ(count("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24"), std::pair(std::string("tensor f16"), 65536.0));
    EXPECT_EQ(count("HGMMA.SP.64x128x32.F32 R24, gdesc[UR4], R24, R88, 0x0"),
              std::pair(std::string("tensor f16"), 65536.0))
        << "without the elements of A that are not there";
    EXPECT_EQ(count("IMAD R1, R2, R3, R4").first, "-");
    EXPECT_EQ(count("MUFU.RCP R1, R2").first, "-");
    EXPECT_EQ(count("").first, "-");
}

TEST(InUnits, KeepsThreeDigits) {
    EXPECT_EQ(in_units(0, "B"), "0 B");
    EXPECT_EQ(in_units(999.4, "B"), "999 B");
    EXPECT_EQ(in_units(999.6, "B"), "1 kB");
    EXPECT_EQ(in_units(4.656e12, "B/s"), "4.66 TB/s");
}

}  // namespace
}  // namespace gputomo::answer
