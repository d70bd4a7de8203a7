// What the code of a kernel says of it.
#include "launch/kernel_code.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kCubins = GPUTOMO_SOURCE_DIR "/tests/data/cubin/";

std::string refusal_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const InputError& e) {
        return e.what();
    }
    return "nothing was refused";
}

std::vector<std::uint64_t> offsets_of(const KernelCode& code) {
    std::vector<std::uint64_t> offsets;
    for (const auto& parameter : code.parameters) offsets.push_back(parameter.offset);
    return offsets;
}

TEST(KernelCode, CubinAndPtxOfOneKernelAgree) {
    const auto cubin = read_file(kCubins + "stream_copy_x4.sm_90.cubin", "a cubin");
    const auto ptx = read_file(kCubins + "stream_copy_x4.ptx", "PTX");
    EXPECT_THAT(kernels_in(cubin, "a"), ElementsAre("stream_copy_x4"));
    EXPECT_THAT(kernels_in(ptx, "a"), ElementsAre("stream_copy_x4"));
    const auto machine_code = kernel_code(cubin, "stream_copy_x4", "a"), text = kernel_code(ptx, "stream_copy_x4", "a");
    EXPECT_EQ(offsets_of(machine_code), offsets_of(text));
    EXPECT_THAT(offsets_of(text), ElementsAre(0, 8, 16, 24));
    EXPECT_EQ(text.parameters.back().name, "turns");
    EXPECT_EQ(text.parameters.back().type, "u32");
    EXPECT_TRUE(machine_code.machine_code);
    EXPECT_EQ(machine_code.sm, 90);
    EXPECT_EQ(text.sm, 75);
    EXPECT_GT(machine_code.registers, 16) << "it keeps 16 loaded words";
}

TEST(KernelCode, PtxParametersLieAtTheirAlignment) {
    const std::string ptx =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u8 a, .param .f64 b, .param .align 4 .b8 c[12], .param .u16 d)\n"
        ".maxntid 64, 2, 1\n{\n ret;\n}\n";
    const auto code = kernel_code(ptx, "k", "a");
    EXPECT_THAT(offsets_of(code), ElementsAre(0, 8, 16, 28));
    EXPECT_EQ(code.parameters[2].bytes, 12);
    EXPECT_EQ(code.parameters[2].type, "") << "a struct";
    EXPECT_EQ(code.max_threads, 128);
}

TEST(KernelCode, RefusesOtherNamesAndOtherCode) {
    const auto cubin = read_file(kCubins + "stream_copy_x4.sm_90.cubin", "a cubin");
    EXPECT_THAT(refusal_of([&] { (void)kernel_code(cubin, "copy", "my.cubin"); }),
                AllOf(HasSubstr("my.cubin"), HasSubstr("'copy'"), HasSubstr("one of stream_copy_x4")));
    EXPECT_THAT(refusal_of([&] { (void)kernels_in(cubin.substr(0, 100), "my.cubin"); }), HasSubstr("my.cubin"));
    EXPECT_THAT(refusal_of([&] { (void)kernels_in("no code", "my.ptx"); }), HasSubstr("my.ptx"));
}

}  // namespace
}  // namespace gputomo::launch
