// The code checks of the instruments, against cubins that ptxas compiled from their kernels.
#include "scripted_device.hpp"

#include "measure/bandwidth/streaming.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/kernel/clock_kernels.hpp"
#include "measure/kernel/code_check.hpp"
#include "measure/throughput/shared_chase.hpp"
#include "measure/throughput/timed_chains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace gputomo::measure {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace results;

std::vector<std::byte> cubin(const std::string& kernel, int sm) {
    const std::string file = GPUTOMO_SOURCE_DIR "/tests/data/cubin/" + kernel + ".sm_" + std::to_string(sm) + ".cubin";
    std::ifstream in(file, std::ios::binary);
    EXPECT_TRUE(in) << file;
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

std::optional<device::MachineCode> code(const std::string& kernel, int sm = 90) {
    return device::MachineCode{cubin(kernel, sm)};
}

const TimedOperation& operation(std::string_view mnemonic) {
    return *std::ranges::find(all_operations(), mnemonic, &TimedOperation::name);
}

/// A device that compiles nothing: it has the cubin of one kernel.
class Compiled : public testing::ScriptedDevice {
public:
    explicit Compiled(const std::string& kernel, int sm = 90) { compile(kernel, cubin(kernel, sm)); }
};

void expect_passed(const std::vector<CodeCheck>& checks) {
    EXPECT_FALSE(checks.empty());
    for (const auto& check : checks) EXPECT_EQ(check.result, CodeResult::passed) << check.kernel << ": " << check.found;
}

TEST(CodeCheckTest, ChainsAreCompiledAsWritten) {
    for (const auto* mnemonic : {"add.s32", "add.f64", "rsqrt.approx.f32"}) {
        std::string name = std::string("chain_") + mnemonic + "_ilp1";
        std::ranges::replace(name, '.', '_');
        Compiled device(name);
        expect_passed(DoubledChain(device, operation(mnemonic), {}).compiled().code_checks());
    }
}

TEST(CodeCheckTest, AcceptsWaitsThatTheCompilerAdds) {
    Compiled device("chain_add_f64_ilp1", 120);
    expect_passed(DoubledChain(device, operation("add.f64"), {}).compiled().code_checks());
}

TEST(CodeCheckTest, ChasesAreCompiledAsWritten) {
    Compiled fine("fine_chase_ca");
    expect_passed(PointerChase(fine, {}).fine_kernel().code_checks());
    Compiled average("average_chase_ca_x24");
    expect_passed(PointerChase(average, {}).average_kernel().code_checks());
    Compiled shared("shared_chase_v2_x1");
    expect_passed(SharedChase(shared, {.width = 2, .length = 32}).compiled().code_checks());
}

TEST(CodeCheckTest, ClockKernelsAreCompiledAsWritten) {
    for (const int sm : {90, 120}) {
        Compiled device("clock_readings", sm);
        expect_passed(read_clocks(device).code_checks);
    }
    Compiled spin("spin");
    expect_passed(Spinner(spin).compiled().code_checks());
    expect_passed({check_code(code("block_times", 120), "block_times", ReadInLoop{})});
}

TEST(CodeCheckTest, StreamsAreCompiledAsWritten) {
    Compiled device("stream_copy_x4");
    const Streaming streaming(device, StreamKind::copy, {.unroll = 4}, 0, Bytes{1 << 20});
    EXPECT_EQ(streaming.compiled().code_checks().size(), 2U);
    expect_passed(streaming.compiled().code_checks());
}

TEST(CodeCheckTest, AShortenedChainFailsWithItsListing) {
    const auto check = check_code(code("folded"), "folded", TimedCode{{"IADD3|IMAD|VIADD"}, {16}});
    EXPECT_EQ(check.result, CodeResult::failed);
    EXPECT_EQ(check.expected, "between clock reads 16 x IADD3|IMAD|VIADD, nothing else that is slow");
    EXPECT_EQ(check.found, "no IADD3|IMAD|VIADD between clock reads");
    try {
        require(check);
        FAIL();
    } catch (const CodeMismatch& mismatch) {
        EXPECT_THAT(mismatch.what(),
                    AllOf(HasSubstr("kernel folded"), HasSubstr(check.expected), HasSubstr(check.found)));
        EXPECT_THAT(mismatch.what(), AllOf(HasSubstr("0040  CS2R SR_CLOCKLO"), HasSubstr("0050  VIADD")));
    }
}

TEST(CodeCheckTest, AMismatchThrowsFromTheInstrument) {
    Compiled device("chain_add_f64_ilp1");
    const TimedOperation wrong{"add.f64", ptx::Type::f64, "d a b", "dpu", "FADD"};
    EXPECT_THROW(DoubledChain(device, wrong, {}), CodeMismatch);
    EXPECT_THROW(DoubledChain(device, operation("add.f64"), {.length = 160}), CodeMismatch) << "fewer than asked for";
    EXPECT_THROW(DoubledChain(device, operation("add.f64"), {.length = 64}), CodeMismatch) << "more than asked for";
}

TEST(CodeCheckTest, SlowInstructionsBesideTheOperationFail) {
    // One store stands beside the only addition.
    EXPECT_EQ(check_code(code("folded"), "folded", TimedCode{{"VIADD"}, {1}}).result, CodeResult::failed);
    EXPECT_EQ(check_code(code("folded"), "folded", TimedCode{{"VIADD|STG"}, {1}}).result, CodeResult::passed);
}

TEST(CodeCheckTest, CompanionsAreCounted) {
    const auto rsqrt = code("chain_rsqrt_approx_f32_ilp1");
    const TimedCode wanted{.operation = {"MUFU"}, .counts = {128, 256}, .companions = 3};
    EXPECT_EQ(check_code(rsqrt, "chain_rsqrt_approx_f32_ilp1", wanted).result, CodeResult::passed);
    TimedCode bare = wanted;
    bare.companions = 0;
    const auto check = check_code(rsqrt, "chain_rsqrt_approx_f32_ilp1", bare);
    EXPECT_EQ(check.result, CodeResult::failed);
    EXPECT_THAT(check.found, HasSubstr("256 x FMUL, 128 x FSETP"));
}

TEST(CodeCheckTest, NarrowerAccessesFail) {
    const auto shared = code("shared_chase_v2_x1");
    EXPECT_EQ(check_code(shared, "shared_chase_v2_x1", TimedCode{{"LDS", 8}, {32, 64}}).result, CodeResult::passed);
    EXPECT_EQ(check_code(shared, "shared_chase_v2_x1", TimedCode{{"LDS", 4}, {32, 64}}).result, CodeResult::failed);
    const auto stream = code("stream_copy_x4");
    EXPECT_EQ(check_code(stream, "stream_copy_x4", LoopedCode{{"LDG", 4}, 16}).result, CodeResult::failed);
    EXPECT_EQ(check_code(stream, "stream_copy_x4", LoopedCode{{"LDG", 16}, 3}).result, CodeResult::failed);
}

/// If each of 32 loads may be used on its own, ptxas 13.0 uses the first results before it issues the last loads.
TEST(CodeCheckTest, LoadsSeparatedByWaitsAreNotTogether) {
    constexpr std::string_view kName = "load_32x4_span128";
    EXPECT_EQ(check_code(code("load_32x4_span128"), kName, LoopedCode{{"LDG", 4}, 32, true}).result,
              CodeResult::passed);
    EXPECT_EQ(check_code(code("load_32x4_span128"), kName, LoopedCode{{"LDG", 4}, 31, true}).result, CodeResult::failed)
        << "32 are no multiple";
    EXPECT_EQ(check_code(code("early_uses"), kName, LoopedCode{{"LDG", 4}, 32}).result, CodeResult::passed);
    EXPECT_EQ(check_code(code("early_uses"), kName, LoopedCode{{"LDG", 4}, 32, true}).result, CodeResult::failed);
    EXPECT_EQ(check_code(code("early_uses"), kName, LoopedCode{{"LDG", 4}, 8, true}).result, CodeResult::failed)
        << "the first 8 stand together, later ones don't";
}

TEST(CodeCheckTest, MissingLoopsAndPairsOfReadsFail) {
    EXPECT_EQ(check_code(code("folded"), "folded", ReadInLoop{}).found, "0 of 0 loops");
    EXPECT_EQ(check_code(code("folded"), "folded", LoopedCode{{"STG"}, 1}).found, "no loop");
    EXPECT_EQ(check_code(code("folded"), "folded", ReadsBackToBack{1}).result, CodeResult::failed);
    EXPECT_EQ(check_code(code("clock_readings"), "clock_readings", ReadsBackToBack{14}).result, CodeResult::passed);
    EXPECT_EQ(check_code(code("clock_readings"), "clock_readings", ReadsBackToBack{15}).result, CodeResult::failed);
}

TEST(CodeCheckTest, WithoutReadableCodeTheCheckIsUnavailable) {
    const auto none = check_code(std::nullopt, "folded", ReadInLoop{});
    EXPECT_EQ(none.result, CodeResult::unavailable);
    EXPECT_EQ(none.found, "the device has no machine code");
    EXPECT_NO_THROW(require(none));
    const auto garbage = check_code(device::MachineCode{std::vector<std::byte>(100)}, "folded", ReadInLoop{});
    EXPECT_EQ(garbage.result, CodeResult::unavailable);
    EXPECT_THAT(garbage.found, HasSubstr("offset 0x0"));
    auto old = cubin("folded", 90);
    old.at(49) = std::byte{61};
    EXPECT_THAT(check_code(device::MachineCode{old}, "folded", ReadInLoop{}).found, HasSubstr("not supported: sm_61"));
}

}  // namespace
}  // namespace gputomo::measure
