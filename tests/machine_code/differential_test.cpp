// Machine code against PTX: the same programs, executed as both, leave the same memory.
#include "machine/json.hpp"
#include "sass/cubin.hpp"
#include "sim/completion.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace gputomo::sim::machine_code {
namespace {

using testing::HasSubstr;

const std::string kFolder = GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/";

std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::byte> file_bytes(const std::string& path) {
    const std::string text = file_text(path);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

using Words = std::vector<std::uint32_t>;

/// A launch with buffers, whose addresses are the first parameters.
struct Case {
    std::string kernel;
    device::Dim3 grid, block;
    std::vector<Words> buffers;
    std::vector<std::uint32_t> scalars;
};

/// Loads PTX or a cubin and launches it on the simulated GPU.
std::vector<Words> on_gpu(device::Device& gpu, const std::string& code, const Case& test) {
    std::vector<device::Buffer> buffers;
    device::Launch launch{.grid = test.grid, .block = test.block, .time_limit = std::chrono::milliseconds(120'000)};
    for (const Words& words : test.buffers) {
        buffers.emplace_back(gpu, Bytes(static_cast<std::int64_t>(4 * words.size())));
        buffers.back().write(words);
        launch.arguments.add(buffers.back().address());
    }
    for (const std::uint32_t scalar : test.scalars) launch.arguments.add(scalar);
    gpu.load(code)->kernel(test.kernel).launch(launch);
    std::vector<Words> results;
    for (std::size_t i = 0; i < buffers.size(); ++i)
        results.push_back(buffers[i].read<std::uint32_t>(test.buffers[i].size()));
    return results;
}

struct Outcome {
    std::vector<Words> buffers;
    Executed executed;
    MachineProgram program;
};

Outcome as_machine_code(const std::vector<std::byte>& bytes, const Case& test) {
    const sass::Cubin cubin(bytes);
    DeviceMemory memory(std::uint64_t{1} << 32);
    Outcome outcome;
    outcome.program = prepare(cubin, test.kernel, [](std::string_view section) -> std::uint64_t {
        throw InputError("the fixtures have no variables; found section " + std::string(section));
    });
    device::Arguments arguments;
    std::vector<std::uint64_t> addresses;
    for (const Words& words : test.buffers) {
        addresses.push_back(memory.allocate(4 * words.size()));
        std::memcpy(memory.resolve(addresses.back(), 4 * words.size()), words.data(), 4 * words.size());
        arguments.add(addresses.back());
    }
    for (const std::uint32_t scalar : test.scalars) arguments.add(scalar);
    outcome.executed = run(outcome.program,
                           {.grid = test.grid,
                            .block = test.block,
                            .parameters = arguments.bytes(),
                            .instruction_limit = std::uint64_t{1} << 26},
                           memory);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        Words& words = outcome.buffers.emplace_back(test.buffers[i].size());
        std::memcpy(words.data(), memory.resolve(addresses[i], 4 * words.size()), 4 * words.size());
    }
    return outcome;
}

Words random_words(std::size_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    Words words(count);
    for (auto& word : words) word = random() % 4 == 0 ? random() % 40 : static_cast<std::uint32_t>(random());
    return words;
}

/// Floats from -8 to 8.
Words random_floats(std::size_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    Words words(count);
    for (auto& word : words)
        word = std::bit_cast<std::uint32_t>((static_cast<float>(random() % 65536) - 32768.0F) / 4096.0F);
    return words;
}

class MachineCode : public testing::Test {
protected:
    static void SetUpTestSuite() {
        // What the description leaves open is completed, as --device sim:h200 does.
        gpu_ = make_device(completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {});
    }
    static void TearDownTestSuite() { gpu_.reset(); }
    static inline std::unique_ptr<SimulatedDevice> gpu_;
};

/// Buffers that differ, named by the first words that do.
std::string difference(const std::vector<Words>& expected, const std::vector<Words>& found) {
    for (std::size_t b = 0; b < expected.size(); ++b)
        for (std::size_t i = 0; i < expected[b].size(); ++i)
            if (expected[b][i] != found[b][i]) {
                std::ostringstream text;
                text << std::hex << "buffer " << b << ", word 0x" << i << ": PTX 0x" << expected[b][i]
                     << ", machine code 0x" << found[b][i];
                return text.str();
            }
    return {};
}

/// Folder with more programs (generate.py --out), for runs by hand.
std::vector<std::string> random_programs() {
    const char* const folder = std::getenv("GPUTOMO_MACHINE_CODE_FOLDER");
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder == nullptr ? kFolder : folder + std::string("/")))
        if (entry.path().extension() == ".ptx" && entry.path().filename().string().starts_with("random_"))
            names.push_back(entry.path().string());
    std::ranges::sort(names);
    return names;
}

/// Machine code with timing does what it does without, as often.
void expect_equal_with_timing(SimulatedDevice& gpu, const std::string& path, const Case& test, const Outcome& without) {
    EXPECT_EQ(difference(without.buffers, on_gpu(gpu, file_text(path), test)), "") << path << " with timing";
    EXPECT_EQ(gpu.counters().warp_instructions, without.executed.total) << path;
    EXPECT_EQ(gpu.executed_code().language, ExecutedCode::Language::sass);
    EXPECT_GT(gpu.counters().cycles, 0U);
}

TEST_F(MachineCode, RandomProgramsLeaveTheMemoryThatTheirPtxLeaves) {
    const auto programs = random_programs();
    ASSERT_GE(programs.size(), 10U);
    for (const std::string& path : programs) {
        const auto cubin = file_bytes(path.substr(0, path.size() - 4) + ".cubin");
        constexpr std::size_t kThreads = 2 * 64;
        const Case test{"main", {2}, {64}, {random_words(64 * kThreads, 7), Words(32 * kThreads)}, {1000}};
        try {
            const auto found = as_machine_code(cubin, test);
            EXPECT_EQ(difference(on_gpu(*gpu_, file_text(path), test), found.buffers), "") << path;
            expect_equal_with_timing(*gpu_, path.substr(0, path.size() - 4) + ".cubin", test, found);
        } catch (const Error& error) {
            ADD_FAILURE() << path << ": " << error.what();
        }
    }
}

void expect_equal(SimulatedDevice& gpu, const std::string& name, const Case& test) {
    const auto found = as_machine_code(file_bytes(kFolder + name + ".cubin"), test);
    expect_equal_with_timing(gpu, kFolder + name + ".cubin", test, found);
    EXPECT_EQ(difference(on_gpu(gpu, file_text(kFolder + name + ".ptx"), test), found.buffers), "") << name;
    EXPECT_NE(found.buffers, test.buffers) << name << " wrote nothing";
}

TEST_F(MachineCode, KernelsOfTheProjectLeaveTheMemoryThatTheirPtxLeaves) {
    expect_equal(*gpu_, "vector_add",
                 {"vector_add", {2}, {128}, {random_floats(256, 1), random_floats(256, 2), Words(256)}, {}});
    expect_equal(*gpu_, "vector_abs", {"vector_abs", {2}, {128}, {random_floats(256, 1)}, {}});
    Words indices = random_words(256, 3);
    for (auto& index : indices) index %= 256;
    expect_equal(*gpu_, "permute", {"permute", {2}, {128}, {Words(256), random_words(256, 4), indices}, {}});
    expect_equal(*gpu_, "reduce", {"reduce", {2}, {256}, {random_floats(8192, 5), Words(2)}, {}});
    expect_equal(*gpu_, "sgemm",
                 {"sgemm",
                  {2, 2},
                  {256},
                  {random_floats(128 * 32, 6), random_floats(32 * 128, 7), Words(128 * 128)},
                  {128, 32}});
}

/// Prices, strikes and years are positive.
TEST_F(MachineCode, BlackScholesIsAsCloseAsItsApproximations) {
    const auto positive = [](std::uint32_t seed) {
        Words words = random_floats(256, seed);
        for (auto& word : words) word = std::bit_cast<std::uint32_t>(std::fabs(std::bit_cast<float>(word)) + 0.25F);
        return words;
    };
    const Case test{"black_scholes",
                    {2},
                    {128},
                    {Words(256), Words(256), positive(1), positive(2), positive(3)},
                    {std::bit_cast<std::uint32_t>(0.02F), std::bit_cast<std::uint32_t>(0.3F)}};
    const auto found = as_machine_code(file_bytes(kFolder + "black_scholes.cubin"), test).buffers;
    const auto expected = on_gpu(*gpu_, file_text(kFolder + "black_scholes.ptx"), test);
    // ex2.approx and MUFU.EX2 may differ in the last place, and differences of prices make that larger.
    constexpr float kTolerance = 2e-6F;
    for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < 256; ++i)
            EXPECT_NEAR(std::bit_cast<float>(expected[b][i]), std::bit_cast<float>(found[b][i]), kTolerance) << i;
}

TEST_F(MachineCode, ThreadsThatDivergeInNestedLoopsMeetAgain) {
    expect_equal(*gpu_, "divergence", {"divergence", {3}, {96}, {random_words(288, 11), Words(288)}, {}});
}

TEST_F(MachineCode, CallsReturnToEachCaller) {
    const Case test{"calls", {2}, {64}, {random_words(128, 12), Words(128)}, {}};
    const auto outcome = as_machine_code(file_bytes(kFolder + "calls.cubin"), test);
    expect_equal_with_timing(*gpu_, kFolder + "calls.cubin", test, outcome);
    const auto& found = outcome.buffers;
    for (std::size_t i = 0; i < 128; ++i) {
        std::uint32_t n = test.buffers[0][i];
        const bool odd = n % 2 != 0;
        for (std::uint32_t round = odd ? n % 32 : 5; round != 0; --round) n = n * 1664525 + 1013904223;
        if (!odd) n = ~n;
        const auto dividend = std::bit_cast<float>(n & 0x3F8FFFFF);
        const auto divisor = std::bit_cast<float>((n & 0x007FFFFF) | 0x3F000000);
        EXPECT_EQ(found[1][i], n ^ std::bit_cast<std::uint32_t>(dividend / divisor)) << i;
    }
}

TEST_F(MachineCode, CountsWhatWasExecuted) {
    const Case test{"vector_add", {2}, {128}, {random_floats(256, 1), random_floats(256, 2), Words(256)}, {}};
    const auto found = as_machine_code(file_bytes(kFolder + "vector_add.cubin"), test);
    const auto counts = by_operation(found.program, found.executed);
    // Eight warps: two loads, one addition, one store and one exit each.
    EXPECT_EQ(counts.at("LDG"), 16U);
    EXPECT_EQ(counts.at("FADD"), 8U);
    EXPECT_EQ(counts.at("STG"), 8U);
    EXPECT_EQ(counts.at("EXIT"), 8U);
    for (std::size_t i = 0; i < found.program.steps.size(); ++i)
        EXPECT_EQ(found.executed.thread_instructions[i], 32 * found.executed.warp_instructions[i]);
}

TEST_F(MachineCode, SampledBlocksWriteOnlyTheirResults) {
    const auto bytes = file_bytes(kFolder + "vector_add.cubin");
    const sass::Cubin cubin(bytes);
    const auto program = prepare(cubin, "vector_add", [](std::string_view) -> std::uint64_t { return 0; });
    DeviceMemory memory(1 << 20);
    device::Arguments arguments;
    std::uint64_t address = 0;
    for (int i = 0; i < 3; ++i) {
        address = memory.allocate(4 * 256);
        const Words ones(256, std::bit_cast<std::uint32_t>(1.0F));
        if (i < 2) std::memcpy(memory.resolve(address, 4 * 256), ones.data(), 4 * 256);
        arguments.add(address);
    }
    (void)run(program, {.grid = {4}, .block = {64}, .parameters = arguments.bytes(), .blocks = {2}}, memory);
    Words result(256);
    std::memcpy(result.data(), memory.resolve(address, 4 * 256), 4 * 256);
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(std::bit_cast<float>(result[i]), i / 64 == 2 ? 2.0F : 0.0F) << i;
}

std::string message_of(const std::vector<std::byte>& cubin, const Case& test) {
    try {
        (void)as_machine_code(cubin, test);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

/// vector_add with one instruction replaced by bits that no row of the table accounts for.
std::vector<std::byte> with_unknown(std::uint64_t address) {
    auto bytes = file_bytes(kFolder + "vector_add.cubin");
    const auto code = sass::Cubin(bytes).text("vector_add");
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(code.offset + address), 8, std::byte{0xFF});
    return bytes;
}

TEST_F(MachineCode, AnUnknownInstructionIsRefusedWhereItIsReached) {
    const Case test{"vector_add", {2}, {128}, {random_floats(256, 1), random_floats(256, 2), Words(256)}, {}};
    EXPECT_THAT(message_of(with_unknown(0x30), test),
                testing::AllOf(HasSubstr("kernel 'vector_add'"), HasSubstr("at 0x30"), HasSubstr("cannot be executed"),
                               HasSubstr("opcode"), testing::Not(HasSubstr("PTX"))));
    const auto size = sass::Cubin(file_bytes(kFolder + "vector_add.cubin")).text("vector_add").bytes.size();
    EXPECT_EQ(message_of(with_unknown(size - 16), test), "");
}

TEST_F(MachineCode, NamesTheBarrierThatNoWarpLeaves) {
    EXPECT_THAT(message_of(file_bytes(kFolder + "deadlock.cubin"), {"deadlock", {1}, {64}, {Words(64)}, {}}),
                testing::AllOf(HasSubstr("no warp can go on"), HasSubstr("BAR.SYNC"), HasSubstr("warp 1")));
}

TEST_F(MachineCode, NamesTheBarrierThatNoWarpLeavesWithTiming) {
    try {
        (void)on_gpu(*gpu_, file_text(kFolder + "deadlock.cubin"), {"deadlock", {1}, {64}, {Words(64)}, {}});
        FAIL() << "it ended";
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(),
                    testing::AllOf(HasSubstr("launch of deadlock: deadlock"), HasSubstr("BAR.SYNC"),
                                   HasSubstr("block (0, 0, 0) warp 1 waits at"), HasSubstr("dependence barriers")));
    }
}

TEST_F(MachineCode, NamesTheIllegalAddress) {
    const Case test{"vector_add", {4}, {128}, {random_floats(256, 1), random_floats(256, 2), Words(256)}, {}};
    EXPECT_THAT(message_of(file_bytes(kFolder + "vector_add.cubin"), test),
                testing::AllOf(HasSubstr("illegal address"), HasSubstr("LDG.E"), HasSubstr("block (2, 0, 0)")));
}

}  // namespace
}  // namespace gputomo::sim::machine_code
