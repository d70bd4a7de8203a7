// Launches whose blocks or warps depend on each other, by the kernels of fixtures/dependent.cu, and launches that only
// look as if they did.
#include "launch/profile/dependence.hpp"
#include "launch/prepared_launch.hpp"
#include "launch/profile/profile.hpp"
#include "machine/json.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr std::uint64_t kSms = 132;

class Dependence : public testing::Test {
protected:
    static void SetUpTestSuite() {
        code_ = read_file(GPUTOMO_SOURCE_DIR "/tests/launch/fixtures/dependent.cubin", "a cubin");
        machine_ = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    }

    /// Memory of zeros for the launches that follow.
    device::Address buffer(std::uint64_t bytes) {
        constexpr device::Address kFirst = 0x7fc000000000, kApart = 1 << 28;
        buffers_.push_back({.name = "buffer", .bytes = bytes, .address = kFirst + buffers_.size() * kApart});
        return *buffers_.back().address;
    }

    template <class... Arguments>
    LaunchProfile profiled(const std::string& kernel, std::uint32_t grid, std::uint32_t block, Arguments... arguments) {
        Launch launch{.code = code_, .kernel = kernel, .grid = {grid}, .block = {block}, .buffers = buffers_};
        const auto add = [&](const auto& value) {
            const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
            const auto end =
                launch.arguments.empty() ? 0 : launch.arguments.back().offset + launch.arguments.back().bytes.size();
            launch.arguments.push_back({.offset = (end + sizeof value - 1) / sizeof value * sizeof value,
                                        .bytes = {bytes, bytes + sizeof value}});
        };
        (add(arguments), ...);
        prepared_ = std::make_unique<PreparedLaunch>(launch);
        return profile_launch(*prepared_, machine_, sampling_);
    }

    /// Why a launch is handed over; empty where it is not.
    template <class... Arguments>
    std::string handed_over(Arguments... arguments) {
        try {
            (void)profiled(arguments...);
        } catch (const DependentLaunch& dependent) {
            EXPECT_THAT(dependent.what(), AllOf(HasSubstr("kernel '"), HasSubstr("gputomo simulate")));
            return dependent.why();
        }
        return {};
    }

    template <class T>
    T word(std::size_t buffer) const {
        T value{};
        std::memcpy(&value, prepared_->bytes_of(prepared_->buffers()[buffer]), sizeof value);
        return value;
    }

    static inline std::string code_;
    static inline machine::Machine machine_;
    Sampling sampling_{};
    std::vector<Buffer> buffers_;
    std::unique_ptr<PreparedLaunch> prepared_;  ///< the last one
};

double instructions(const LaunchProfile& profile) {
    double sum = 0;
    for (const BlockCounts& block : profile.sampled) sum += block.instructions;
    return sum;
}

TEST_F(Dependence, BlocksShareThePiecesOfAQueue) {
    const auto next = buffer(4), out = buffer(4 << 20);
    const auto of = [&](unsigned pieces) { return profiled("queue", 264, 64, next, out, pieces, 50); };
    const auto few = of(528), many = of(1056);
    EXPECT_THAT(many.sampled, SizeIs(264));
    EXPECT_THAT(many.assumptions, Contains(HasSubstr("all blocks were executed together")));
    EXPECT_THAT(many.warnings, Not(Contains(HasSubstr("meanwhile")))) << "a counter is a small part of what is read";
    EXPECT_THAT(many.assumptions, Contains(HasSubstr("ATOMG")));
    // Each piece is done once: 50 turns of 5 instructions, by two warps.
    EXPECT_NEAR((instructions(many) - instructions(few)) / 528, 2 * 50 * 5, 0.4 * 2 * 50 * 5);
    // Pieces are equal, so that blocks which run at the same time do as many.
    for (const BlockCounts& block : many.sampled) EXPECT_LT(block.instructions, 1.5 * instructions(many) / 264);
    EXPECT_EQ(word<unsigned>(0), 0U) << "memory is given back as it was";
    const auto time = [&](unsigned pieces) { return predict::predict_launch(of(pieces), machine_, "h200").cycles; };
    EXPECT_NEAR(time(1056) / time(528), 2, 0.6);
}

TEST_F(Dependence, LaterBlocksOfAQueueRunWhereOneHasEnded) {
    const auto next = buffer(4), out = buffer(4 << 20);
    const auto profile = profiled("queue", 8000, 64, next, out, 3000U, 50);
    EXPECT_THAT(profile.sampled, SizeIs(8000));
    EXPECT_THAT(profile.blocks_of_sms, Each(testing::Gt(8000.0 / kSms / 2)));
    EXPECT_GT(profile.resident_blocks, 20U);
}

TEST_F(Dependence, OneBlockAddsWhatTheOthersStored) {
    const auto sums = buffer(4096), done = buffer(4), out = buffer(4);
    const auto profile = profiled("last_block", 500, 32, sums, done, out);
    double most = 0;
    for (const BlockCounts& block : profile.sampled) most = std::max(most, block.load_sectors);
    EXPECT_EQ(most, 500 * 4 / 32.0 + 0.5) << "the last block loads all sums, 63 sectors";
    std::size_t longest = 0;
    for (const auto& sm : profile.sms)
        for (const BlockTrace& block : sm) longest = std::max(longest, block.warps.front().size());
    EXPECT_GT(longest, 3 * profile.sms.front().front().warps.front().size()) << "it is among those that are recorded";
    EXPECT_THAT(profile.assumptions, Contains(HasSubstr("all blocks were executed together")));
}

TEST_F(Dependence, ChainIsHandedOver) {
    const auto ready = buffer(4096), out = buffer(4096);
    EXPECT_THAT(handed_over("chain", 64U, 32U, ready, out), HasSubstr("reads memory at 0x7fc0000000"));
    EXPECT_EQ(word<unsigned>(0), 0U) << "memory is given back as it was";
}

TEST_F(Dependence, WaitsWithACounterAreHandedOver) {
    const auto ready = buffer(4096), looks = buffer(4096);
    EXPECT_THAT(handed_over("patient_chain", 64U, 32U, ready, looks), HasSubstr("block"));
}

TEST_F(Dependence, MeetingOfAllBlocksIsHandedOver) {
    const auto arrived = buffer(4);
    EXPECT_THAT(handed_over("meet", 132U, 64U, arrived, 132U), HasSubstr("again and again"));
    EXPECT_EQ(handed_over("meet", 132U, 64U, arrived, 0U), "") << "nobody waits";
}

TEST_F(Dependence, MeetingThatNeverEndsIsRefused) {
    const auto arrived = buffer(4);
    EXPECT_THROW(
        {
            try {
                (void)profiled("meet", 132, 64, arrived, 133U);
            } catch (const DependentLaunch&) {
                throw;
            } catch (const InputError& error) {
                EXPECT_THAT(error.what(), AllOf(HasSubstr("wait for each other forever"), HasSubstr("'meet'")));
                throw std::runtime_error("refused");
            }
        },
        std::runtime_error);
}

TEST_F(Dependence, LockIsHandedOver) {
    const auto lock = buffer(4), sum = buffer(4);
    EXPECT_THAT(handed_over("locked", 64U, 32U, lock, sum, 10), HasSubstr("wait for each other"));
}

TEST_F(Dependence, WarpThatWaitsForAnotherOneOfItsBlockIsHandedOver) {
    const auto out = buffer(1 << 20);
    EXPECT_THAT(handed_over("flag_of_warp", 64U, 64U, out, 3000),
                AllOf(HasSubstr("warps of a block wait"), HasSubstr("shared memory")));
}

TEST_F(Dependence, BlockThatWaitsAloneIsRefused) {
    const auto arrived = buffer(4);
    try {
        (void)profiled("meet", 1, 32, arrived, 2U);
        FAIL() << "it never ends";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("kernel 'meet'"), HasSubstr("never ends")));
    }
}

TEST_F(Dependence, LargeQueueIsHandedOver) {
    const auto next = buffer(4), out = buffer(64 << 20);
    sampling_.most_instructions = 2e6;
    EXPECT_THAT(handed_over("queue", 264U, 64U, next, out, 10'000U, 50), HasSubstr("ATOMG"));
}

TEST_F(Dependence, OrdinaryKernelsAreExecutedBlockByBlock) {
    const auto in = buffer(4 << 20), out = buffer(4 << 20);
    const auto alone = Contains(HasSubstr("no block was seen to read what another one writes"));
    EXPECT_THAT(profiled("halo", 1000, 96, in, out).assumptions, alone);
    EXPECT_THAT(profiled("update", 1000, 33, in, 5).assumptions, alone) << "blocks share the sectors at their edges";
    EXPECT_THAT(profiled("reduce", 1000, 96, in, out).assumptions, alone);
    EXPECT_THAT(profiled("histogram", 1000, 96, in, out).assumptions, alone);
    EXPECT_THAT(profiled("reread", 1000, 32, in, out, 200).assumptions, alone) << "nobody writes what is read";
    EXPECT_EQ(handed_over("reread", 200U, 32U, in, out, 6000), "") << "a long time";
    EXPECT_EQ(handed_over("reread", 1U, 32U, in, out, 6000), "");
    for (const auto& kernel : {"halo", "reduce", "histogram"})
        EXPECT_THAT(predict::predict_launch(profiled(kernel, 4000, 96, in, out), machine_, "h200").warnings,
                    testing::IsEmpty())
            << kernel;
}

TEST_F(Dependence, ValuesOfOthersThatDecideNothingChangeNothing) {
    const auto values = buffer(16 << 20);
    const auto small = profiled("relax", 500, 64, values, 3);
    EXPECT_THAT(small.assumptions, Contains(HasSubstr("all blocks were executed together")));
    sampling_.most_instructions = 1e5;
    const auto large = profiled("relax", 60'000, 64, values, 3);
    EXPECT_THAT(large.assumptions, Contains(HasSubstr("executed the same when the other block had run before it")));
    EXPECT_LT(large.sampled.size(), 6000U);
    EXPECT_EQ(large.sampled.front().instructions, small.sampled.front().instructions);
    EXPECT_THAT(predict::predict_launch(large, machine_, "h200").warnings, Not(Contains(HasSubstr("depend"))));
}

/// Words of one sector, of which block b counts in number b modulo `counters`.
std::optional<gputomo::launch::Dependence> found_among(const sim::machine_code::MachineProgram& program,
                                                       std::uint64_t blocks, std::uint64_t counters) {
    const auto accesses = sim::machine_code::visible_accesses(program);
    std::size_t atomic = 0;
    while (!accesses.reads_global[atomic] || accesses.kind[atomic] != sim::machine_code::Visible::read_and_write)
        ++atomic;
    constexpr std::uint64_t kSector = 77;
    SharedSectors shared;
    const Sectors sector{kSector};
    for (std::uint64_t block = 0; block < blocks; ++block) shared.add(block, std::array{&sector}, sector);
    return find_dependence(program, shared.shared(), [&](std::uint64_t block, sim::machine_code::Observer& observer) {
        observer.execute(atomic, 1, 1);
        observer.access(sim::machine_code::Space::global, sim::machine_code::Access::atomic,
                        kSector * kTouchedSectorBytes + 4 * (block % counters), 4);
        return observer.end_block(block);
    });
}

TEST_F(Dependence, CountersOfOneSectorAreToldApart) {
    const auto next = buffer(4), out = buffer(4 << 20);
    (void)profiled("queue", 2, 64, next, out, 2, 1);
    const auto& program = prepared_->program();
    for (const std::uint64_t counters : {1U, 2U, 4U, 8U}) {
        const auto found = found_among(program, 64, counters);
        ASSERT_TRUE(found) << counters;
        EXPECT_EQ(found->reader % counters, found->writer % counters);
        EXPECT_NE(found->reader, found->writer);
    }
    EXPECT_FALSE(found_among(program, 8, 8)) << "each block has a counter of its own";
}

}  // namespace
}  // namespace gputomo::launch
