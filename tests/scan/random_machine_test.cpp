#include "validate/random_machine.hpp"

#include "machine/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace gputomo::validate {
namespace {

constexpr std::uint64_t kSeeds = 1000;

template <class Check>
void for_all_seeds(Check check) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        check(random_machine(seed));
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(RandomMachine, IsValidAndReadsBackFromItsFile) {
    for_all_seeds([](const machine::Machine& machine) {
        EXPECT_NO_THROW(machine::validate(machine));
        EXPECT_EQ(machine::to_json(machine::from_json(machine::to_json(machine))), machine::to_json(machine));
    });
}

TEST(RandomMachine, DependsOnTheSeedAlone) {
    EXPECT_EQ(machine::to_json(random_machine(7)), machine::to_json(random_machine(7)));
    std::set<std::string> texts;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto machine = random_machine(seed);
        machine.identity.name = {};
        machine.clock.sm_mhz = {};
        texts.insert(machine::to_json(machine));
    }
    EXPECT_EQ(texts.size(), 100U);
}

TEST(RandomMachine, IsTheSameOnEveryPlatform) {
    const auto machine = random_machine(1);
    const auto fingerprint = [](const machine::Machine& m) {
        return std::vector<std::int64_t>{*m.topology.sms,
                                         *m.clock.read_cost,
                                         *m.pipelines.at("sp").latency,
                                         *m.shared.latency,
                                         *m.tlbs.at("global_l1").reach,
                                         *m.paths.at("global").memory_latency};
    };
    EXPECT_EQ(fingerprint(machine), (std::vector<std::int64_t>{11, 16, 51, 35, 1179648, 655}));
}

TEST(RandomMachine, HasLevelsThatGrowAndLieEightCyclesApart) {
    for_all_seeds([](const machine::Machine& machine) {
        const auto& path = machine.paths.at("global");
        std::int64_t capacity = 0, latency = 12;
        for (const auto& key : *path.caches) {
            const auto& cache = machine.caches.at(key);
            EXPECT_GE(*cache.capacity, std::max<std::int64_t>(1024, capacity * 4));
            EXPECT_LE(*cache.capacity, std::int64_t{4} << 20);
            EXPECT_GE(*cache.latency, latency + 8);
            capacity = *cache.capacity;
            latency = *cache.latency;
        }
        EXPECT_GE(path.memory_latency_range.value.at(0), latency + 8);
        EXPECT_GE(*machine.tlbs.at("global_l1").reach, 2 * capacity);
        if (machine.tlbs.contains("global_l2")) {
            EXPECT_GE(*machine.tlbs.at("global_l2").reach, 4 * *machine.tlbs.at("global_l1").reach);
        }
    });
}

TEST(RandomMachine, HasEnoughWarpsToFillEveryPipeline) {
    for_all_seeds([](const machine::Machine& machine) {
        for (const auto& [key, pipeline] : machine.pipelines) {
            EXPECT_GE(*pipeline.latency, 4);
            EXPECT_LE(*pipeline.latency, 64)
                << "60, or as long as a warp takes to enter a pipeline of one lane and two schedulers";
            EXPECT_LE(static_cast<double>(*pipeline.latency) * *pipeline.lanes,
                      static_cast<double>(*machine.topology.max_threads_per_sm))
                << key;
            const double issued = 32.0 *
                                  static_cast<double>(*machine.issue.schedulers_per_sm * *machine.issue.dual_issue) /
                                  *machine.issue.issue_interval;
            EXPECT_LE(*pipeline.lanes, issued) << key;
        }
    });
}

TEST(RandomMachine, HasConflictsThatCostAtLeastTheTimeOfTheBanks) {
    for_all_seeds([](const machine::Machine& machine) {
        EXPECT_GE(static_cast<double>(*machine.shared.conflict_cost) * *machine.shared.bytes_per_cycle, 128.0);
    });
}

TEST(RandomMachine, HasNoFeatureThatLoadsCannotShow) {
    for_all_seeds([](const machine::Machine& machine) {
        EXPECT_LE(*machine.shared.access_group * 4, *machine.shared.banks * *machine.shared.bank_width)
            << "of such a group some words always conflict";
        for (const auto& key : *machine.paths.at("constant").caches)
            EXPECT_GE(*machine.caches.at(key).latency, *machine.issue.ilp_latency);
        if (machine.caches.contains("instruction_l1")) {
            EXPECT_EQ(*machine.caches.at("instruction_l1").sector, *machine.caches.at("instruction_l1").line)
                << "fetches ask for whole lines";
        }
    });
}

TEST(RandomMachine, DrawsEveryKindOfMachine) {
    std::map<std::string, int> seen;
    for_all_seeds([&](const machine::Machine& machine) {
        ++seen["levels " + std::to_string(machine.paths.at("global").caches.value.size())];
        for (const char* path : {"constant", "texture", "instruction"})
            if (machine.paths.contains(path))
                ++seen[path + (" " + std::to_string(machine.paths.at(path).caches.value.size()))];
        ++seen["tlbs " + std::to_string(machine.tlbs.size())];
        ++seen["tpc " + std::to_string(*machine.topology.sms_per_tpc)];
        ++seen["clock " + *machine.clock.scope];
        ++seen["banks " + std::to_string(*machine.shared.banks) + "x" + std::to_string(*machine.shared.bank_width)];
        if (*machine.operations.at("mul.lo.s32").instructions > 1) ++seen["expanded multiply"];
        ++seen[*machine.issue.divergence + " " + *machine.issue.first_path];
        ++seen[*machine.issue.divergence + ", barriers of " + *machine.issue.barrier_granularity];
        ++seen["threads " + std::to_string(*machine.topology.thread_allocation_unit)];
        for (const auto& [key, cache] : machine.caches) {
            ++seen["policy " + *cache.policy];
            if (*cache.sector != *cache.line) ++seen["sectors"];
            if (!std::has_single_bit(static_cast<std::uint64_t>(*cache.sets))) ++seen["odd sets"];
        }
        EXPECT_LE(*machine.topology.sms, 16);
    });
    for (const char* kind : {"levels 0",
                             "levels 1",
                             "levels 2",
                             "tlbs 1",
                             "tlbs 2",
                             "constant 0",
                             "constant 1",
                             "constant 2",
                             "constant 3",
                             "texture 0",
                             "texture 1",
                             "texture 2",
                             "instruction 1",
                             "instruction 2",
                             "tpc 1",
                             "tpc 2",
                             "tpc 3",
                             "clock sm",
                             "clock tpc",
                             "clock gpu",
                             "banks 16x4",
                             "banks 16x8",
                             "banks 32x4",
                             "banks 32x8",
                             "expanded multiply",
                             "policy lru",
                             "policy fifo",
                             "policy random",
                             "policy tree-plru",
                             "sectors",
                             "odd sets",
                             "stack taken",
                             "stack fall-through",
                             "independent taken",
                             "independent fall-through",
                             "stack, barriers of warp",
                             "stack, barriers of thread",
                             "independent, barriers of thread",
                             "threads 32",
                             "threads 64",
                             "threads 128"})
        EXPECT_GE(seen[kind], 20) << kind;
}

}  // namespace
}  // namespace gputomo::validate
