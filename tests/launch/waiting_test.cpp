// Which kernels may wait for memory that others write.
#include "launch/waiting.hpp"

#include "units/file.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace gputomo::launch {
namespace {

bool waits(const std::string& code, const std::string& kernel = "k") {
    Launch launch;
    launch.code = code;
    launch.kernel = kernel;
    return may_wait_for_memory(launch);
}

std::string ptx(const std::string& instruction) {
    return ".version 8.0\n.target sm_90\n.entry k(.param .u64 a)\n{\n    " + instruction + "\n    ret;\n}\n";
}

TEST(Waiting, NeedsLoadsThatSeeOthersStores) {
    EXPECT_FALSE(waits(ptx("ld.global.u32 %r1, [%rd1];")));
    EXPECT_FALSE(waits(ptx("ld.global.nc.u32 %r1, [%rd1];")));
    EXPECT_FALSE(waits(ptx("red.global.add.u32 [%rd1], %r1;"))) << "a reduction returns nothing";
    EXPECT_FALSE(waits(ptx("st.volatile.global.u32 [%rd1], %r1;")));
    for (const char* text : {"ld.volatile.global.u32 %r1, [%rd1];", "ld.acquire.gpu.global.u32 %r1, [%rd1];",
                             "ld.relaxed.gpu.global.u32 %r1, [%rd1];", "ld.global.cg.u32 %r1, [%rd1];",
                             "atom.global.add.u32 %r1, [%rd1], 1;"})
        EXPECT_TRUE(waits(ptx(text))) << text;
}

TEST(Waiting, IsSeenInMachineCode) {
    const auto dependent = read_file(GPUTOMO_SOURCE_DIR "/tests/launch/fixtures/dependent.cubin", "a cubin");
    for (const char* kernel : {"queue", "last_block", "chain", "patient_chain", "meet", "locked"})
        EXPECT_TRUE(waits(dependent, kernel)) << kernel;
    EXPECT_FALSE(waits(dependent, "flag_of_warp")) << "it waits for shared memory, which each run begins anew";
    const auto profiled = read_file(GPUTOMO_SOURCE_DIR "/tests/launch/fixtures/profiled.cubin", "a cubin");
    for (const char* kernel : {"loop", "strided", "copy", "one_long"}) EXPECT_FALSE(waits(profiled, kernel)) << kernel;
}

TEST(Waiting, IsPossibleWhereTheCodeCannotBeRead) {
    std::string cubin =
        "\x7f"
        "ELF";
    cubin.resize(200);
    EXPECT_TRUE(waits(cubin));
}

}  // namespace
}  // namespace gputomo::launch
