// Products of warp groups, against what an H200 gave.
//
// warpgroup_kernels.py makes fixtures/warpgroup.fatbin, with one product a kernel, and fixtures/sparse_products.fatbin,
// where A is sparse. The files that end with .h200 have the launches and hashes of the accumulators that they left.
#include "capture/decompress.hpp"
#include "capture/fatbin.hpp"
#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/memory/device_memory.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace gputomo::sim::machine_code {
namespace warpgroup_test {
namespace {

constexpr std::uint32_t kThreads = 128;

std::string fixture(const std::string& name) {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/" + name, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

struct Case {
    std::string kernel;
    std::uint32_t grid = 1, seed = 0;
    std::array<std::uint32_t, 4> masks{};  ///< and, or: of elements, then of accumulators
    std::uint64_t a = 0, b = 0;            ///< matrix descriptors without the address of the array
    std::uint32_t scale = 1, words = 0;    ///< words of accumulators of each thread
    std::optional<std::uint64_t> digits;   ///< of which the metadata of a sparse A are made
    std::uint64_t hash = 0;
};

std::vector<Case> cases(const std::string& name, bool sparse) {
    std::istringstream lines(fixture(name));
    std::vector<Case> all;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        Case one;
        words >> one.kernel >> one.grid >> one.seed >> std::hex;
        for (auto& mask : one.masks) words >> mask;
        words >> one.a >> one.b >> std::dec >> one.scale >> one.words >> std::hex;
        if (sparse) words >> one.digits.emplace();
        words >> one.hash;
        all.push_back(one);
    }
    return all;
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const auto byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    return hash;
}

std::vector<std::byte> executed(const MachineProgram& program, const Case& one, std::uint32_t threads = kThreads) {
    DeviceMemory memory(std::uint64_t{1} << 24);
    const std::uint64_t bytes = std::uint64_t{4} * one.words * kThreads * one.grid, out = memory.allocate(bytes);
    std::vector<std::byte> parameters(one.digits ? 64 : 52);
    const auto put = [&](std::size_t at, const auto& value) {
        std::memcpy(parameters.data() + at, &value, sizeof value);
    };
    put(0, out), put(8, one.seed), put(12, one.masks), put(32, one.a), put(40, one.b), put(48, one.scale);
    if (one.digits) put(56, *one.digits);
    static_cast<void>(run(program, {.grid = {one.grid}, .block = {threads}, .parameters = parameters}, memory));
    std::vector<std::byte> left(bytes);
    std::memcpy(left.data(), memory.resolve(out, bytes), bytes);
    return left;
}

std::string code_of(const std::string& name) {
    const auto fatbin = fixture(name);
    for (const auto& member : capture::members(std::as_bytes(std::span(fatbin))))
        if (member.kind == capture::FatbinMember::Kind::cubin) return capture::payload(member);
    return {};
}

/// Compares all launches of all kernels of a fat binary with what an H200 left.
void compare(const std::string& name, bool sparse) {
    const auto code = code_of(name + ".fatbin");
    const sass::Cubin cubin(std::as_bytes(std::span(code)));
    std::map<std::string, MachineProgram> programs;
    for (const auto& kernel : cubin.kernels())
        programs.emplace(kernel, prepare(cubin, kernel, [](std::string_view) { return std::uint64_t{0}; }));
    std::set<std::string> compared;
    for (const Case& one : cases(name + ".h200", sparse)) {
        ASSERT_TRUE(programs.contains(one.kernel)) << one.kernel;
        compared.insert(one.kernel);
        EXPECT_EQ(hash_of(executed(programs.at(one.kernel), one)), one.hash)
            << one.kernel << ", seed " << one.seed << ", descriptors " << std::hex << one.a << " and " << one.b
            << ", metadata of " << one.digits.value_or(0);
    }
    EXPECT_EQ(compared.size(), programs.size());
}

TEST(Warpgroup, ProductsAreThoseOfAnH200) { compare("warpgroup", false); }

TEST(Warpgroup, SparseProductsAreThoseOfAnH200) { compare("sparse_products", true); }

/// A launch of the first kernel of these columns, with plain descriptors.
Case plain() {
    Case one;
    one.kernel = "f16_n64";
    one.masks = {0x83FF83FF, 0x38003800, 0, 0};
    one.a = std::uint64_t{16} << 32 | 8U << 16, one.b = one.a | 512;
    one.words = 32;
    return one;
}

TEST(Warpgroup, RefusesMatricesBeyondSharedMemoryAndPartsOfAGroup) {
    const auto code = code_of("warpgroup.fatbin");
    const sass::Cubin cubin(std::as_bytes(std::span(code)));
    const auto program = prepare(cubin, "f16_n64", [](std::string_view) { return std::uint64_t{0}; });
    Case far = plain();
    far.b |= 0x3F00;  // 16 bytes each
    EXPECT_THAT([&] { static_cast<void>(executed(program, far)); },
                testing::ThrowsMessage<DeviceError>(testing::AllOf(testing::HasSubstr("HGMMA.64x64x16.F32"),
                                                                   testing::HasSubstr("of shared memory, of which"))));
    for (const std::uint32_t threads : {96U, 127U})
        EXPECT_THAT([&] { static_cast<void>(executed(program, plain(), threads)); },
                    testing::ThrowsMessage<DeviceError>(testing::HasSubstr("of a warp group without all")))
            << threads;
}

TEST(Warpgroup, RegistersChangeHandsWithinABlock) {
    const auto code = fixture("registers.cubin");
    const sass::Cubin cubin(std::as_bytes(std::span(code)));
    DeviceMemory memory(std::uint64_t{1} << 20);
    const std::uint64_t out = memory.allocate(1024);
    std::vector<std::byte> parameters(8);
    std::memcpy(parameters.data(), &out, sizeof out);
    FunctionalLaunch launch{.grid = {1}, .block = {256}, .parameters = parameters};
    const auto none = [](std::string_view) { return std::uint64_t{0}; };
    const auto changes = prepare(cubin, "changes_hands", none);
    EXPECT_EQ(changes.registers, 128);
    static_cast<void>(run(changes, launch, memory));
    std::array<std::uint32_t, 256> values{};
    std::memcpy(values.data(), memory.resolve(out, sizeof values), sizeof values);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i < kThreads ? 1U : 2U) << i;
    // Nothing is there to be had.
    launch.instruction_limit = 10'000;
    EXPECT_THAT([&] { static_cast<void>(run(prepare(cubin, "waits_forever", none), launch, memory)); },
                testing::ThrowsMessage<TimeLimitError>(testing::HasSubstr("waits_forever")));
}

}  // namespace
}  // namespace warpgroup_test
}  // namespace gputomo::sim::machine_code
