// What single instructions compute, against what an H200 gave: fixtures/forms.cu has one operation a kernel, and
// fixtures/forms.fatbin its machine code for four compute capabilities. An operation gives the same on all of them.
#include "capture/decompress.hpp"
#include "capture/fatbin.hpp"
#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/memory/device_memory.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace gputomo::sim::machine_code {
namespace {

constexpr std::uint32_t kNumbers = 4096, kThreads = 128;

std::string fixture(const std::string& name) {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/" + name, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

std::string cubin_of(int sm) {
    const auto fatbin = fixture("forms.fatbin");
    for (const auto& member : capture::members(std::as_bytes(std::span(fatbin))))
        if (member.kind == capture::FatbinMember::Kind::cubin && member.sm == sm) return capture::payload(member);
    return {};
}

/// What the GPU gave: a hash of all words, or the first words where the result is an approximation.
struct Expected {
    std::size_t count = 0;
    std::uint64_t hash = 0;
    std::vector<std::uint32_t> words;
};

std::map<std::string, Expected> expectations() {
    std::istringstream lines(fixture("forms.h200"));
    std::map<std::string, Expected> all;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        std::string name, count;
        words >> name >> count;
        Expected& expected = all[name];
        if (count == "words") {
            for (std::uint32_t word = 0; words >> std::hex >> word;) expected.words.push_back(word);
        } else {
            expected.count = std::stoul(count);
            words >> std::hex >> expected.hash;
        }
    }
    return all;
}

std::uint64_t hash_of(std::span<const std::uint32_t> words) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const auto byte : std::as_bytes(words)) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    return hash;
}

std::vector<std::uint32_t> executed(const MachineProgram& program) {
    DeviceMemory memory(std::uint64_t{1} << 24);
    const auto input = fixture("forms.in");
    constexpr std::uint64_t kResultBytes = std::uint64_t{4} * 4 * kNumbers;
    const std::uint64_t in = memory.allocate(input.size()), out = memory.allocate(kResultBytes);
    std::memcpy(memory.resolve(in, input.size()), input.data(), input.size());
    std::memset(memory.resolve(out, kResultBytes), 0, kResultBytes);
    std::vector<std::byte> parameters(20);
    std::memcpy(parameters.data(), &in, sizeof in);
    std::memcpy(parameters.data() + 8, &out, sizeof out);
    std::memcpy(parameters.data() + 16, &kNumbers, sizeof kNumbers);
    static_cast<void>(
        run(program, {.grid = {kNumbers / kThreads}, .block = {kThreads}, .parameters = parameters}, memory));
    std::vector<std::uint32_t> words(std::size_t{4} * kNumbers);
    std::memcpy(words.data(), memory.resolve(out, kResultBytes), kResultBytes);
    return words;
}

/// Forms that are not executed, and a part of the reason.
const std::map<std::string, std::string>& refused_kernels() {
    static const std::map<std::string, std::string> kRefused{
        {"hfma_f16_oob", "HFMA2.OOB"},
        {"hfma_f16_oob_relu", "HFMA2.OOB.RELU"},
        {"hfma_bf16_oob", "HFMA2.BF16_V2.OOB"},
        {"mma_s4", "IMMA"},
        {"mma_u4", "IMMA"},
        {"mma_e4m3", "0x27a"},
        {"mma_e5m2", "0x27a"},
    };
    return kRefused;
}

/// How far an approximation may be from the GPU's: relative, or absolute where results come near zero.
double allowed(const std::string& kernel) {
    if (kernel.starts_with("ftanh") || kernel == "htanh_f16") return 0x1p-9;
    if (kernel == "fsin_approx" || kernel == "fcos_approx") return 0x1p-20;
    if (kernel == "hex2_bf16" || kernel == "htanh_bf16") return 0x1p-7;
    return 0x1p-21;
}

double number(const std::string& kernel, std::uint32_t word, int part) {
    if (kernel == "htanh_f16") {
        const std::uint32_t half = word >> (16 * part) & 0xFFFF;
        const double magnitude = (half & 0x7C00) == 0 ? std::ldexp(half & 0x3FF, -24)
                                 : (half & 0x7C00) == 0x7C00
                                     ? std::numeric_limits<double>::infinity()
                                     : std::ldexp((half & 0x3FF) + 1024, static_cast<int>(half >> 10 & 31) - 25);
        return (half & 0x8000) != 0 ? -magnitude : magnitude;
    }
    if (kernel.starts_with('h')) return std::bit_cast<float>(part == 0 ? word << 16 : word & 0xFFFF0000);
    return std::bit_cast<float>(word);
}

class Forms : public testing::TestWithParam<int> {};

TEST_P(Forms, GiveWhatAnH200Gives) {
    const auto code = cubin_of(GetParam());
    ASSERT_FALSE(code.empty());
    const sass::Cubin cubin(std::as_bytes(std::span(code)));
    const auto all = expectations();
    std::size_t compared = 0;
    for (const auto& name : cubin.kernels()) {
        const auto program = prepare(cubin, name, [](std::string_view) { return std::uint64_t{0}; });
        std::vector<std::uint32_t> words;
        try {
            words = executed(program);
        } catch (const DeviceError& error) {
            ASSERT_TRUE(refused_kernels().contains(name)) << name << ": " << error.what();
            EXPECT_THAT(error.what(), testing::HasSubstr(refused_kernels().at(name)));
            continue;
        }
        ASSERT_TRUE(all.contains(name)) << name;
        const Expected& expected = all.at(name);
        ++compared;
        if (expected.words.empty()) {
            EXPECT_EQ(hash_of(std::span(words).first(expected.count)), expected.hash) << name;
            continue;
        }
        for (std::size_t i = 0; i < expected.words.size(); ++i)
            for (int part = 0; part < (name.starts_with('h') ? 2 : 1); ++part) {
                const double found = number(name, words[i], part), wanted = number(name, expected.words[i], part);
                if (found == wanted || (std::isnan(found) && std::isnan(wanted))) continue;
                EXPECT_LE(std::fabs(found - wanted), allowed(name) * std::max(1.0, std::fabs(wanted)))
                    << name << " " << i << ": " << found << " for " << wanted;
            }
    }
    EXPECT_GE(compared, 130U);
}

INSTANTIATE_TEST_SUITE_P(ComputeCapabilities, Forms, testing::Values(80, 86, 89, 90),
                         [](const auto& info) { return "Sm" + std::to_string(info.param); });

TEST(FormsOfOtherGpus, AreRefusedWithTheReason) {
    auto code = cubin_of(80);
    constexpr std::size_t kComputeCapability = 49;  // in the flags of the file
    ASSERT_EQ(code[kComputeCapability], 80);
    code[kComputeCapability] = 100;
    const sass::Cubin cubin(std::as_bytes(std::span(code)));
    EXPECT_THAT([&] { static_cast<void>(prepare(cubin, "hadd_f16", [](auto) { return std::uint64_t{0}; })); },
                testing::ThrowsMessage<InputError>(testing::AllOf(
                    testing::HasSubstr("sm_100"), testing::HasSubstr("expected machine code for sm_80"))));
}

}  // namespace
}  // namespace gputomo::sim::machine_code
