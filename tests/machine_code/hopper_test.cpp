// Code of cuBLAS, cuDNN and CUTLASS that ptxas does not emit, and products that are not computed.
//
// fixtures/hopper.ptx has the kernels. Instructions that no PTX compiles to take the place of their barriers.
#include "machine/json.hpp"
#include "sass/cubin.hpp"
#include "sim/completion.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "sim/memory/device_memory.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>

namespace gputomo::sim::machine_code {
namespace hopper_test {
namespace {

using Word = std::array<std::uint64_t, 2>;
using WordList = std::vector<std::uint32_t>;

constexpr std::uint32_t kThreads = 128;
constexpr Word kFirstBarrier{0x0042000000007b1d, 0x000fec0000010000},  // BAR.SYNC.DEFER_BLOCKING 0x1, 0x80
    kSecondBarrier{0x0082000000007b1d, 0x000fec0000010000},            // BAR.SYNC.DEFER_BLOCKING 0x2, 0x80
    kArrive{0x00000000000079c5, 0x000fec0000000000},                   // WARPGROUP.ARRIVE
    kWait{0x00000000000079c5, 0x000fe20000008000};                     // WARPGROUP.WAIT

std::string fixture() {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/hopper.cubin", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

/// Replaces each instruction that has these bits, whatever it waits for.
std::string replaced(std::string cubin, const Word& from, const Word& to) {
    int count = 0;
    for (std::size_t at = 0; at + sizeof from <= cubin.size(); at += 8) {
        Word word{};
        std::memcpy(&word, cubin.data() + at, sizeof word);
        if (word[0] != from[0] || (word[1] & 0xFFFFFFFF) != (from[1] & 0xFFFFFFFF)) continue;
        std::memcpy(cubin.data() + at, &to, sizeof to);
        ++count;
    }
    EXPECT_EQ(count, 2) << "both kernels have this barrier";
    return cubin;
}

WordList run_functionally(const std::string& cubin, const std::string& kernel, UnknownMemory* unknown = nullptr,
                          std::uint32_t threads = kThreads) {
    DeviceMemory memory(std::uint64_t{1} << 20);
    const std::uint64_t bytes = 4 * kThreads, out = memory.allocate(bytes);
    std::vector<std::byte> parameters(sizeof out);
    std::memcpy(parameters.data(), &out, sizeof out);
    const auto program = prepare(sass::Cubin(std::as_bytes(std::span(cubin))), kernel,
                                 [](std::string_view) { return std::uint64_t{0}; });
    static_cast<void>(
        run(program, {.grid = {1}, .block = {threads}, .parameters = parameters, .unknown = unknown}, memory));
    EXPECT_TRUE(unknown == nullptr || unknown->has(out, 4)) << "results that were not computed are unknown";
    WordList left(kThreads);
    std::memcpy(left.data(), memory.resolve(out, bytes), bytes);
    return left;
}

WordList simulated(const std::string& cubin, const std::string& kernel) {
    const auto gpu = make_device(completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine, {});
    const auto module = gpu->load(cubin);
    const device::Buffer buffer(*gpu, Bytes(4 * kThreads));
    device::Launch launch{.grid = {1}, .block = {kThreads}, .time_limit = std::chrono::seconds(60)};
    launch.arguments.add(buffer.address());
    module->kernel(kernel).launch(launch);
    return buffer.read<std::uint32_t>(kThreads);
}

TEST(Hopper, AWarpGroupMeetsWhereItWaits) {
    const auto expected = run_functionally(fixture(), "meets");
    EXPECT_EQ(expected[0], 32U * 3 + 15000) << "the word of the next warp";
    const auto patched = replaced(replaced(fixture(), kFirstBarrier, kArrive), kSecondBarrier, kWait);
    EXPECT_EQ(run_functionally(patched, "meets"), expected);
    EXPECT_EQ(simulated(patched, "meets"), expected);
}

TEST(Hopper, ABranchTakesAPredicateOfTheThreadAndAUniformOne) {
    // To the kernel's end. No predicate holds, but their complements and PT do.
    constexpr Word kIfUniform{0x0000000100187547, 0x000fea000b800000};      // BRA.U UP0
    constexpr Word kUnlessUniform{0x0000000108187547, 0x000fea000b800000};  // BRA.U !UP0
    constexpr Word kIfBoth{0x0000000108187547, 0x000fea0008000000};         // BRA.U P0, !UP0
    const auto result = [](const Word& branch) {
        const auto cubin = replaced(fixture(), kFirstBarrier, branch);
        const auto found = run_functionally(cubin, "branches")[0];
        EXPECT_EQ(simulated(cubin, "branches")[0], found);
        return found;
    };
    EXPECT_EQ(result(kIfUniform), 9U);
    EXPECT_EQ(result(kUnlessUniform), 0U);
    EXPECT_EQ(result(kIfBoth), 9U);
}

TEST(Hopper, ProductsThatAreNotComputedReachDataAlone) {
    UnknownMemory unknown;
    EXPECT_NO_THROW(run_functionally(fixture(), "chooses", &unknown, 32));
    const auto computed = run_functionally(fixture(), "chooses", nullptr, 32);
    EXPECT_EQ(computed[0], 0x41800000U) << "16 as a float";
}

/// All that blocks execute and access, in order.
class Trace final : public Observer {
public:
    void execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) override { add({step, lanes, mask}); }
    void access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) override {
        add({static_cast<std::uint64_t>(space), static_cast<std::uint64_t>(access), offset, bytes});
    }
    bool end_block(std::uint64_t index) override {
        add({index});
        return true;
    }
    std::vector<std::uint64_t> seen;

private:
    void add(std::initializer_list<std::uint64_t> what) { seen.insert(seen.end(), what); }
};

/// The second block leaves out what the first one found to write nothing that is known.
TEST(Hopper, ArithmeticOnUnknownValuesIsLeftOutWithoutOtherAccesses) {
    const auto cubin = fixture();
    DeviceMemory memory(std::uint64_t{1} << 20);
    const std::uint64_t out = memory.allocate(4 * kThreads);
    std::vector<std::byte> parameters(sizeof out);
    std::memcpy(parameters.data(), &out, sizeof out);
    const auto program = prepare(sass::Cubin(std::as_bytes(std::span(cubin))), "chooses",
                                 [](std::string_view) { return std::uint64_t{0}; });
    UnknownMemory unknown;
    std::array<Trace, 2> traces;
    for (const bool computes : {true, false})
        static_cast<void>(run(program,
                              {.grid = {3},
                               .block = {32},
                               .parameters = parameters,
                               .observer = &traces[computes ? 0 : 1],
                               .unknown = computes ? nullptr : &unknown},
                              memory));
    EXPECT_GT(traces[0].seen.size(), 300U);
    EXPECT_EQ(traces[0].seen, traces[1].seen);
    EXPECT_TRUE(unknown.has(out, 128)) << "the results of all lanes";
}

TEST(Hopper, BranchesAndAddressesNeedProducts) {
    for (const std::string kernel : {"decides", "points"}) {
        UnknownMemory unknown;
        EXPECT_THROW(run_functionally(fixture(), kernel, &unknown, 32), NeedsProducts) << kernel;
        EXPECT_NO_THROW(run_functionally(fixture(), kernel, nullptr, 32)) << kernel;
    }
}

}  // namespace
}  // namespace hopper_test
}  // namespace gputomo::sim::machine_code
