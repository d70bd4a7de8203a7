// Checks machines/gtx280.json against the tables of Wong 2010 and Volkov 2016.
#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::machine {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

Machine gtx280() { return load(std::filesystem::path(GPUTOMO_SOURCE_DIR) / "machines/gtx280.json"); }

TEST(Gtx280, CitesAPaperForEveryValue) {
    const auto leaves = all_leaves(gtx280());
    EXPECT_GT(leaves.size(), 300U);
    for (const auto& leaf : leaves)
        EXPECT_THAT(leaf.leaf.provenance.source,
                    AnyOf(HasSubstr("Wong 2010"), HasSubstr("Volkov 2016"), HasSubstr("Mei 2014")))
            << leaf.path;
}

TEST(Gtx280, HasTheArithmeticOfTables2To4) {
    struct Row {
        const char* key;
        std::int64_t latency;
        double throughput;
        std::int64_t instructions;
    };
    const Machine machine = gtx280();
    for (const Row& row :
         {Row{"add.s32", 24, 8, 1}, Row{"mul.lo.s32", 96, 1.7, 4}, Row{"mad.lo.s32", 120, 1.4, 5},
          Row{"add.f32", 24, 8, 1}, Row{"mul.f32", 24, 11.2, 1}, Row{"fma.rn.f32", 24, 8, 1}, Row{"add.f64", 48, 1, 1},
          Row{"mul.f64", 48, 1, 1}, Row{"fma.rn.f64", 48, 1, 1}, Row{"rsqrt.approx.f32", 28, 2, 1},
          Row{"mul.hi.u32", 144, 1, 6}, Row{"sin.approx.f32", 48, 2, 2}, Row{"sqrt.approx.f32", 56, 2, 2}}) {
        const auto& operation = machine.operations.at(row.key);
        EXPECT_EQ(*operation.latency, row.latency) << row.key;
        EXPECT_EQ(*operation.throughput, row.throughput) << row.key;
        EXPECT_EQ(*operation.instructions, row.instructions) << row.key;
    }
    for (const Row& row :
         {Row{"div.u32", 608, 0.28, 0}, Row{"div.rn.f64", 1366, 0.063, 0}}) {  // routines whose length is not published
        const auto& operation = machine.operations.at(row.key);
        EXPECT_EQ(*operation.latency, row.latency) << row.key;
        EXPECT_EQ(*operation.throughput, row.throughput) << row.key;
        EXPECT_FALSE(operation.instructions) << row.key;
    }
    EXPECT_EQ(*machine.operations.at("mul.f32").units, (std::vector<std::string>{"sp", "sfu"}));
}

TEST(Gtx280, HasTheCachesOfTable5) {
    struct Row {
        const char* key;
        std::int64_t capacity, line, ways, sets, latency;
        const char* scope;
    };
    const Machine machine = gtx280();
    for (const Row& row :
         {Row{"texture_l1", 5120, 32, 20, 8, 261, "tpc"}, Row{"texture_l2", 262144, 256, 8, 128, 371, "gpu"},
          Row{"constant_l1", 2048, 64, 4, 8, 8, "sm"}, Row{"constant_l2", 8192, 256, 4, 8, 81, "tpc"},
          Row{"constant_l3", 32768, 256, 8, 16, 220, "gpu"}, Row{"instruction_l1", 4096, 256, 4, 4, 0, "sm"}}) {
        const auto& cache = machine.caches.at(row.key);
        EXPECT_EQ(std::tuple(*cache.capacity, *cache.line, *cache.ways, *cache.sets, *cache.latency, *cache.scope),
                  std::tuple(row.capacity, row.line, row.ways, row.sets, row.latency, std::string(row.scope)))
            << row.key;
    }
}

TEST(Gtx280, HasTheTlbsOfTable5AndFigures13To16) {
    struct Row {
        const char* key;
        std::int64_t reach, entries, ways, span, miss_penalty;
    };
    const Machine machine = gtx280();
    for (const Row& row :
         {Row{"global_l1", 8 << 20, 16, 16, 512 << 10, 47}, Row{"global_l2", 32 << 20, 8192, 8, 4096, 211},
          Row{"texture_l1", 8 << 20, 16, 16, 512 << 10, 47}, Row{"texture_l2", 16 << 20, 4096, 8, 4096, 209}}) {
        const auto& tlb = machine.tlbs.at(row.key);
        EXPECT_EQ(std::tuple(*tlb.reach, *tlb.entries, *tlb.ways, *tlb.span, *tlb.miss_penalty),
                  std::tuple(row.reach, row.entries, row.ways, row.span, row.miss_penalty))
            << row.key;
    }
}

TEST(Gtx280, HasThePublishedMemoryLatencies) {
    const Machine machine = gtx280();
    EXPECT_TRUE((*machine.paths.at("global").caches).empty());
    EXPECT_EQ(*machine.paths.at("global").memory_latency, 440);
    EXPECT_EQ(*machine.paths.at("global").memory_latency_range, (std::vector<std::int64_t>{436, 443}));
    EXPECT_EQ(*machine.paths.at("texture").memory_latency, 497);
    EXPECT_EQ(*machine.paths.at("constant").memory_latency, 476);
    EXPECT_EQ(*machine.paths.at("instruction").caches,
              (std::vector<std::string>{"instruction_l1", "constant_l2", "constant_l3"}));
}

}  // namespace
}  // namespace gputomo::machine
