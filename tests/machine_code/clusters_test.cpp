// Clusters of blocks, beside what an H200 wrote.
#include "launched.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

std::uint32_t mixed_word(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352d;
    x ^= x >> 15;
    x *= 0x846ca68b;
    return x ^ x >> 16;
}

std::vector<std::uint32_t> noise_words(std::size_t words) {
    std::vector<std::uint32_t> values(words);
    for (std::size_t i = 0; i < words; ++i) values[i] = mixed_word(static_cast<std::uint32_t>(i) + 7);
    return values;
}

std::uint64_t hash_of_words(const std::vector<std::uint32_t>& words) {
    std::uint64_t hash = 1469598103934665603U;
    for (const std::uint32_t word : words)
        for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (word >> (8 * byte) & 0xFF)) * 1099511628211U;
    return hash;
}

class Clusters : public testing::Test {
protected:
    static void SetUpTestSuite() { fixture_ = std::make_unique<Fixture>("clusters.cubin"); }
    static void TearDownTestSuite() { fixture_.reset(); }

    static std::vector<std::uint32_t> run(const std::string& kernel, device::Launch launch,
                                          const std::vector<std::uint32_t>& in, std::size_t words) {
        std::vector<device::Buffer> buffers;
        if (!in.empty()) {
            buffers.emplace_back(*fixture_->gpu, Bytes(static_cast<std::int64_t>(4 * in.size())));
            buffers.back().write(in);
        }
        buffers.emplace_back(*fixture_->gpu, Bytes(static_cast<std::int64_t>(4 * words)));
        buffers.back().write(std::vector<std::uint32_t>(words));
        for (const auto& buffer : buffers) launch.arguments.add(buffer.address());
        launch.time_limit = std::chrono::seconds(60);
        fixture_->module->kernel(kernel).launch(launch);
        return buffers.back().read<std::uint32_t>(words);
    }
    static inline std::unique_ptr<Fixture> fixture_;
};

TEST_F(Clusters, WithoutBlocksAreRefused) {
    for (const device::Dim3 cluster : {device::Dim3{2, 0, 1}, device::Dim3{0, 1, 1}})
        EXPECT_THAT([&] { (void)run("places", {.grid = {8}, .block = {32}, .cluster = cluster}, {}, 96); },
                    testing::ThrowsMessage<DeviceError>(testing::HasSubstr("expected 1 or more in each direction")));
}

TEST_F(Clusters, BlocksKnowTheirPlaces) {
    struct Case {
        device::Dim3 grid, cluster;
        std::uint64_t hash;
    };
    for (const auto& [grid, cluster, hash] :
         {Case{{8, 6, 1}, {2, 1, 1}, 0x41f8703c66a9f143}, Case{{8, 6, 2}, {2, 3, 1}, 0xa5fb5e56c0676083},
          Case{{4, 4, 4}, {2, 2, 2}, 0x586f4b24ece98f83}})
        EXPECT_EQ(
            hash_of_words(run("places", {.grid = grid, .block = {32}, .cluster = cluster}, {}, 12 * grid.count())),
            hash)
            << cluster.x << ' ' << cluster.y << ' ' << cluster.z;
}

TEST_F(Clusters, LoadsStoresAtomicsAndArrivalsReachOtherBlocks) {
    const auto found = run("sums", {.grid = {16}, .block = {128}}, noise_words(1 << 14), 16 * 256);
    EXPECT_EQ(hash_of_words(found), 0xbb47356e0ef0feba);
}

TEST_F(Clusters, BulkCopiesGoToSeveralBlocksAndFromBlockToBlock) {
    const auto found = run("spread", {.grid = {4, 4}, .block = {128}}, noise_words(1 << 14), 16 * 512);
    EXPECT_EQ(hash_of_words(found), 0xe40366989045d6c2);
}

TEST_F(Clusters, GridsThatAreNoMultipleAreRefused) {
    try {
        (void)run("sums", {.grid = {6}, .block = {128}}, noise_words(1 << 14), 16 * 256);
        FAIL() << "6 blocks are no clusters of 4";
    } catch (const std::exception& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("clusters of 4x1x1; expected a multiple"));
    }
}

}  // namespace
}  // namespace gputomo::sim
