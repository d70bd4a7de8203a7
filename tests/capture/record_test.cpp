// Records programs that use a fake driver, from start to end.
#include "fatbins.hpp"

#include "capture/decompress.hpp"
#include "capture/folder.hpp"
#include "capture/record.hpp"
#include "sass/cubin.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace gputomo::capture {
namespace {

using namespace testing;
namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kFloats = 100'000;  // as in program/program.cpp

class Recording : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::path(::testing::TempDir()) /
                  (std::string("gputomo_capture_") + test->name() + std::to_string(getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        setenv("LD_LIBRARY_PATH", GPUTOMO_FAKE_DRIVER_FOLDER, 1);
        cubin_ = fixture("opcodes.sm_90.cubin");
        kernel_ = sass::Cubin(std::as_bytes(std::span(cubin_))).kernels().front();
        options_.out = folder_ / "capture";
        options_.writer.version = "test";
        write("module", fatbin(member(2, 75, fixture("opcodes.sm_75.cubin")) +
                               member(2, 90, cubin_, FatbinMember::Compression::zstd)));
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& content) const {
        std::ofstream(folder_ / name, std::ios::binary) << content;
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

    /// The command of the program with its output in a file.
    [[nodiscard]] std::vector<std::string> command(const std::string& way, const std::string& action) const {
        const std::string program = way == "linked" ? GPUTOMO_RECORDED_PROGRAM_LINKED : GPUTOMO_RECORDED_PROGRAM;
        return {"/bin/sh", "-c",
                "exec '" + program + "' " + way + " '" + path("module") + "' " + kernel_ + " " + action + " > '" +
                    path("output") + "'"};
    }
    [[nodiscard]] std::string output() const { return read_file(folder_ / "output", "output"); }

    /// Records the program, reads the capture back, and checks that the program printed what it prints on its own.
    Capture record_program(const std::string& way, const std::string& action, int exit_code = 0) {
        std::string alone;
        for (const auto& word : command(way, action)) alone += " '" + quoted(word) + "'";
        EXPECT_EQ(std::system(alone.c_str()) == 0, exit_code == 0);
        const std::string expected = output();
        options_.command = command(way, action);
        made_ = record(options_);
        EXPECT_EQ(made_.capture.header.exit_code, exit_code);
        EXPECT_EQ(output(), expected);
        EXPECT_THAT(expected, HasSubstr("next 1\n"));
        return made_.capture.folder.empty() ? made_.capture : load(made_.capture.folder);
    }

    static std::string quoted(std::string text) {
        for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
        return text;
    }

    static std::vector<float> floats(const Capture& capture, const Buffer& buffer) {
        const std::string bytes = MemoryReader(capture).read(buffer);
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }

    /// The files below a folder with their contents.
    static std::map<std::string, std::string> contents_of(const fs::path& folder) {
        std::map<std::string, std::string> found;
        for (const auto& file : fs::recursive_directory_iterator(folder))
            if (file.is_regular_file())
                found[file.path().lexically_relative(folder).string()] = read_file(file.path(), "a file");
        return found;
    }

    void expect_plain(const Capture& capture) {
        ASSERT_THAT(capture.kernels, SizeIs(1));
        EXPECT_EQ(capture.kernels[0].name, kernel_);
        ASSERT_TRUE(capture.kernels[0].module) << capture.kernels[0].missing;
        EXPECT_EQ(read_module(capture, capture.modules[0]), cubin_);
        ASSERT_THAT(capture.launches, SizeIs(2)) << "the launch that the driver refused is not recorded";
        const auto& first = capture.launches[0];
        EXPECT_THAT(first.kernel->grid, ElementsAre(391, 1, 1));
        EXPECT_THAT(first.kernel->block, ElementsAre(256, 1, 1));
        EXPECT_EQ(first.kernel->shared_bytes, 64U);
        EXPECT_EQ(first.us, 250.0);
        ASSERT_THAT(*first.kernel->parameters, SizeIs(3));
        EXPECT_EQ((*first.kernel->parameters)[1].offset, 8U);
        EXPECT_EQ((*first.kernel->parameters)[1].bytes, std::string("\x00\x00\x00\x40", 4));
        ASSERT_TRUE(first.buffers);
        ASSERT_THAT(*first.buffers, SizeIs(1));
        const auto values = floats(capture, first.buffers->front());
        ASSERT_THAT(values, SizeIs(kFloats));
        EXPECT_EQ(values[12345], 12345.0F) << "as it was before the launch";
        EXPECT_FALSE(capture.launches[1].buffers) << "a second launch of the same shape";
        EXPECT_EQ(capture.gpus.front().name, "Fake \"GPU\"");
        EXPECT_EQ(capture.gpus.front().sm, 90);
    }

    fs::path folder_;
    std::string cubin_, kernel_;
    Options options_;
    capture::Recorded made_;  ///< by the last record_program()
};

TEST_F(Recording, OfAProgramThatIsLinkedWithTheDriver) { expect_plain(record_program("linked", "library")); }
TEST_F(Recording, OfAProgramThatFindsTheDriverByDlsym) { expect_plain(record_program("dlsym", "library")); }
TEST_F(Recording, OfAProgramThatAsksCuGetProcAddress) { expect_plain(record_program("proc", "library")); }
TEST_F(Recording, MarksTimesThatContainWaitingForTheHost) {
    const auto idle = record_program("proc", "library");
    for (const auto& launch : idle.launches) {
        ASSERT_TRUE(launch.host_wait_us) << "an idle GPU waits until the host has handed the launch over";
        EXPECT_GT(*launch.host_wait_us, 0);
        EXPECT_LT(*launch.host_wait_us, 1e6);
    }
    setenv("FAKE_BUSY_GPU", "1", 1);
    const auto busy = record_program("proc", "library");
    unsetenv("FAKE_BUSY_GPU");
    for (const auto& launch : busy.launches) {
        EXPECT_EQ(launch.us, 250.0);
        EXPECT_FALSE(launch.host_wait_us) << "the GPU had earlier work when the launch reached it";
    }
}

TEST_F(Recording, SaysWhatTheLimitOfMemoryLeftOut) {
    const auto whole = record_program("proc", "library");
    ASSERT_TRUE(whole.header.memory_limit);
    EXPECT_EQ(whole.header.memory_limit->bytes, kDefaultMemory);
    EXPECT_EQ(whole.header.memory_limit->launches, 0U);
    options_.memory = 1000;
    const auto limited = record_program("proc", "library");
    EXPECT_EQ(limited.header.memory_limit->launches, 1U) << "memory of the second launch was not asked for";
    EXPECT_EQ(limited.header.memory_limit->first, 0U);
    EXPECT_EQ(limited.header.memory_limit->bytes_left_out, kFloats * sizeof(float));
    options_.memory = 0;
    EXPECT_FALSE(record_program("proc", "library").header.memory_limit) << "none was to be stored";
}

TEST_F(Recording, OfModules) { expect_plain(record_program("proc", "module")); }

TEST_F(Recording, OfACubinThatIsNotInAFatbin) {
    write("module", cubin_);
    expect_plain(record_program("proc", "module"));
}

TEST_F(Recording, OfMachineCodeCompressedWithLz4) {
    write("module", fatbin(member(2, 90, cubin_, FatbinMember::Compression::lz4)));
    expect_plain(record_program("proc", "library"));
}

TEST_F(Recording, StoresPtxWhereThereIsNoMachineCode) {
    const std::string ptx = ".version 9.0\n.visible .entry " + kernel_ + "()";
    write("module", fatbin(member(1, 75, ptx + std::string(1, '\0'), FatbinMember::Compression::zstd)));
    const auto capture = record_program("proc", "library");
    ASSERT_THAT(capture.modules, SizeIs(1));
    EXPECT_EQ(capture.modules[0].format, "ptx");
    EXPECT_EQ(read_module(capture, capture.modules[0]), ptx);
}

TEST_F(Recording, SaysWhyAKernelHasNoCode) {
    write("module", fatbin(member(2, 75, fixture("opcodes.sm_75.cubin"))));
    const auto capture = record_program("proc", "library");
    EXPECT_THAT(capture.kernels[0].missing, HasSubstr("no code for sm_90"));
}

TEST_F(Recording, FollowsPointersInMemoryAndClusters) {
    const auto capture = record_program("proc", "pointers");
    ASSERT_THAT(capture.launches, SizeIs(1));
    ASSERT_TRUE(capture.launches[0].kernel->cluster);
    EXPECT_THAT(*capture.launches[0].kernel->cluster, ElementsAre(2, 1, 1));
    ASSERT_THAT(*capture.launches[0].buffers, SizeIs(2)) << "the table, and what its second entry points to";
    EXPECT_EQ(floats(capture, (*capture.launches[0].buffers)[1])[99'999], 99'999.0F);
}

TEST_F(Recording, OfGraphsWithoutSynchronisingTheCapture) {
    const auto capture = record_program("proc", "graph");
    ASSERT_THAT(capture.kernels, SizeIs(1));
    EXPECT_TRUE(capture.kernels[0].module) << "graphs name kernels of libraries by other handles";
    ASSERT_THAT(capture.graphs, SizeIs(1));
    ASSERT_THAT(capture.graphs[0].nodes, SizeIs(2));
    EXPECT_THAT(capture.graphs[0].nodes[1].after, ElementsAre(0));
    EXPECT_EQ((*capture.graphs[0].nodes[1].shape.parameters)[1].bytes, std::string("\x00\x00\xa0\x40", 4));
    ASSERT_THAT(capture.launches, SizeIs(2));
    EXPECT_EQ(capture.launches[0].graph, 0);
    EXPECT_TRUE(capture.launches[0].buffers);
    EXPECT_FALSE(capture.launches[1].buffers);
}

TEST_F(Recording, OfTextureObjectsWithTheirMemory) {
    const auto capture = record_program("proc", "textures");
    ASSERT_THAT(capture.launches, SizeIs(1));
    const auto& launch = capture.launches[0];
    ASSERT_THAT(launch.textures, SizeIs(3)) << "one was destroyed before the launch";
    const Texture &array = launch.textures[0], &rows = launch.textures[1], &linear = launch.textures[2];
    EXPECT_EQ(array.memory, TextureMemory::array);
    EXPECT_EQ(array.handle, 0x100001U);
    EXPECT_THAT((std::array{array.width, array.height, array.depth, array.pitch}), ElementsAre(6, 4, 2, 24));
    EXPECT_TRUE(array.layered && array.linear_filter && array.normalized && !array.as_integer);
    EXPECT_THAT(array.outside, ElementsAre(TextureOutside::border, TextureOutside::clamp, TextureOutside::wrap));
    EXPECT_THAT(array.border, ElementsAre(0, 0x3f800000, 0, 0));
    EXPECT_EQ(rows.memory, TextureMemory::rows);
    EXPECT_THAT((std::array{rows.width, rows.height, rows.depth, rows.pitch}), ElementsAre(50, 20, 0, 256));
    EXPECT_EQ(rows.channels, 4U);
    EXPECT_TRUE(rows.as_integer);
    EXPECT_EQ(linear.memory, TextureMemory::linear);
    EXPECT_EQ(linear.width, 512U);
    ASSERT_THAT(*launch.buffers, SizeIs(3)) << "the parameter's, that of the rows, and the array";
    const Buffer& last = launch.buffers->back();
    EXPECT_EQ(last.space, "array");
    EXPECT_EQ(last.address, array.address);
    const std::string texels = MemoryReader(capture).read(last);
    ASSERT_THAT(texels, SizeIs(6 * 4 * 2 * 4));
    for (std::size_t i = 0; i < texels.size(); ++i) EXPECT_EQ(static_cast<unsigned char>(texels[i]), i);
}

TEST_F(Recording, OfThreads) {
    const auto capture = record_program("proc", "threads");
    EXPECT_THAT(capture.launches, SizeIs(200));
    std::set<int> streams;
    for (const auto& launch : capture.launches) streams.insert(launch.stream);
    EXPECT_THAT(streams, SizeIs(4));
}

TEST_F(Recording, KnowsWhichLaunchOfAnotherStreamIsWaitedFor) {
    const auto capture = record_program("proc", "streams");
    ASSERT_THAT(capture.launches, SizeIs(2));
    EXPECT_THAT(capture.launches[1].after, ElementsAre(0));
}

TEST_F(Recording, OfAProcessAndItsChild) {
    const auto capture = record_program("proc", "fork");
    EXPECT_THAT(capture.processes, SizeIs(2));
    EXPECT_THAT(capture.launches, SizeIs(4));
    EXPECT_THAT(capture.kernels, SizeIs(1));
    EXPECT_THAT(capture.modules, SizeIs(1));
}

TEST_F(Recording, OfAProgramThatIsKilled) {
    const auto capture = record_program("proc", "killed", 128 + SIGKILL);
    EXPECT_EQ(capture.header.exit_code, 128 + SIGKILL);
    EXPECT_THAT(capture.launches, SizeIs(2));
}

TEST_F(Recording, PassesTheExitCodeOn) {
    const auto capture = record_program("proc", "fails", 7);
    EXPECT_THAT(capture.launches, SizeIs(0));
    EXPECT_FALSE(fs::exists(options_.out)) << "an empty capture is of no use";
}

TEST_F(Recording, WithoutALaunchLeavesAnOlderCaptureAsItIs) {
    record_program("proc", "library");
    EXPECT_FALSE(made_.keeps_older);
    const auto before = contents_of(options_.out);
    ASSERT_GE(before.size(), 3U) << "index, module and memory";
    for (const auto& [action, code] : {std::pair("fails", 7), {"nothing", 0}}) {
        record_program("proc", action, code);
        EXPECT_TRUE(made_.keeps_older);
        EXPECT_EQ(contents_of(options_.out), before) << action;
    }
}

TEST_F(Recording, OfAnInterruptedProgramIsKeptBesideAnOlderCapture) {
    record_program("proc", "library");
    const auto before = contents_of(options_.out);
    options_.writer.date = "2026-11-23T10:44:49Z";
    const auto first = record_program("proc", "killed", 128 + SIGKILL);
    EXPECT_TRUE(made_.interrupted && made_.keeps_older && !made_.interrupted_here);
    EXPECT_EQ(first.folder, options_.out / "partial");
    EXPECT_THAT(first.launches, SizeIs(2));
    record_program("proc", "killed", 128 + SIGKILL);
    EXPECT_THAT(load(options_.out / "partial-20261123T104449Z").launches, SizeIs(2)) << "set aside";
    auto after = contents_of(options_.out);
    std::erase_if(after, [](const auto& file) { return file.first.starts_with("partial"); });
    EXPECT_EQ(after, before);
}

TEST_F(Recording, ReplacesAnOlderCaptureWhole) {
    record_program("proc", "pointers");
    EXPECT_THAT(load(options_.out).launches, SizeIs(1));
    record_program("proc", "library");
    std::set<std::string> named{kIndexFile};
    const auto capture = load(options_.out);
    for (const auto& module : capture.modules) named.insert(module.file);
    for (const auto& file : capture.memory) named.insert(file.file);
    std::set<std::string> found;
    for (const auto& [file, content] : contents_of(options_.out)) found.insert(file);
    EXPECT_EQ(found, named);
}

/// A folder as a power failure leaves it while one capture replaces another: new files, and the old index.
TEST_F(Recording, AnOlderCaptureIsWholeUntilTheNewIndexIsThere) {
    record_program("proc", "pointers");
    const auto before = contents_of(options_.out);
    options_.out = folder_ / "other";
    record_program("proc", "library");
    fs::remove(options_.out / kIndexFile);
    EXPECT_THROW(replace_capture(options_.out, folder_ / "capture"), Error) << "there is no index";
    for (const auto& [file, content] : before) EXPECT_EQ(contents_of(folder_ / "capture")[file], content) << file;
}

TEST_F(Recording, StoresMemoryOfTheChosenLaunchesOnly) {
    options_.launches = selection("1:1");
    const auto capture = record_program("proc", "library");
    EXPECT_FALSE(capture.launches[0].buffers);
    ASSERT_TRUE(capture.launches[1].buffers);
    EXPECT_EQ(floats(capture, capture.launches[1].buffers->front())[5], 10.0F) << "after the first launch";
}

TEST_F(Recording, StoresMemoryAfterLaunchesToo) {
    options_.results = true;
    const auto capture = record_program("proc", "library");
    EXPECT_EQ(floats(capture, capture.launches[0].buffers->front())[12345], 12345.0F);
    ASSERT_TRUE(capture.launches[0].results);
    EXPECT_EQ(floats(capture, capture.launches[0].results->front())[12345], 24690.0F);
    EXPECT_FALSE(capture.launches[1].results);
    EXPECT_TRUE(record_program("proc", "graph").launches[0].results);
}

TEST_F(Recording, StoresNoMoreMemoryThanAllowed) {
    options_.memory = 1000;
    const auto capture = record_program("proc", "library");
    ASSERT_THAT(*capture.launches[0].buffers, SizeIs(1));
    EXPECT_EQ(capture.launches[0].buffers->front().omitted, "memory limit");
    EXPECT_THROW((void)MemoryReader(capture).read(capture.launches[0].buffers->front()), InputError);
    options_.memory = 0;
    EXPECT_FALSE(record_program("proc", "library").launches[0].buffers);
}

TEST_F(Recording, LeavesOutKernelsThatWereNotAskedFor) {
    options_.kernels = "^no_such_kernel$";
    EXPECT_THAT(record_program("proc", "library").launches, SizeIs(0));
    options_.kernels = "^" + kernel_.substr(0, 3);
    EXPECT_THAT(record_program("proc", "library").launches, SizeIs(2));
}

TEST_F(Recording, RefusesFoldersWithOtherThings) {
    fs::create_directories(options_.out);
    write("capture/precious", "data");
    options_.command = {"true"};
    EXPECT_THAT(error_of([&] { (void)record(options_); }), HasSubstr("something that is not a capture"));
    EXPECT_TRUE(fs::exists(options_.out / "precious"));
    fs::remove(options_.out / "precious");
    fs::create_directory(options_.out / ".new-killed");
    EXPECT_THAT(record_program("proc", "library").launches, SizeIs(2)) << "after a command that was killed";
    write("capture/capture.json", R"({"of": "another program"})");
    EXPECT_THAT(error_of([&] { (void)record(options_); }), HasSubstr("something that is not a capture"));
}

TEST_F(Recording, ReportsWhatCannotBeDone) {
    options_.command = {path("no_such_program")};
    EXPECT_THAT(error_of([&] { (void)record(options_); }), HasSubstr("No such file or directory"));
    options_.kernels = "(";
    EXPECT_THAT(error_of([&] { (void)record(options_); }), HasSubstr("expected a POSIX extended regular expression"));
    for (const char* wrong : {"", "x", "1:", "1:0", "1:2:3", "-1"})
        EXPECT_THAT(error_of([&] { (void)selection(wrong); }), HasSubstr("expected FIRST or FIRST:COUNT")) << wrong;
}

TEST_F(Recording, IsCheckedWhenItIsRead) {
    const auto capture = record_program("proc", "library");
    EXPECT_THAT(error_of([&] { (void)load(folder_); }), HasSubstr("found no capture.json"));
    const auto memory = options_.out / capture.memory.front().file;
    const std::string stored = read_file(memory, "memory");
    std::ofstream(memory, std::ios::binary) << stored.substr(0, stored.size() / 2);
    EXPECT_THAT(error_of([&] { (void)MemoryReader(capture).read(capture.launches[0].buffers->front()); }),
                HasSubstr("damaged data"));
    fs::remove(memory);
    EXPECT_THAT(error_of([&] { (void)load(options_.out); }), HasSubstr(capture.memory.front().file + ": missing"));
    std::ofstream(options_.out / capture.modules[0].file, std::ios::app) << "x";
    EXPECT_THAT(error_of([&] { (void)read_module(capture, capture.modules[0]); }), HasSubstr("SHA-256"));
}

}  // namespace
}  // namespace gputomo::capture
