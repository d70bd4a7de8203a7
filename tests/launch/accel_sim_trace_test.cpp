// Traces of machine code as Accel-Sim reads them: read back line by line, and compared with what was executed.
#include "launch/trace/accel_sim_trace.hpp"

#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr device::Address kFrom = 0x7fc000000000, kTo = 0x7fc010000000;
constexpr std::uint32_t kBlocks = 140, kThreads = 96;

const machine::Machine& h200() {
    static const machine::Machine machine =
        sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    return machine;
}

template <class T>
void add(Launch& launch, std::uint64_t offset, const T& value) {
    Argument argument{.offset = offset, .bytes = std::vector<std::byte>(sizeof value)};
    std::memcpy(argument.bytes.data(), &value, sizeof value);
    launch.arguments.push_back(argument);
}

/// Each thread copies 16 bytes a turn, four turns at a time.
Launch copy_launch() {
    constexpr std::uint64_t kStep = std::uint64_t{16} * kBlocks * kThreads;
    Launch launch{.code = read_file(GPUTOMO_SOURCE_DIR "/tests/data/cubin/stream_copy_x4.sm_90.cubin", "a cubin"),
                  .kernel = "stream_copy_x4",
                  .grid = {kBlocks, 1, 1},
                  .block = {kThreads, 1, 1}};
    for (const auto at : {kFrom, kTo}) launch.buffers.push_back({.name = "memory", .bytes = 8 * kStep, .address = at});
    add(launch, 0, kFrom), add(launch, 8, kTo), add(launch, 16, kStep), add(launch, 24, std::uint32_t{2});
    return launch;
}

/// A line of a trace, as its reader splits it.
struct Line {
    std::uint32_t place = 0, mask = 0;
    std::string result, name;
    std::vector<std::string> sources;
    int width = 0;
    std::vector<std::uint64_t> addresses;
};

Line parsed(const std::string& text) {
    std::istringstream in(text);
    Line line;
    in >> std::hex >> line.place >> line.mask >> std::dec;
    int results = 0, sources = 0, mode = 0;
    in >> results;
    if (results == 1) in >> line.result;
    in >> line.name >> sources;
    line.sources.resize(static_cast<std::size_t>(sources));
    for (auto& source : line.sources) in >> source;
    in >> line.width;
    if (line.width > 0) {
        in >> mode;
        const int lanes = __builtin_popcount(line.mask);
        std::uint64_t address = 0;
        std::int64_t stride = 0;
        in >> std::hex >> address >> std::dec;
        if (mode == 1) in >> stride;
        for (int lane = 0; lane < lanes; ++lane) {
            line.addresses.push_back(address);
            if (mode == 1)
                address += static_cast<std::uint64_t>(stride);
            else if (lane + 1 < lanes)
                in >> std::hex >> address >> std::dec;
        }
    }
    std::uint64_t immediate = 0;
    in >> immediate;
    EXPECT_TRUE(in) << text;
    return line;
}

struct Trace {
    std::string head;
    std::vector<std::string> blocks;  ///< "0,0,0", in the order of the file
    std::map<std::string, std::map<int, std::vector<Line>>> warps;
    std::size_t lines = 0;
};

Trace read(const std::string& text) {
    Trace trace;
    std::istringstream in(text);
    int warp = -1;
    std::size_t left = 0;
    for (std::string line; std::getline(in, line);) {
        if (trace.blocks.empty() && line.starts_with('-')) trace.head += line + '\n';
        if (line.starts_with("thread block = ")) trace.blocks.push_back(line.substr(15));
        if (line.starts_with("warp = ")) warp = std::stoi(line.substr(7));
        if (line.starts_with("insts = ")) {
            EXPECT_EQ(left, 0U) << "lines are missing before " << line;
            left = std::stoul(line.substr(8));
        } else if (left > 0) {
            trace.warps[trace.blocks.back()][warp].push_back(parsed(line));
            ++trace.lines;
            --left;
        }
    }
    EXPECT_EQ(left, 0U);
    return trace;
}

struct Traced {
    TracedLaunch told;
    Trace trace;
};

Traced traced(const Launch& launch, const AccelSimOptions& options = {}) {
    std::ostringstream out;
    const PreparedLaunch prepared(launch);
    const auto told = write_accel_sim_trace(prepared, h200(), options, out);
    return {told, read(out.str())};
}

TEST(AccelSimTrace, HasEachBlockInItsOrderAndAllThatItsWarpsExecute) {
    const auto [told, trace] = traced(copy_launch(), {.number = 7});
    EXPECT_THAT(trace.head, AllOf(HasSubstr("-kernel name = stream_copy_x4\n"), HasSubstr("-kernel id = 7\n"),
                                  HasSubstr("-grid dim = (140,1,1)\n"), HasSubstr("-block dim = (96,1,1)\n"),
                                  HasSubstr("-binary version = 90\n"), HasSubstr("-accelsim tracer version = 5\n")));
    ASSERT_EQ(trace.blocks.size(), kBlocks);
    for (std::size_t i = 0; i < kBlocks; ++i) EXPECT_EQ(trace.blocks[i], std::to_string(i) + ",0,0");
    EXPECT_EQ(trace.lines, told.warp_instructions);
    for (const auto& [block, warps] : trace.warps) {
        ASSERT_EQ(warps.size(), 3U) << block;
        for (const auto& [warp, lines] : warps) {
            EXPECT_EQ(lines.back().name, "EXIT");
            EXPECT_EQ(lines.back().mask, ~0U);
        }
    }
    EXPECT_FALSE(told.waits);
    EXPECT_THAT(told.replaced, IsEmpty());
}

TEST(AccelSimTrace, HasTheAddressOfEachLane) {
    const auto [told, trace] = traced(copy_launch());
    std::map<std::uint64_t, int> loaded, stored;
    for (const auto& [block, warps] : trace.warps)
        for (const auto& [warp, lines] : warps)
            for (const Line& line : lines) {
                if (line.name.starts_with("LDG")) {
                    EXPECT_THAT(line.name, HasSubstr(".128"));
                    EXPECT_EQ(line.width, 16);
                    for (const auto address : line.addresses) ++loaded[address - kFrom];
                } else if (line.name.starts_with("STG")) {
                    EXPECT_THAT(line.result, IsEmpty());
                    EXPECT_EQ(line.sources.size(), 2U) << "the address and the value";
                    for (const auto address : line.addresses) ++stored[address - kTo];
                } else {
                    EXPECT_EQ(line.width, 0) << line.name;
                }
            }
    // Each 16 bytes once, from the first to the last.
    const std::size_t all = std::size_t{kBlocks} * kThreads * 8;
    ASSERT_EQ(loaded.size(), all);
    EXPECT_EQ(loaded, stored);
    EXPECT_EQ(loaded.rbegin()->first, 16 * (all - 1));
    EXPECT_EQ(loaded.begin()->second, 1);
}

TEST(AccelSimTrace, ReleaseOneIsToldAnOlderGeneration) {
    const auto [told, trace] = traced(copy_launch(), {.release = AccelSimRelease::one});
    EXPECT_THAT(trace.head, HasSubstr("-binary version = 86\n"));
    for (const auto& [warp, lines] : trace.warps.at("0,0,0"))
        for (const Line& line : lines) EXPECT_THAT(line.name, Not(testing::StartsWith("VIADD")));
}

TEST(AccelSimTrace, TimeLimitEndsIt) {
    std::ostringstream out;
    const PreparedLaunch prepared(copy_launch());
    EXPECT_THROW((void)write_accel_sim_trace(prepared, h200(), {.time_limit = std::chrono::milliseconds(-1)}, out),
                 TimeLimitError);
}

}  // namespace
}  // namespace gputomo::launch
