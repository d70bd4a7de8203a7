#include "deduce/pipeline/operand_banks.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

namespace gputomo::deduce {
namespace {

/// The register file that a test simulates.
struct TrueFile {
    int banks = 1;
    int ports = 1;
    int window = 1;            ///< instructions whose reads overlap
    bool reuse_cache = false;  ///< slot 0 does not read a register again that the previous instruction marked there
};

using Code = std::vector<InstructionReads>;

/// Four instructions with random registers, all even or all odd if `one_sided`. If `marked`, one in four is marked in
/// slot 0 and its register is read again by the next instruction.
Code some_code(std::mt19937& random, int operands, bool one_sided, bool marked) {
    const auto side = static_cast<std::uint8_t>(random() % 2);
    Code code(4);
    for (auto& reads : code)
        while (std::ssize(reads) < operands) {
            const auto number = static_cast<std::uint8_t>(one_sided ? random() % 20 * 2 + side : random() % 40);
            if (std::ranges::find(reads, number, &OperandRead::number) == reads.end())
                reads.push_back({static_cast<int>(reads.size()), number});
        }
    for (std::size_t i = 0; marked && i + 1 < code.size(); ++i) {
        code[i][0].reuse = random() % 4 == 0;
        if (code[i][0].reuse) code[i + 1][0].number = code[i][0].number;
    }
    return code;
}

/// Cycles per instruction if each bank reads `ports` registers per cycle and each window takes a cycle an instruction.
double cycles_per_instruction(const Code& code, const TrueFile& file) {
    double cycles = 0;
    for (std::size_t begin = 0; begin < code.size(); begin += static_cast<std::size_t>(file.window)) {
        std::map<int, int> reads{{0, 0}};
        const auto end = std::min(code.size(), begin + static_cast<std::size_t>(file.window));
        for (std::size_t i = begin; i < end; ++i)
            for (const auto& read : code[i]) {
                const auto& before = code[i > 0 ? i - 1 : 0][0];
                if (!(file.reuse_cache && i > 0 && read.slot == 0 && before.reuse && before.number == read.number))
                    ++reads[read.number % file.banks];
            }
        int most = 0;
        for (const auto& [bank, count] : reads) most = std::max(most, count);
        cycles +=
            std::max(static_cast<double>(end - begin),
                     file.window == 1 ? std::max(1, (most + file.ports - 1) / file.ports) : double(most) / file.ports);
    }
    return cycles / static_cast<double>(code.size());
}

std::vector<OperandLoop> loops_on(const TrueFile& file, double jitter) {
    std::mt19937 random(7);
    std::normal_distribution<double> error(0, 1);
    std::vector<OperandLoop> loops;
    for (int i = 0; i < 60; ++i) {
        auto code = some_code(random, 1 + i % 3, i % 2 == 0, file.reuse_cache);
        const double cycles = 4 * cycles_per_instruction(code, file) + jitter * error(random);
        loops.push_back({std::move(code), cycles});
    }
    return loops;
}

TEST(OperandBanks, FindsTheFileThatExplainsTheTimes) {
    for (const TrueFile file : {TrueFile{2, 1}, {4, 1}, {8, 1}, {3, 1}, {2, 2}, {1, 1}, {1, 2}}) {
        const auto found = operand_banks(loops_on(file, 0.1));
        for (const auto& one : found.models) {
            EXPECT_EQ(one.banks, file.banks);
            EXPECT_EQ(one.ports, file.ports) << file.banks << " banks";
            EXPECT_FALSE(one.averaged && file.banks > 1);  // one bank has as many reads of each instruction as of all
        }
        EXPECT_GT(found.explained, 0.98);
        EXPECT_NEAR(found.conflict_cycles, 4, 0.2);
    }
}

TEST(OperandBanks, FindsAveragedReadsAndAReuseCache) {
    for (const int banks : {2, 4})
        for (const bool keeps : {false, true}) {
            const auto found = operand_banks(loops_on({banks, 1, 4, keeps}, 0.05));
            ASSERT_EQ(found.models.size(), 1U) << banks << " banks";
            EXPECT_EQ(found.models.front().banks, banks);
            EXPECT_EQ(found.models.front().ports, 1);
            EXPECT_TRUE(found.models.front().averaged);
            EXPECT_NEAR(found.read_cycles, 4, 0.4);
            EXPECT_EQ(found.models.front().reuse_cache, keeps);
            EXPECT_GT(found.explained, 0.95);
        }
}

TEST(OperandBanks, ReuseCacheHoldsAnOperandUntilItsSlotReadsTheSameBank) {
    // Two instructions later, slot 0 reads register 1 again. In between it reads register 4 of the other bank, or
    // register 5 of the same bank.
    const Code cached{{{0, 1, true}, {1, 3}}, {{0, 4}, {1, 5}}, {{0, 1}, {1, 7}}, {{0, 9}, {1, 11}}};
    const Code evicted{{{0, 1, true}, {1, 3}}, {{0, 5}, {1, 4}}, {{0, 1}, {1, 7}}, {{0, 9}, {1, 11}}};
    const Code even{{{0, 1}, {1, 2}}, {{0, 4}, {1, 3}}, {{0, 6}, {1, 5}}, {{0, 8}, {1, 7}}};
    const OperandLoop loops[] = {{cached, 6 / 4.0}, {evicted, 7 / 4.0}, {even, 4 / 4.0}};
    const auto found = operand_banks(loops);
    const auto explains = [&](bool keeps) {
        return std::ranges::any_of(found.models, [&](const auto& file) {
            return file.banks == 2 && file.ports == 1 && file.averaged && file.reuse_cache == keeps;
        });
    };
    EXPECT_TRUE(explains(true));
    EXPECT_FALSE(explains(false));
    EXPECT_NEAR(found.explained, 1, 1e-9);
}

TEST(OperandBanks, EqualTimesMeanNoConflicts) { EXPECT_TRUE(operand_banks(loops_on({1, 3}, 0.01)).no_conflicts); }

TEST(OperandBanks, ExplainsLittleOfRandomTimes) {
    auto loops = loops_on({1, 3}, 0.01);
    std::mt19937 random(3);
    for (auto& loop : loops) loop.cycles += static_cast<double>(random() % 4);
    EXPECT_LT(operand_banks(loops).explained, 0.5);
}

/// The loops of one of three recorded runs on an H200.
std::vector<OperandLoop> recorded(const nlohmann::json& recording, std::size_t run) {
    std::vector<OperandLoop> loops;
    for (const auto& loop : recording.at("loops")) {
        auto& one = loops.emplace_back();
        one.cycles = loop.at("cycles").at(run).get<double>();
        for (const auto& code : loop.at("code")) {
            auto& reads = one.instructions.emplace_back();
            for (int slot = 0; slot < 3; ++slot)
                reads.push_back({slot, code.at(static_cast<std::size_t>(slot)).get<std::uint8_t>(),
                                 (code.at(3).get<int>() >> slot & 1) != 0});
        }
    }
    return loops;
}

TEST(OperandBanks, FindsTwoBanksOfOnePortOnAnH200) {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/recordings/h200-operand-banks.json");
    const auto recording = nlohmann::json::parse(file);
    for (std::size_t run = 0; run < 3; ++run) {
        const auto found = operand_banks(recorded(recording, run));
        EXPECT_GT(found.explained, 0.98);
        ASSERT_FALSE(found.models.empty());
        EXPECT_TRUE(found.models.front().averaged);
        EXPECT_NEAR(found.read_cycles * 4, 1, 0.03) << "four schedulers";
        EXPECT_TRUE(found.models.front().reuse_cache);
        for (const auto& file_found : found.models) {
            EXPECT_EQ(file_found.banks, 2);
            EXPECT_EQ(file_found.ports, 1);
        }
    }
}

}  // namespace
}  // namespace gputomo::deduce
