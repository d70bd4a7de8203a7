// Arguments of a launch by their text, and what the kernel's code fills in.
#include "cli/inputs/kernel_arguments.hpp"
#include "program.hpp"
#include "sim/machine_code/tensor_map.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gputomo::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The bytes of one argument, lowest first. Its parameter has `bytes` bytes.
std::vector<int> bytes_of_argument(const std::string& text, std::size_t bytes, const std::string& type = {}) {
    const Signature signature{.parameters = {{"p", bytes, type, 0}}, .text = "k(p)"};
    std::vector<int> values;
    const auto arguments = parse_arguments({text}, signature);
    for (const auto byte : arguments.values.front().bytes) values.push_back(static_cast<int>(byte));
    return values;
}

std::uint16_t word_of_argument(const std::string& text) {
    const auto bytes = bytes_of_argument(text, 2);
    return static_cast<std::uint16_t>(bytes[0] | bytes[1] << 8);
}

TEST(ArgumentText, TakesNarrowNumbers) {
    EXPECT_EQ(bytes_of_argument("u8:255", 1), std::vector{255});
    EXPECT_EQ(bytes_of_argument("s8:-1", 1), std::vector{255});
    EXPECT_EQ(bytes_of_argument("u16:513", 2), (std::vector{1, 2}));
    EXPECT_EQ(bytes_of_argument("s16:-2", 2), (std::vector{254, 255}));
    EXPECT_EQ(bytes_of_argument("bool:true", 1), std::vector{1});
    EXPECT_EQ(bytes_of_argument("bool:0", 1), std::vector{0});
    for (const char* wrong : {"u8:256", "u8:-1", "s8:-129", "bool:2", "bool:yes", "u16:1.5"})
        EXPECT_THROW((void)bytes_of_argument(wrong, std::string(wrong).starts_with("u16") ? 2 : 1), InputError)
            << wrong;
}

TEST(ArgumentText, HalvesAreTheNearestEvenOnes) {
    EXPECT_EQ(word_of_argument("f16:1"), 0x3c00);
    EXPECT_EQ(word_of_argument("f16:-2.5"), 0xc100);
    EXPECT_EQ(word_of_argument("f16:0.1"), 0x2e66);
    EXPECT_EQ(word_of_argument("f16:65504"), 0x7bff) << "the largest";
    EXPECT_EQ(word_of_argument("f16:1.00048828125"), 0x3c00) << "half way to the even one below";
    EXPECT_EQ(word_of_argument("f16:1.00146484375"), 0x3c02) << "half way to the even one above";
    EXPECT_EQ(word_of_argument("f16:5.960464477539063e-08"), 0x0001) << "the smallest";
    EXPECT_EQ(word_of_argument("f16:6.1035e-05"), 0x0400) << "a subnormal number that is rounded to a normal one";
    EXPECT_EQ(word_of_argument("f16:-0"), 0x8000);
    EXPECT_EQ(word_of_argument("f16:inf"), 0x7c00);
    EXPECT_EQ(word_of_argument("bf16:1"), 0x3f80);
    EXPECT_EQ(word_of_argument("bf16:3.14159"), 0x4049);
    EXPECT_EQ(word_of_argument("bf16:-1e-40"), 0x8001) << "subnormal";
    for (const char* wrong : {"f16:65520", "bf16:1e39", "f16:", "f16:one"})
        EXPECT_THROW((void)word_of_argument(wrong), InputError) << wrong;
}

TEST(ArgumentText, StructsAreBytes) {
    EXPECT_EQ(bytes_of_argument("hex:0aFF10", 3), (std::vector{10, 255, 16}));
    for (const char* wrong : {"hex:", "hex:abc", "hex:0g", "hex:0x10"})
        EXPECT_THROW((void)bytes_of_argument(wrong, 2), InputError) << wrong;
    EXPECT_THROW((void)bytes_of_argument("hex:0102", 3), InputError) << "the parameter is larger";
    EXPECT_THROW((void)bytes_of_argument("f16:1", 2, "u16"), InputError) << "a parameter of another kind";
    EXPECT_NO_THROW((void)bytes_of_argument("bf16:1", 2, "b16"));
}

TEST(ArgumentText, MembersOfStructsLieAsACompilerPutsThem) {
    EXPECT_EQ(bytes_of_argument("struct:u8:1,u32:2,u16:3", 12), (std::vector{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
    EXPECT_EQ(bytes_of_argument("struct:f16:1,f16:-2", 4), (std::vector{0x00, 0x3c, 0x00, 0xc0}));
    EXPECT_EQ(bytes_of_argument("struct:u64:1,bool:true", 16).back(), 0) << "the end is padded";
    for (const char* wrong : {"struct:", "struct:u8", "struct:u8:1,", "struct:hex:01", "struct:u8:256", "struct:i8:1"})
        EXPECT_THROW((void)bytes_of_argument(wrong, 1), InputError) << wrong;
    EXPECT_THROW((void)bytes_of_argument("struct:u8:1,u32:2", 5), InputError) << "the parameter is no such struct";
}

TEST(ArgumentText, ATensorMapBringsItsTensor) {
    const Signature signature{.parameters = {{"map", 128, {}, 0}}, .text = "k(map)"};
    const auto arguments = parse_arguments({"tensor:f16:4096x1024:64x128:128"}, signature);
    ASSERT_EQ(arguments.buffers.size(), 1U);
    EXPECT_EQ(arguments.buffers[0].bytes, 4096U * 1024 * 2);
    const auto& argument = arguments.values[0];
    ASSERT_EQ(argument.buffer, 0U);
    const device::Address address = 0x7f0000001000;
    const auto value = launch::value_of(argument, {&address, 1});
    ASSERT_EQ(value.size(), 128U);
    std::string error;
    const auto map =
        sim::machine_code::decode_tensor_map(std::span(value).first<sim::machine_code::kTensorMapBytes>(), error);
    ASSERT_TRUE(map) << error;
    EXPECT_EQ(map->address, address);
    EXPECT_EQ(map->type, sim::machine_code::ElementType::f16);
    EXPECT_EQ(map->swizzle, sim::machine_code::Swizzle::bytes_128);
    EXPECT_EQ(map->dimensions, 2U);
    EXPECT_EQ(map->size[1], 1024U);
    EXPECT_EQ(map->stride[1], 8192U);
    EXPECT_EQ(sim::machine_code::box_bytes(*map), 64U * 128 * 2);
    for (const char* wrong :
         {"tensor:f16:4096x1024", "tensor:f16:4096x1024:64", "tensor:f16:4096x1024:64x512", "tensor:f16:4x4:4x4",
          "tensor:f16:4100x1024:64x128", "tensor:f16:4096x1024:128x64:128", "tensor:f16:4096x1024:64x128:16",
          "tensor:i4:64x64:64x64", "tensor:f16:0x64:64x64", "tensor:u8:16x16x16x16x16x16:16x1x1x1x1x1"})
        EXPECT_THROW((void)parse_arguments({wrong}, signature), InputError) << wrong;
}

TEST(ArgumentText, ParametersThatTheCodeNeverReadsAreFilledIn) {
    Signature signature{.parameters = {{"a", 8, "u64", 0}, {"b", 8, "u64", 8}, {"c", 8, "u64", 16}}, .text = "k"};
    EXPECT_THROW((void)parse_arguments({"u64:1"}, signature), InputError) << "they are read";
    signature.unread_pointers = 2;
    EXPECT_EQ(parse_arguments({"u64:1"}, signature).hidden, 2);
    EXPECT_EQ(parse_arguments({"u64:1"}, signature).values[2].offset, 16);
    EXPECT_EQ(parse_arguments({"u64:1", "u64:2", "u64:3"}, signature).hidden, 0) << "all were given";
    EXPECT_THROW((void)parse_arguments({"u64:1", "u64:2"}, signature), InputError) << "Triton adds two";
}

class TritonArguments : public ProgramTest {
protected:
    [[nodiscard]] Ran scatter(std::vector<std::string> command, std::vector<std::string> more = {}) const {
        for (const std::string one : {"--kernel", "scatter", "--grid", "4", "--arg", "buf:65536", "--arg", "buf:65536",
                                      "--arg", "buf:65536", "--arg", "s32:512"})
            command.push_back(one);
        command.insert(command.end(), more.begin(), more.end());
        return run(command);
    }
};

TEST_F(TritonArguments, ACubinNeedsNeitherBlockNorHiddenPointers) {
    const auto cubin = source("tests/data/cubin/triton_scatter.sm_90a.cubin");
    const auto ran = scatter({"predict", cubin, "--machine", "h200"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("the last 2 parameters of scatter are 0"), HasSubstr("--block is 128,1,1")));
    EXPECT_THAT(ran.out, HasSubstr("block         128 threads"));
    const auto given =
        scatter({"predict", cubin, "--machine", "h200"}, {"--block", "128", "--arg", "u64:0", "--arg", "u64:0"});
    EXPECT_EQ(given.err, "");
    EXPECT_EQ(given.out, ran.out);
    EXPECT_THAT(scatter({"simulate", cubin, "--device", "h200"}, {"--block", "64"}).err,
                HasSubstr("--block 64: the code is for blocks of 128,1,1 alone"));
}

TEST_F(TritonArguments, PtxThatIsExecutedAsItIsNeedsItsBlock) {
    const auto ptx = source("tests/data/ptx/triton_scatter.ptx");
    const auto ran = scatter({"simulate", ptx, "--device", "h200", "--code", "ptx"}, {"--block", "128"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("the last 2 parameters of scatter are 0"));
    EXPECT_THAT(scatter({"simulate", ptx, "--device", "h200", "--code", "ptx"}).err,
                HasSubstr("--block: missing; expected the threads of a block"));
}

}  // namespace
}  // namespace gputomo::cli::testing
