// Captures that are replayed and reduced. The kernels are those of fixtures/replayed.cu.
#include "answer/simulate.hpp"
#include "capture/folder.hpp"
#include "capture/reduce/reduce.hpp"
#include "launch/captured/captured_launch.hpp"
#include "launch/prepared_launch.hpp"
#include "launch/prune.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>

namespace gputomo::answer {
namespace {

namespace fs = std::filesystem;
using capture::Buffer;
using capture::Capture;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kIndex = 0x7fc200000000, kData = 0x7fc300000000, kOut = 0x7fc400000000;

std::string fixture() { return read_file(GPUTOMO_SOURCE_DIR "/tests/launch/fixtures/replayed.cubin", "a cubin"); }

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::vector<float> numbers(std::size_t count, float least, float most) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> value(least, most);
    std::vector<float> all(count);
    for (float& number : all) number = value(random);
    return all;
}

/// A folder with a capture of one launch.
class Replay : public testing::Test {
protected:
    Replay() : folder_((fs::temp_directory_path() / "gputomo-replay-").string()) {
        capture_.header.writer.version = "1";
        capture_.processes = {{1, {"program"}}};
        capture_.folder = folder_.path() / "whole";
        capture::make_folders(capture_.folder);
        capture::add_module(capture_.folder, capture_.modules, fixture(), "cubin");
    }

    Buffer stored(std::uint64_t address, const std::string& content, const std::string& space = "device",
                  const std::string& name = "") {
        const auto file = capture::add_memory(capture_.folder, capture_.memory, content, capture::Compression::fast);
        return {space, name, address, content.size(), {{.bytes = content.size(), .file = file.file}}, {}};
    }
    static Buffer filled(std::uint64_t address, std::uint64_t bytes) {
        return {"device", "", address, bytes, {{.bytes = bytes, .fill = 0}}, {}};
    }

    template <class... Values>
    void launch(const std::string& kernel, std::uint32_t blocks, std::vector<Buffer> buffers, Values... values) {
        capture::Shape shape{.grid = {blocks, 1, 1}, .block = {128, 1, 1}};
        shape.parameters.emplace();
        std::uint64_t offset = 0;
        const auto add = [&](const auto& value) {
            offset = (offset + sizeof value - 1) / sizeof value * sizeof value;
            shape.parameters->push_back({offset, {reinterpret_cast<const char*>(&value), sizeof value}});
            offset += sizeof value;
        };
        (add(values), ...);
        shape.kernel = static_cast<int>(capture_.kernels.size());
        capture_.kernels.push_back({kernel, kernel, 0, {}});
        capture::Launch launch;
        launch.kernel = shape;
        launch.buffers = std::move(buffers);
        capture_.launches.push_back(std::move(launch));
    }

    [[nodiscard]] capture::Launch& last() { return capture_.launches.back(); }

    /// The launch of `gather` over random indices and data.
    void launch_gather(std::uint32_t blocks) {
        const std::size_t count = blocks * 128;
        std::mt19937 random(1);
        std::vector<int> index(count);
        for (int& i : index) i = static_cast<int>(random() % count);
        data_ = numbers(count, 0.5F, 2.0F);
        expected_.resize(count);
        for (std::size_t i = 0; i < count; ++i) expected_[i] = data_[static_cast<std::size_t>(index[i])] * 3.0F;
        launch("gather", blocks,
               {stored(kIndex, bytes_of(index)), stored(kData, bytes_of(data_)), filled(kOut, 4 * count)}, kIndex,
               kData, kOut, static_cast<int>(count));
    }

    /// Writes the capture, reduces it, and reads the result.
    Capture reduced(bool unproven = false, std::optional<std::chrono::seconds> time_limit = {}) {
        capture::write_index(capture_.folder, capture_);
        capture::ReduceOptions options{.in = capture_.folder, .out = folder_.path() / "small"};
        options.unproven = unproven;
        if (time_limit) options.time_limit = *time_limit;
        (void)capture::reduce(options);
        return capture::load(options.out);
    }

    static sim::machine_code::Executed run(const Capture& from) {
        const launch::PreparedLaunch prepared(launch::captured_launch(from, from.launches.back()));
        return sim::machine_code::run(prepared.program(), prepared.launch(), prepared.memory());
    }
    static void expect_same_execution(const Capture& one, const Capture& other) {
        const auto a = run(one), b = run(other);
        EXPECT_EQ(a.warp_instructions, b.warp_instructions);
        EXPECT_EQ(a.thread_instructions, b.thread_instructions);
        EXPECT_GT(a.total, 0U);
    }
    /// Simulates the last launch on an H200, as --device sim:h200 does.
    Answer simulated(bool compares_results) {
        static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
        return simulate(launch::captured_launch(capture_, last()), {machine, "sim:h200"},
                        {.compares_results = compares_results});
    }
    static std::string refusal(const Capture& from) {
        try {
            const launch::PreparedLaunch prepared(launch::captured_launch(from, from.launches.back()));
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    }

    capture::TemporaryFolder folder_;
    Capture capture_;
    std::vector<float> data_, expected_;
};

TEST_F(Replay, RunsALaunchAtItsAddressesAndFindsTheFirstByteThatDiffers) {
    launch_gather(4);
    last().results = {stored(kOut, bytes_of(expected_))};
    const auto launch = launch::captured_launch(capture_, last());
    const launch::PreparedLaunch prepared(launch);
    (void)sim::machine_code::run(prepared.program(), prepared.launch(), prepared.memory());
    EXPECT_THAT(prepared.compare(*launch.results), IsEmpty());
    expected_[77] = -expected_[77];
    last().results = {stored(kOut, bytes_of(expected_))};
    const auto different = prepared.compare(*launch::captured_launch(capture_, last()).results);
    ASSERT_THAT(different, SizeIs(1));
    EXPECT_EQ(different[0].offset, 4 * 77 + 3U);  // the sign is in the last byte
    EXPECT_EQ(different[0].bytes, 1U);
    EXPECT_EQ(different[0].buffer, "the device buffer at 0x7fc400000000");
}

TEST_F(Replay, ConstantsAndVariablesOfTheModuleHaveTheirContent) {
    const std::vector<std::uint32_t> launches{40};
    const std::vector<int> factors{2, 3, 5, 7};
    launch("scale", 1,
           {stored(kOut, bytes_of(std::vector<float>(128, 1.0F))),
            stored(0x7fc500000400, bytes_of(factors), "variable", "factors"),
            stored(0x7fc600000200, bytes_of(launches), "variable", "launches")},
           kOut);
    const auto launch = launch::captured_launch(capture_, last());
    const launch::PreparedLaunch prepared(launch);
    (void)sim::machine_code::run(prepared.program(), prepared.launch(), prepared.memory());
    std::vector<float> out(128);
    std::memcpy(out.data(), prepared.bytes_of(prepared.buffers()[0]), 4 * out.size());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], static_cast<float>(factors[i % 4]));
    std::uint32_t count = 0;
    std::memcpy(&count, prepared.memory().resolve(0x7fc600000200, 4), sizeof count);
    EXPECT_EQ(count, 41U);
}

TEST_F(Replay, SimulatesALaunchWithTimingAndComparesItsResults) {
    launch_gather(4);
    last().results = {stored(kOut, bytes_of(expected_))};
    const auto same = simulated(true);
    EXPECT_THAT(*same.differences, IsEmpty());
    EXPECT_GT(same.time.cycles, 0);
    EXPECT_EQ(same.work.warp_instructions, static_cast<double>(run(capture_).total));
    EXPECT_TRUE(same.coverage.machine_code);
    expected_[5] += 1;
    last().results = {stored(kOut, bytes_of(expected_))};
    const auto differs = *simulated(true).differences;
    ASSERT_THAT(differs, SizeIs(1));
    EXPECT_EQ(differs[0].as_numbers.numbers, 1U);
    EXPECT_FALSE(differs[0].tolerated);
    last().results.reset();
    EXPECT_THROW((void)simulated(true), InputError);
}

TEST_F(Replay, CodeThatCannotBeLoadedIsNamedByItsFile) {
    static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    const launch::Launch launch{.code = ".version 8.0\n.target sm_90\nnothing", .kernel = "k", .origin = "broken.ptx"};
    try {
        (void)simulate(launch, {machine, "sim:h200"}, {});
        FAIL() << "it was loaded";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::StartsWith("broken.ptx: "));
    }
}

TEST_F(Replay, SimulatesConstantsAndVariables) {
    const std::vector<int> factors{2, 3, 5, 7};
    std::vector<float> out(128), ones(128, 1.0F);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(factors[i % 4]);
    launch("scale", 1,
           {stored(kOut, bytes_of(ones)), stored(0x7fc500000400, bytes_of(factors), "variable", "factors"),
            stored(0x7fc600000200, bytes_of(std::vector<std::uint32_t>{40}), "variable", "launches")},
           kOut);
    last().results = {stored(kOut, bytes_of(out)),
                      stored(0x7fc600000200, bytes_of(std::vector<std::uint32_t>{41}), "variable", "launches")};
    EXPECT_THAT(*simulated(true).differences, IsEmpty());
    last().results->back() = stored(0x7fc600000200, bytes_of(std::vector<std::uint32_t>{40}), "variable", "launches");
    const auto differences = *simulated(true).differences;
    ASSERT_THAT(differences, SizeIs(1));
    EXPECT_EQ(differences[0].buffer, "the variable 'launches'");
}

TEST_F(Replay, ContentsThatWereNotCapturedMayBeMissingWhereTheySteerNothing) {
    launch_gather(20);
    (*last().buffers)[1].omitted = "memory limit";
    EXPECT_THAT(reduced().launches.back().reduction->whole, HasSubstr("has no content"));
    const auto small = reduced(true);
    EXPECT_EQ(small.launches.back().reduction->whole, "");
    EXPECT_THAT(small.launches.back().reduction->unproven, HasSubstr("the contents of 1 buffers were not captured"));
    EXPECT_GT(run(small).total, 0U);
    // Without its indices the launch reads at wrong addresses.
    std::swap((*last().buffers)[0].omitted, (*last().buffers)[1].omitted);
    EXPECT_NE(reduced(true).launches.back().reduction->whole, "");
}

TEST_F(Replay, SaysWhatACaptureLacks) {
    launch_gather(1);
    (*last().buffers)[1].omitted = "memory limit";
    EXPECT_THAT(refusal(capture_), HasSubstr("the device buffer at 0x7fc300000000 has no content: memory limit"));
    launch_gather(1);
    last().kernel->parameters.reset();
    EXPECT_THAT(refusal(capture_), HasSubstr("has no parameters"));
    launch_gather(1);
    last().buffers.reset();
    EXPECT_THAT(refusal(capture_), HasSubstr("has no memory"));
    launch_gather(1);
    capture_.kernels.back().module.reset();
    capture_.kernels.back().missing = "it was lost";
    EXPECT_THAT(refusal(capture_), HasSubstr("kernel 'gather' has no code: it was lost"));
}

TEST_F(Replay, ReductionKeepsWhatSteersAddressesAlone) {
    launch_gather(200);
    const auto small = reduced();
    const auto& launch = small.launches.back();
    EXPECT_EQ(launch.reduction->whole, "");
    EXPECT_EQ(launch.reduction->kept, 200U * 128 * 4);  // the indices
    EXPECT_THAT((*launch.buffers)[1].content, SizeIs(1));
    EXPECT_TRUE((*launch.buffers)[1].content[0].generated);
    expect_same_execution(capture_, small);
}

TEST_F(Replay, ReductionKeepsNothingThatIsNotRead) {
    launch_gather(40);
    last().kernel->grid[0] = 1;  // reads the first 128 indices
    const auto small = reduced();
    EXPECT_EQ(small.launches.back().reduction->kept, 512U);
    expect_same_execution(capture_, small);
}

TEST_F(Replay, ReductionKeepsDataThatSteerALoop) {
    const auto data = numbers(64 * 128, 0.0F, 50.0F);
    launch("halve", 64, {stored(kData, bytes_of(data)), filled(kOut, 4 * data.size())}, kData, kOut,
           static_cast<int>(data.size()));
    const auto small = reduced();
    EXPECT_EQ(small.launches.back().reduction->kept, 4 * data.size());
    expect_same_execution(capture_, small);
}

TEST_F(Replay, ReductionRepeatsAPartOfDataThatAllSteerAlike) {
    // Below one the loop does not begin. Generated numbers are larger.
    const auto data = numbers(256 * 128, 0.1F, 0.9F);
    launch("halve", 256, {stored(kData, bytes_of(data)), filled(kOut, 4 * data.size())}, kData, kOut,
           static_cast<int>(data.size()));
    const auto small = reduced();
    EXPECT_EQ(small.launches.back().reduction->kept, 4096U);
    EXPECT_EQ((*small.launches.back().buffers)[0].content.at(0).period, 4096U);
    expect_same_execution(capture_, small);
    // What is stored once is read back at each place that it stands for.
    capture::MemoryReader reader(small);
    const auto content = reader.read((*small.launches.back().buffers)[0]);
    EXPECT_EQ(content.substr(8192, 4096), bytes_of(data).substr(0, 4096));
}

TEST_F(Replay, ReductionKeepsALaunchWholeThatIsRefused) {
    const auto data = numbers(40000, 0.0F, 1.0F);
    launch("texture", 1, {stored(kData, bytes_of(data)), filled(kOut, 512)}, std::uint64_t{1}, kData, kOut);
    last().results = {filled(kOut, 512)};
    const auto whole = reduced();
    EXPECT_THAT(whole.launches.back().reduction->whole, HasSubstr("no texture object has the handle 0x1"));
    EXPECT_EQ(whole.launches.back().reduction->kept, 160000U);
    EXPECT_TRUE(whole.launches.back().results.has_value());
    capture::MemoryReader reader(whole);
    EXPECT_EQ(reader.read((*whole.launches.back().buffers)[0]), bytes_of(data));
    const auto guessed = reduced(true);
    EXPECT_EQ(guessed.launches.back().reduction->kept, 0U);
    EXPECT_THAT(guessed.launches.back().reduction->unproven, HasSubstr("buffers of more than 65536 bytes"));
}

TEST_F(Replay, ReductionKeepsWhatFitsOfALaunchThatTakesTooLong) {
    // Half of infinity is no smaller: no block ends.
    const std::vector<float> data(256 * 128, std::numeric_limits<float>::infinity());
    launch("halve", 256, {stored(kData, bytes_of(data)), filled(kOut, 4 * data.size())}, kData, kOut,
           static_cast<int>(data.size()));
    const auto kept = reduced(true, std::chrono::seconds(1));
    EXPECT_THAT(kept.launches.back().reduction->unproven, HasSubstr("all of its memory is kept"));
    capture::MemoryReader reader(kept);
    EXPECT_EQ(reader.read((*kept.launches.back().buffers)[0]), bytes_of(data));
}

TEST_F(Replay, TextureObjectsReadTheirBuffers) {
    constexpr std::uint64_t kTexels = 0x600000000000;
    const auto texels = numbers(200, 0.5F, 2.0F);
    data_ = numbers(128, 0.5F, 2.0F);
    for (std::size_t i = 0; i < 128; ++i) expected_.push_back(texels[i] + data_[i]);
    launch("texture", 1,
           {stored(kTexels, bytes_of(texels), "array"), stored(kData, bytes_of(data_)), filled(kOut, 512)},
           std::uint64_t{0x100001}, kData, kOut);
    capture::Texture texture{.handle = 0x100001, .address = kTexels, .format = 0x20, .channels = 1, .width = 200};
    texture.memory = capture::TextureMemory::array;
    texture.outside.fill(capture::TextureOutside::clamp);
    last().textures = {texture};
    last().results = {stored(kOut, bytes_of(expected_))};
    EXPECT_THAT(*simulated(true).differences, IsEmpty());
    const auto launch = launch::captured_launch(capture_, last());
    const launch::PreparedLaunch prepared(launch);
    (void)sim::machine_code::run(prepared.program(), prepared.launch(), prepared.memory());
    EXPECT_THAT(prepared.compare(*launch.results), IsEmpty());
    // The texels steer nothing.
    const auto small = reduced();
    EXPECT_EQ(small.launches.back().reduction->whole, "");
    EXPECT_EQ(small.launches.back().reduction->kept, 0U);
    EXPECT_THAT(small.launches.back().textures, SizeIs(1));
    expect_same_execution(capture_, small);
}

TEST_F(Replay, ReductionNeedsALaunchWithMemory) {
    launch_gather(1);
    last().buffers.reset();
    EXPECT_THROW((void)reduced(), InputError);
}

TEST_F(Replay, GeneratedWordsAreNormalNumbers) {
    for (std::uint64_t address = kData; address < kData + 4096; address += 4) {
        const std::uint32_t word = capture::generated_word(address);
        EXPECT_EQ(word & 0xff807c00, 0x3f803c00U);  // one to two as a float, and the lower half as a half
        EXPECT_NE(word, capture::generated_word(address + 4));
    }
}

TEST(Prune, KeepsTheKernelAndDropsTheOthers) {
    const std::string whole = fixture(), small = launch::pruned(whole, "gather");
    EXPECT_LT(small.size(), whole.size() * 3 / 4);
    const sass::Cubin before(std::as_bytes(std::span(whole))), after(std::as_bytes(std::span(small)));
    EXPECT_THAT(after.kernels(), testing::ElementsAre("gather"));
    const auto a = before.text("gather").bytes, b = after.text("gather").bytes;
    EXPECT_TRUE(std::ranges::equal(a, b));
    const auto none = [](std::string_view) { return std::uint64_t{0}; };
    EXPECT_EQ(sim::machine_code::prepare(after, "gather", none).parameter_bytes,
              sim::machine_code::prepare(before, "gather", none).parameter_bytes);
    for (const auto& section : after.sections()) EXPECT_LE(section.offset, small.size()) << section.name;
    EXPECT_THROW((void)launch::pruned(whole, "absent"), InputError);
}

TEST(DeviceMemory, AllocatesAtAGivenAddress) {
    sim::DeviceMemory memory(1 << 20);
    memory.allocate_at(kData, 4096);
    EXPECT_NE(memory.resolve(kData + 4095, 1), nullptr);
    EXPECT_EQ(memory.resolve(kData + 4096, 1), nullptr);
    EXPECT_THROW(memory.allocate_at(kData + 4095, 1), DeviceError);
    EXPECT_THROW(memory.allocate_at(kData - 1, 2), DeviceError);
    EXPECT_THROW(memory.allocate_at(kOut, 1 << 20), DeviceError);
    memory.allocate_at(kData + 4096, 16);
    EXPECT_EQ(memory.translate(kData + 4096) % 4096, 0U);
    const auto first = memory.allocate(512);
    sim::DeviceMemory other(1 << 20);
    other.allocate_at(first, 512);  // where an allocation without an address would go
    EXPECT_GE(other.allocate(512), first + 512);
}

}  // namespace
}  // namespace gputomo::answer
