#include "cubin_files.hpp"

#include "sass/cubin.hpp"
#include "sass/machine_code.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>

namespace gputomo::sass {
namespace {

using cubin_files::Bytes;
using cubin_files::patch;
using cubin_files::peek;
using cubin_files::read_cubin;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Reads everything of a cubin and returns the text of the error, or an empty string.
std::string trouble(const Bytes& bytes) {
    try {
        const Cubin cubin(bytes);
        for (const auto& kernel : cubin.kernels()) {
            const auto code = kernel_code(cubin, kernel);
            static_cast<void>(code.listing(code.all()));
            static_cast<void>(code.loops());
        }
        return {};
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(CubinTest, NamesItsKernelsAndItsTarget) {
    for (const int sm : {75, 90, 120}) {
        const auto bytes = read_cubin("opcodes.sm_" + std::to_string(sm));
        const Cubin cubin(bytes);
        EXPECT_EQ(cubin.sm(), sm);
        EXPECT_THAT(cubin.kernels(), ElementsAre("opcodes"));
        EXPECT_EQ(cubin.text("opcodes").bytes.size() % 16, 0U);
        EXPECT_EQ(unsupported_reason(cubin), "");
    }
}

TEST(CubinTest, CompilersUpToCuda12KeepTheTargetInTheLowestByte) {
    auto bytes = read_cubin("opcodes.sm_90");
    patch(bytes, cubin_files::kAbi, 1, 51);
    patch(bytes, cubin_files::kAbiVersion, 1, 7);
    patch(bytes, cubin_files::kFlags, 4, 0x005a055a);
    EXPECT_EQ(Cubin(bytes).sm(), 90);
    EXPECT_EQ(trouble(bytes), "");
}

TEST(CubinTest, OlderAndNewerEncodingsAreNotSupported) {
    auto bytes = read_cubin("opcodes.sm_90");
    patch(bytes, cubin_files::kFlags, 4, 61U << 8);
    EXPECT_THAT(trouble(bytes), HasSubstr("not supported: sm_61"));
    patch(bytes, cubin_files::kFlags, 4, 200U << 8);
    EXPECT_THAT(trouble(bytes), HasSubstr("not supported: sm_200"));
    patch(bytes, cubin_files::kAbiVersion, 1, 9);
    EXPECT_EQ(Cubin(bytes).sm(), std::nullopt);
    EXPECT_THAT(trouble(bytes), HasSubstr("not supported: ELF ABI 65, version 9"));
}

TEST(CubinTest, MissingKernelIsNamedWithTheAvailableOnes) {
    const auto bytes = read_cubin("folded.sm_90");
    try {
        static_cast<void>(Cubin(bytes).text("unfolded"));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("unfolded"), HasSubstr("[folded]")));
    }
}

TEST(CubinTest, RefusesOtherFilesWithOffsetAndExpectation) {
    EXPECT_THAT(trouble({}),
                AllOf(HasSubstr("offset 0x0"), HasSubstr("ELF header of 64 bytes"), HasSubstr("end of the file")));
    EXPECT_THAT(trouble(Bytes(64)), AllOf(HasSubstr("offset 0x0"), HasSubstr("7f 45 4c 46"), HasSubstr("00 00 00 00")));
    auto bytes = read_cubin("folded.sm_90");
    patch(bytes, EI_CLASS, 1, ELFCLASS32);
    EXPECT_THAT(trouble(bytes), AllOf(HasSubstr("offset 0x4"), HasSubstr("64-bit")));
    bytes = read_cubin("folded.sm_90");
    patch(bytes, EI_DATA, 1, ELFDATA2MSB);
    EXPECT_THAT(trouble(bytes), AllOf(HasSubstr("offset 0x5"), HasSubstr("little-endian")));
    bytes = read_cubin("folded.sm_90");
    patch(bytes, cubin_files::kMachine, 2, 62);
    EXPECT_THAT(trouble(bytes), AllOf(HasSubstr("offset 0x12"), HasSubstr("machine 190"), HasSubstr("found 62")));
}

TEST(CubinTest, RefusesOffsetsBeyondTheFile) {
    for (const std::uint64_t offset : {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 64}) {
        auto bytes = read_cubin("folded.sm_90");
        patch(bytes, cubin_files::kSectionTable, 8, offset);
        EXPECT_THAT(trouble(bytes), HasSubstr("section table")) << offset;
    }
    auto bytes = read_cubin("folded.sm_90");
    patch(bytes, cubin_files::kNameSection, 2, 60000);
    EXPECT_THAT(trouble(bytes), AllOf(HasSubstr("offset 0x3e"), HasSubstr("found 60000")));
    bytes = read_cubin("folded.sm_90");
    patch(bytes, cubin_files::kSectionCount, 2, 60000);
    EXPECT_THAT(trouble(bytes), HasSubstr("section table of 3840000 bytes"));
}

TEST(CubinTest, RefusesPartialInstructions) {
    auto bytes = read_cubin("folded.sm_90");
    const auto text = Cubin(bytes).text("folded");
    const auto table = peek(bytes, cubin_files::kSectionTable, 8);
    for (std::uint64_t i = 0; i < peek(bytes, cubin_files::kSectionCount, 2); ++i)
        if (const auto header = table + sizeof(Elf64_Shdr) * i;
            peek(bytes, header + offsetof(Elf64_Shdr, sh_offset), 8) == text.offset)
            patch(bytes, header + offsetof(Elf64_Shdr, sh_size), 8, text.bytes.size() - 1);
    EXPECT_THAT(trouble(bytes), AllOf(HasSubstr("instructions of 16 bytes"), HasSubstr("'folded'")));
}

TEST(CubinTest, RefusesEveryPrefixThatLacksSections) {
    const auto whole = read_cubin("folded.sm_90");
    // Behind the section table lie the segments, which Cubin does not read.
    const auto end =
        peek(whole, cubin_files::kSectionTable, 8) + sizeof(Elf64_Shdr) * peek(whole, cubin_files::kSectionCount, 2);
    for (std::size_t size = 0; size < end; ++size) {
        const auto message = trouble(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_THAT(message, HasSubstr("offset")) << size << " bytes";
    }
}

/// What gputomo shows of a cubin; where it refuses it, why.
std::string shown(const Bytes& bytes) {
    if (const auto refused = trouble(bytes); !refused.empty()) return refused;
    const Cubin cubin(bytes);
    std::string text;
    for (const auto& kernel : cubin.kernels())
        text += kernel + kernel_code(cubin, kernel).listing(kernel_code(cubin, kernel).all());
    return text;
}

TEST(CubinTest, ReadsOrRefusesDamagedFiles) {
    const auto whole = read_cubin("opcodes.sm_75");
    std::mt19937_64 random(1);
    int refused = 0, read = 0;
    for (int i = 0; i < 2000; ++i) {
        auto bytes = whole;
        for (int changes = 0; changes < 4; ++changes) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        const auto message = trouble(bytes);
        message.empty() ? ++read : ++refused;
        EXPECT_THAT(message, ::testing::AnyOf("", ::testing::StartsWith("cubin: ")));
    }
    EXPECT_GT(refused, 100);
    EXPECT_GT(read, 100);
}

TEST(CubinTest, DamagedCodeIsShownAsItIs) {
    const auto whole = read_cubin("opcodes.sm_75");
    const auto text = Cubin(whole).text("opcodes");
    const auto listing = shown(whole);
    for (std::size_t at = 0; at < text.bytes.size(); at += 16) {
        auto bytes = whole;
        patch(bytes, text.offset + at, 2, peek(bytes, text.offset + at, 2) ^ 0x1ff);  // another opcode
        EXPECT_NE(shown(bytes), listing) << at;
        EXPECT_EQ(trouble(bytes), "") << at;
    }
}

}  // namespace
}  // namespace gputomo::sass
