// Arguments of a launch by their text, and what the kernel's code fills in.
#include "cli/inputs/kernel_arguments.hpp"
#include "program.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdint>
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
