// Copies of boxes of tensors, beside what an H200 left in shared and in global memory.
#include "launched.hpp"
#include "sim/machine_code/tensor_map.hpp"

#include <array>
#include <cstring>
#include <map>
#include <span>

namespace gputomo::sim {
namespace {

constexpr std::size_t kBuffer = std::size_t{8} << 20;
constexpr std::uint32_t kThreadsOfCopy = 128, kDynamicShared = 51024;

/// As the kernels of tensors.cu expect it.
struct Box {
    std::int32_t dimensions = 0, mode = 0;
    std::array<std::int32_t, 5> at{};
    std::array<std::uint16_t, 3> offset{};
    std::uint16_t multicast = 0;
    std::uint32_t bytes = 0, dump = 0;
};

struct Case {
    std::string text;
    bool loads = false;
    Box box;
    std::uint32_t compared = 0;
    std::uint64_t hash = 0, place = 0;
    std::array<std::uint64_t, 16> map{};
};

std::vector<Case> cases() {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/tensors.h200");
    std::vector<Case> found;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        Case of{.text = line};
        std::string kind;
        words >> kind >> of.box.mode >> of.box.dimensions;
        of.loads = kind == "load";
        for (auto& at : of.box.at) words >> at;
        for (auto& offset : of.box.offset) words >> offset;
        words >> of.box.bytes >> of.compared >> std::hex >> of.hash >> std::dec >> of.place >> std::hex;
        for (std::size_t i = 0; i < of.map.size() && words >> of.map[i]; ++i) continue;
        found.push_back(of);
    }
    return found;
}

std::uint32_t mixed(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

std::vector<std::uint32_t> noise(std::size_t words, std::uint32_t first) {
    std::vector<std::uint32_t> values(words);
    for (std::size_t i = 0; i < words; ++i) values[i] = mixed(static_cast<std::uint32_t>(i) + first);
    return values;
}

std::uint64_t hash_of(const std::vector<std::uint32_t>& words, std::size_t bytes) {
    std::uint64_t hash = 1469598103934665603U;
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ (words[i / 4] >> (8 * (i % 4)) & 0xFF)) * 1099511628211U;
    return hash;
}

class Tensors : public testing::Test {
protected:
    static void SetUpTestSuite() {
        fixture_ = std::make_unique<Fixture>("tensors.cubin");
        buffer_ = std::make_unique<device::Buffer>(*fixture_->gpu, Bytes(kBuffer));
        content_ = noise(kBuffer / 4, 1);
    }
    static void TearDownTestSuite() {
        buffer_.reset();
        fixture_.reset();
    }

    /// What the H200's hash was made of.
    static std::vector<std::uint32_t> copied(const Case& of) {
        Box box = of.box;
        std::array<std::uint64_t, 16> map = of.map;
        map[0] = buffer_->address() + of.place;
        buffer_->write(content_);
        constexpr std::uint32_t kPiece = 1024;
        box.dump = (box.bytes + kPiece - 1) / kPiece * kPiece + (of.loads ? kPiece : 0);
        device::Launch launch{.grid = {1}, .block = {kThreadsOfCopy}, .time_limit = std::chrono::seconds(60)};
        launch.dynamic_shared = Bytes(kDynamicShared);
        launch.arguments.add(map);
        launch.arguments.add(box);
        device::Buffer other(*fixture_->gpu, Bytes(box.dump + 4));
        if (!of.loads) other.write(noise(box.dump / 4 + 1, 0x10000000));
        launch.arguments.add(other.address());
        fixture_->module->kernel(of.loads ? "load_box" : "store_box").launch(launch);
        if (of.loads) return other.read<std::uint32_t>(of.compared / 4);
        const auto all = buffer_->read<std::uint32_t>(kBuffer / 4);
        return {all.begin() + kBuffer / 8,
                all.begin() + kBuffer / 8 + static_cast<std::ptrdiff_t>(of.compared + 3) / 4};
    }

    static inline std::unique_ptr<Fixture> fixture_;
    static inline std::unique_ptr<device::Buffer> buffer_;
    static inline std::vector<std::uint32_t> content_;
};

TEST(TensorMaps, AreWrittenAsTheDriverWritesThem) {
    using namespace machine_code;
    std::size_t compared = 0;
    for (const Case& of : cases()) {
        auto words = of.map;
        words[0] = 0x7f1234567890;
        const auto driver = std::as_bytes(std::span(words)).first<kTensorMapBytes>();
        std::string error;
        const auto map = decode_tensor_map(driver, error);
        ASSERT_TRUE(map) << error << of.text;
        if (map->im2col) continue;
        // The step of the first dimension has no effect here, nor has how much the L2 fetches. Neither is read.
        words[416 / 64] &= ~(std::uint64_t{7} << 416 % 64);
        words[81 / 64] &= ~(std::uint64_t{3} << 81 % 64);
        const auto written = encode_tensor_map(*map);
        EXPECT_EQ(std::memcmp(written.data(), driver.data(), kTensorMapBytes), 0) << of.text;
        ++compared;
    }
    EXPECT_GT(compared, 50U);
}

TEST_F(Tensors, BoxesAreThoseOfAnH200) {
    std::size_t different = 0;
    for (const Case& of : cases()) {
        SCOPED_TRACE(of.text);
        try {
            const auto found = copied(of);
            if (hash_of(found, of.compared) == of.hash) continue;
            ADD_FAILURE() << "differs";
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        ++different;
    }
    EXPECT_EQ(different, 0U);
}

/// A box of 16 x 4 floats of a tensor of 100 x 10 of them.
Case plain_case() {
    constexpr std::uint64_t kTiled = 0, kTwoDimensions = 1, kFloats = 7;
    Case of{.loads = true};
    of.box = {.dimensions = 2, .bytes = 256};
    of.compared = 256;
    of.map[1] = kTiled | kTwoDimensions << 4 | kFloats << 7 | std::uint64_t{400 / 16} << 32;
    of.map[4] = 99 | std::uint64_t{9} << 32;
    of.map[6] = std::uint64_t{15} << 56;
    of.map[7] = 3;
    return of;
}

std::string refusal(const Case& of, std::vector<std::uint32_t> (*copied)(const Case&)) {
    try {
        (void)copied(of);
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

TEST_F(Tensors, RowsOutsideAreZero) {
    Case of = plain_case();
    of.box.at = {96, 8};
    const auto found = copied(of);
    for (std::uint32_t row = 0; row < 4; ++row)
        for (std::uint32_t i = 0; i < 16; ++i)
            EXPECT_EQ(found[16 * row + i], i < 4 && row < 2 ? content_[(8 + row) * 100 + 96 + i] : 0)
                << row << ' ' << i;
}

TEST_F(Tensors, WhatAGpuCannotDoIsRefused) {
    Case of = plain_case();
    of.box.at = {2, 0};
    EXPECT_NE(refusal(of, copied).find("begins 8 bytes into a row"), std::string::npos) << refusal(of, copied);
    of = plain_case();
    of.box.dimensions = 3;
    EXPECT_NE(refusal(of, copied).find("has 2 dimensions; the instruction expects 3"), std::string::npos);
    of = plain_case();
    of.map[1] |= 1;
    EXPECT_NE(refusal(of, copied).find("too few for im2col"), std::string::npos) << refusal(of, copied);
    of = plain_case();
    of.map[1] |= 1 << 11;
    EXPECT_NE(refusal(of, copied).find("interleaved elements, which are not simulated"), std::string::npos);
    of = plain_case();
    of.map[3] = std::uint64_t{1} << 60;
    EXPECT_NE(refusal(of, copied).find("bits that are not known, from bit 240 on"), std::string::npos);
    of = plain_case();
    of.loads = false;
    of.box.at = {0, -1};
    EXPECT_NE(refusal(of, copied).find("stored at coordinate -1 of dimension 1"), std::string::npos)
        << refusal(of, copied);
    of = plain_case();
    of.place = std::uint64_t{1} << 44;
    EXPECT_NE(refusal(of, copied).find("of a tensor"), std::string::npos) << refusal(of, copied);
    // 10^12 elements in five dimensions
    of = plain_case();
    of.box.dimensions = 5;
    of.map[1] = (of.map[1] & ~std::uint64_t{7 << 4}) | 4 << 4;
    of.map[6] |= std::uint64_t{0xFF} << 56;
    of.map[7] |= 0xFFFFFFFF;
    EXPECT_NE(refusal(of, copied).find("of shared memory; expected at most"), std::string::npos) << refusal(of, copied);
}

}  // namespace
}  // namespace gputomo::sim
