#include "capture/capture.hpp"
#include "capture/journal_reader.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::capture {
namespace {

using ::testing::HasSubstr;

Capture example() {
    Capture capture;
    capture.header = {{"1", "abc", "2026-01-01T00:00:00Z"}, {"program", "with \"quotes\""}};
    capture.header.memory_limit = MemoryLimit{.bytes = 100, .launches = 1, .first = 0, .bytes_left_out = 8};
    capture.gpus = {{"GPU", "GPU-1", 90, 132, 1980000, 3201000, 1 << 30, 13000}};
    capture.processes = {{7, {"program"}}};
    capture.modules = {{"00ff", "modules/00ff.cubin", "cubin", 12}};
    capture.kernels = {{"_Z1fv", "f()", 0, ""}, {"g", "g", {}, "no code"}};
    capture.memory = {{"memory/aa.bin", 100}};
    Shape shape{0, {1, 2, 3}, {32, 1, 1}, {{2, 1, 1}}, 64, true, {{{0, std::string("\0\xff", 2)}}}};
    capture.graphs = {{{{shape, {}}, {shape, {0}}}, {{1, 2}}}};
    Launch launch;
    launch.gpu = 0;
    launch.kernel = shape;
    launch.us = 1.5;
    launch.host_wait_us = 0.5;
    launch.buffers = {{"device", "", 0x7f0000000000, 120, {{0, 20, 0, "", 0}, {20, 100, {}, "memory/aa.bin", 0}}, ""},
                      {"variable", "v", 16, 4, {}, "memory limit"}};
    launch.results = {launch.buffers->back()};
    Texture texture{.handle = 0x100003, .memory = TextureMemory::rows, .address = 0x7f0000000000};
    texture.format = 0x20, texture.channels = 1;
    texture.width = 4, texture.height = 2, texture.pitch = 32;
    texture.outside = {TextureOutside::clamp, TextureOutside::border, TextureOutside::wrap};
    texture.border = {0, 0x3f800000, 0, 0};
    launch.textures = {texture};
    capture.launches.push_back(launch);
    Launch graph;
    graph.graph = 0;
    graph.after = {0};
    capture.launches.push_back(graph);
    return capture;
}

std::string error_of(const std::string& json) {
    try {
        (void)from_json(json, "x.json");
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

/// The example with one text in place of another.
std::string with(const std::string& from, const std::string& to) {
    std::string json = to_json(example());
    const auto at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? json : json.replace(at, from.size(), to);
}

TEST(CaptureIndex, ReadsBackWhatWasWritten) {
    const std::string json = to_json(example());
    EXPECT_EQ(to_json(from_json(json, "x.json")), json);
}

TEST(CaptureIndex, CountsWhatTheLimitLeftOut) {
    auto capture = example();
    MemoryLimit limit{.bytes = 100};
    count_left_out(capture, limit);
    EXPECT_EQ(limit.launches, 1U);
    EXPECT_EQ(limit.first, 0U);
    EXPECT_EQ(limit.bytes_left_out, 8U) << "4 bytes before the launch and 4 after it";
    capture.header.memory_limit.reset();
    EXPECT_FALSE(from_json(to_json(capture), "x.json").header.memory_limit) << "as in older captures";
}

TEST(CaptureIndex, NamesTheFieldThatIsWrong) {
    EXPECT_THAT(error_of("{"), HasSubstr("x.json: line 1, column 2: not JSON"));
    EXPECT_THAT(error_of(with("1073741824", "10737e1824")), HasSubstr("x.json: not JSON")) << "too large a number";
    EXPECT_THAT(error_of(with("gputomo-capture-1", "other")), HasSubstr("x.json.schema"));
    EXPECT_THAT(error_of(with("\"process\":0", "\"process\":1")), HasSubstr("expected a number below 1"));
    EXPECT_THAT(error_of(with("modules/00ff.cubin", "../etc/passwd")), HasSubstr("expected a file in modules/"));
    EXPECT_THAT(error_of(with("\"file\":\"memory/aa.bin\",\"at\"", "\"file\":\"memory/bb.bin\",\"at\"")),
                HasSubstr("a file that the list \"memory\" names"));
    EXPECT_THAT(error_of(with("\"bytes\":100,\"file\"", "\"bytes\":101,\"file\"")), HasSubstr("a part of the 100"));
    EXPECT_THAT(error_of(with("\"offset\":20", "\"offset\":21")), HasSubstr("expected 20, the end of the part before"));
    EXPECT_THAT(error_of(with("\"bytes\":120", "\"bytes\":130")), HasSubstr("parts of 130 bytes together"));
    EXPECT_THAT(error_of(with("00ff\"}", "00f\"}")), HasSubstr("pairs of hexadecimal digits"));
    EXPECT_THAT(error_of(with("0x7f0000000000", "7f0000000000")), HasSubstr("a hexadecimal number in quotes"));
    EXPECT_THAT(error_of(with("\"after\":[0]", "\"after\":[1]")), HasSubstr("expected a number below"));
    EXPECT_THAT(error_of(with("\"rows\"", "\"planes\"")), HasSubstr("one of linear, rows, array"));
    EXPECT_THAT(error_of(with("\"border\",\"wrap\"]", "\"border\"]")), HasSubstr("one for each of three dimensions"));
    EXPECT_THAT(error_of(with("[0,1065353216,0,0]", "[0,1065353216]")), HasSubstr("the bits of four floats"));
    EXPECT_THAT(error_of(with("[1,2,3]", "[1,2]")), HasSubstr("a list of three numbers"));
    EXPECT_THAT(error_of(with(",\"missing\":\"no code\"", "")), HasSubstr("either \"module\" or \"missing\""));
}

constexpr const char* kStart =
    R"({"process":{"pid":1,"command":["p"],"data":"data-1","host_us":1.0}}
{"kernel":{"id":0,"name":"k","sm":90,"image":"image-1"}}
)";
constexpr const char* kLaunch =
    R"({"launch":{"kernel":0,"grid":[1,1,1],"block":[32,1,1],"shared":0,"parameters":[],"id":%,"gpu":-1,"stream":0,)"
    R"("thread":0,"host_us":2.0,"after":[1]}})"
    "\n";

std::string launch_line(int id) {
    std::string line = kLaunch;
    return line.replace(line.find('%'), 1, std::to_string(id));
}

TEST(CaptureJournal, LaunchesAreInOrderWhateverTheOrderOfLines) {
    const auto journal = read_journal(std::string(kStart) + launch_line(3) + launch_line(1) +
                                          "{\"time\":{\"launch\":3,\"start_us\":5.0,\"us\":7.0}}\n",
                                      "journal");
    ASSERT_EQ(journal.launches.size(), 2U);
    EXPECT_FALSE(journal.launches[0].us);
    EXPECT_EQ(journal.launches[1].us, 7.0);
    ASSERT_EQ(journal.launches[1].after.size(), 1U);
    EXPECT_EQ(journal.launches[1].after[0], 0U) << "launch 1 is the first of the process";
    EXPECT_TRUE(journal.launches[0].after.empty()) << "no launch waits for itself";
}

TEST(CaptureJournal, ALineThatIsCutOffIsIgnored) {
    const std::string cut = launch_line(1).substr(0, 40);
    EXPECT_EQ(read_journal(kStart + launch_line(0) + cut, "journal").launches.size(), 1U);
    EXPECT_THROW((void)read_journal(kStart + cut + "\n" + launch_line(0), "journal"), InputError);
}

TEST(CaptureJournal, NamesTheLineThatIsWrong) {
    const auto error = [](const std::string& text) -> std::string {
        try {
            (void)read_journal(text, "journal");
        } catch (const InputError& e) {
            return e.what();
        }
        return "no error";
    };
    EXPECT_THAT(error(std::string(kStart) + "{}\n"), HasSubstr("journal, line 3"));
    EXPECT_THAT(error(kStart + launch_line(1) + launch_line(1)), HasSubstr("a number that no other launch has"));
    EXPECT_THAT(error("{\"process\":{\"pid\":1,\"command\":[],\"data\":\"../x\",\"host_us\":1}}\n"),
                HasSubstr("a file beside the journal"));
    EXPECT_THAT(error(launch_line(0)), HasSubstr("the number of a kernel of an earlier line"));
}

}  // namespace
}  // namespace gputomo::capture
