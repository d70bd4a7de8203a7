// Ports of the register file beside loops of machine code that an H100 ran.
#include "costs/register_ports.hpp"
#include "machine/json.hpp"
#include "sass/code.hpp"
#include "sass/cubin_writer.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "sim/sm/machine_code/slots.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace gputomo::sim::of_register_ports {
namespace {

using costs::OperandReads;
using costs::RegisterPorts;
using sass::Word;

constexpr costs::RegisterFile kTwoBanks{.banks = 2};

OperandReads reads(std::initializer_list<std::uint8_t> numbers, std::uint8_t marked = 0) {
    OperandReads found;
    std::uint8_t slot = 0;
    for (const auto number : numbers) {
        found.add({.slot = slot, .number = number, .reuse = (marked >> slot & 1) != 0});
        ++slot;
    }
    return found;
}

/// Issue times of instructions of one warp that are chosen as soon as their scheduler is free.
std::vector<double> issues(const std::vector<OperandReads>& code, const costs::RegisterFile& file = kTwoBanks) {
    RegisterPorts ports(file);
    std::vector<double> times;
    for (const auto& each : code) times.push_back(ports.issue(each, 0, times.empty() ? 0 : times.back() + 1));
    return times;
}

using Times = std::vector<double>;

TEST(RegisterPorts, EachFurtherReadOfABankTakesACycle) {
    EXPECT_EQ(issues({reads({0, 1}), reads({2, 3}), reads({4, 5})}), (Times{0, 1, 2}));
    EXPECT_EQ(issues({reads({0, 2}), reads({4, 6}), reads({8, 10})}), (Times{0, 2, 4}));
    EXPECT_EQ(issues({reads({0, 2, 4}), reads({6, 8, 10}), reads({12, 14, 16})}), (Times{0, 3, 6}));
    EXPECT_EQ(issues({reads({0, 2, 4}), reads({6, 8, 10})}, {.banks = 2, .read_cycles = 2}), (Times{0, 6}));
    EXPECT_EQ(issues({reads({0, 2, 4}), reads({6, 8, 10})}, {.banks = 2, .ports = 3}), (Times{0, 1}));
    EXPECT_EQ(issues({reads({0, 2, 4}), reads({6, 8, 10})}, {}), (Times{0, 1})) << "no banks, no conflicts";
}

TEST(RegisterPorts, ReadsOfNeighboursEvenOut) {
    EXPECT_EQ(issues({reads({0, 2, 4}), reads({1, 3, 5}), reads({}), reads({6, 8, 10})}), (Times{0, 1, 2, 3}));
    std::vector<OperandReads> code;
    for (int i = 0; i < 20; ++i) code.push_back(i % 2 == 0 ? reads({0, 2, 1}) : reads({3, 5, 4}));
    EXPECT_NEAR(issues(code).back(), 19 * 1.5, 2) << "three reads of each bank in two instructions";
}

TEST(RegisterPorts, TheReuseCacheKeepsAMarkedOperandForItsSlotAndBank) {
    const auto second = [](const OperandReads& first, const OperandReads& then) {
        return issues({first, then, reads({20, 22, 24})}).back();
    };
    EXPECT_EQ(second(reads({0, 2, 4}), reads({0, 8, 10})), 6);
    EXPECT_EQ(second(reads({0, 2, 4}, 1), reads({0, 8, 10})), 5) << "kept";
    EXPECT_EQ(second(reads({0, 2, 4}, 2), reads({8, 2, 10})), 5) << "kept in the second slot";
    EXPECT_EQ(second(reads({0, 2, 4}, 1), reads({8, 0, 10})), 6) << "read in another slot";
    const auto third = [](const OperandReads& between) {
        return issues({reads({0, 2, 4}, 1), between, reads({0, 8, 10}), reads({20, 22, 24})}).back();
    };
    EXPECT_EQ(third(reads({1})), 5) << "a register of the other bank leaves it";
    EXPECT_EQ(third(reads({0})), 6) << "read again without a mark";
}

TEST(RegisterPorts, AnotherWarpEmptiesTheReuseCache) {
    const auto last = [](std::uint32_t between) {
        RegisterPorts ports(kTwoBanks);
        double now = ports.issue(reads({0, 2, 4}, 1), 0, 0);
        now = ports.issue(reads({}), between, now + 1);
        now = ports.issue(reads({0, 8, 10}), 0, now + 1);
        return ports.issue(reads({20, 22, 24}), 0, now + 1);
    };
    EXPECT_EQ(last(0), 5);
    EXPECT_EQ(last(1), 6);
}

// ---- beside an H100 ------------------------------------------------------------------------------------------------

struct Loop {
    std::string name;
    std::vector<Word> code;
    std::array<double, 3> cycles{};  ///< of an instruction, with 4, 8 and 16 warps
};

std::vector<Loop> recorded() {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/recordings/h100-register-ports.json");
    std::vector<Loop> loops;
    constexpr std::size_t kDigits = 16;
    constexpr int kBase = 16;
    const auto recording = nlohmann::json::parse(file);
    for (const auto& row : recording.at("loops")) {
        Loop loop{.name = row.at("name").get<std::string>(), .cycles = row.at("cycles").get<std::array<double, 3>>()};
        for (const auto& word : row.at("code")) {
            const auto text = word.get<std::string>();
            loop.code.push_back({.low = std::stoull(text.substr(kDigits), nullptr, kBase),
                                 .high = std::stoull(text.substr(0, kDigits), nullptr, kBase)});
        }
        loops.push_back(std::move(loop));
    }
    return loops;
}

/// Others are limited by units or dispatch, or yield, which empties an H100's reuse cache.
bool limited_by_ports(const std::string& name) {
    const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    return !has("MUFU") && !has("LDS") && !has("FFMA 000 x") && !has("IMAD 000") && !has("IADD3 000") &&
           !has("another warp") && !has("HFMA2") && !has("HADD2") && !has("yields");
}

constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};

/// Cycles of a launch whose warps run the loop's code `times` times.
double launch(const machine::Machine& machine, const Loop& loop, std::size_t times, std::uint32_t warps) {
    std::vector<Word> code;
    for (std::size_t i = 0; i < times; ++i) code.insert(code.end(), loop.code.begin(), loop.code.end());
    code.push_back(kExit);
    const auto bytes = sass::write_cubin(
        std::vector<sass::CubinKernel>{{.name = "loop", .code = code, .registers = 112, .parameter_bytes = {8}}}, 90);
    const auto gpu = make_device(machine, {});
    const auto module = gpu->load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    device::Launch launch{.grid = {1}, .block = {32 * warps}, .time_limit = std::chrono::seconds(20)};
    launch.arguments.add(std::uint64_t{0});
    module->kernel("loop").launch(launch);
    return static_cast<double>(gpu->counters().cycles);
}

/// The simulated code has no loop, but finds its instructions as that of a loop does.
machine::Machine h200_in_a_loop() {
    auto machine = completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    machine.paths.erase("instruction");
    machine.instruction_supply = {};
    return machine;
}

double simulated(const machine::Machine& machine, const Loop& loop, std::uint32_t warps) {
    const std::size_t times = std::max<std::size_t>(1, 192 / loop.code.size());
    const double more = launch(machine, loop, 2 * times, warps) - launch(machine, loop, times, warps);
    return more / (static_cast<double>(times * loop.code.size() * warps) / 4);
}

TEST(RegisterPorts, LoopsOfMachineCodeTakeAsLongAsOnAnH100) {
    const auto machine = h200_in_a_loop();
    double sum = 0, worst = 0;
    int loops = 0;
    for (const Loop& loop : recorded()) {
        if (!limited_by_ports(loop.name)) continue;
        const double error = simulated(machine, loop, 4) / loop.cycles[0] - 1;
        EXPECT_LT(std::abs(error), 0.26) << loop.name << ": " << loop.cycles[0] << " cycles";
        sum += std::abs(error), worst = std::max(worst, std::abs(error)), ++loops;
    }
    EXPECT_GT(loops, 200);
    EXPECT_LT(sum / loops, 0.013) << "worst " << worst;
}

TEST(RegisterPorts, WarpsOfOneSchedulerTakeTurnsAsOnAnH100) {
    const auto machine = h200_in_a_loop();
    for (const Loop& loop : recorded()) {
        constexpr std::array<std::string_view, 6> kLoops{"FFMA EEE OOO",        "FFMA EEO OOE",
                                                         "reuse slot 0 always", "outer 8x4",
                                                         "FFMA EEE 000 000",    "reuse slot 0 always, stall 2"};
        // With four warps an H100 still lets two of them take turns, and the simulator all.
        constexpr std::array<std::string_view, 2> kOfTwoWarps{"EEE OOO, stall 2", "EEE OOO, yields"};
        const bool of_all = std::ranges::find(kLoops, loop.name) != kLoops.end();
        if (!of_all && std::ranges::find(kOfTwoWarps, loop.name) == kOfTwoWarps.end()) continue;
        EXPECT_NEAR(simulated(machine, loop, 8) / loop.cycles[1], 1, 0.04) << loop.name;
        if (!of_all) continue;
        EXPECT_NEAR(simulated(machine, loop, 16) / loop.cycles[2], 1, 0.06) << loop.name;
    }
}

}  // namespace
}  // namespace gputomo::sim::of_register_ports
