// Cubins that gputomo writes, read back by its own reader and by the structures of <elf.h>.
#include "sass/cubin_writer.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "units/error.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace gputomo::sass {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Word kNop{0x0000000000007918, 0x000fc00000000000};
constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};

std::vector<CubinKernel> two_kernels() {
    return {{.name = "first",
             .code = {kNop, kExit},
             .registers = 10,
             .parameter_bytes = {8, 4, 8},
             .barriers = 1,
             .shared_bytes = 256,
             .local_bytes = 16},
            {.name = "second", .code = {kExit}, .registers = 4}};
}

Elf64_Shdr section(std::span<const std::byte> file, std::string_view wanted) {
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof(header));
    const auto at = [&](std::size_t index) {
        Elf64_Shdr found;
        std::memcpy(&found, file.data() + header.e_shoff + index * sizeof(found), sizeof(found));
        return found;
    };
    const auto* const names = reinterpret_cast<const char*>(file.data() + at(header.e_shstrndx).sh_offset);
    for (std::size_t i = 0; i < header.e_shnum; ++i)
        if (names + at(i).sh_name == wanted) return at(i);
    ADD_FAILURE() << "no section " << wanted;
    return {};
}

std::uint32_t word_in(std::span<const std::byte> file, const Elf64_Shdr& section, std::size_t offset) {
    std::uint32_t word = 0;
    std::memcpy(&word, file.data() + section.sh_offset + offset, sizeof(word));
    return word;
}

TEST(CubinWriter, HoldsTheKernelsCode) {
    const auto file = write_cubin(two_kernels(), 90);
    const sass::Cubin cubin(file);
    EXPECT_EQ(cubin.sm(), 90);
    EXPECT_THAT(cubin.kernels(), ElementsAre("first", "second"));
    const auto code = decode(cubin.text("first").bytes, 90);
    ASSERT_EQ(code.size(), 2U);
    EXPECT_EQ(text_of(code[0], 0), "NOP");
    EXPECT_EQ(encode(code[1]), kExit);
}

TEST(CubinWriter, LaysOutParametersSharedMemoryAndSymbols) {
    const auto file = write_cubin(two_kernels(), 90);
    EXPECT_EQ(section(file, ".nv.constant0.first").sh_size, 0x210U + 24);
    EXPECT_EQ(section(file, ".nv.constant0.second").sh_size, 0x210U);
    EXPECT_EQ(section(file, ".nv.shared.first").sh_size, 256U);
    const auto symbols = section(file, ".symtab");
    Elf64_Sym function;
    std::memcpy(&function, file.data() + symbols.sh_offset + section(file, ".text.first").sh_info * sizeof(function),
                sizeof(function));
    EXPECT_EQ(function.st_size, 32U);
    EXPECT_EQ(ELF64_ST_TYPE(function.st_info), STT_FUNC);
    EXPECT_EQ(section(file, ".text.first").sh_offset % 128, 0U);
}

TEST(CubinWriter, TellsTheDriverRegistersAndParameters) {
    const auto file = write_cubin(two_kernels(), 90);
    const auto shared = section(file, ".nv.info");
    EXPECT_EQ(word_in(file, shared, 0), 0x00082f04U);  // EIATTR_REGCOUNT, 8 bytes
    EXPECT_EQ(word_in(file, shared, 8), 10U);
    EXPECT_EQ(word_in(file, shared, 20), 16U);  // the stack of a thread
    const auto info = section(file, ".nv.info.first");
    EXPECT_EQ(word_in(file, info, 8), 0x000c1704U);  // EIATTR_KPARAM_INFO of the last parameter
    EXPECT_EQ(word_in(file, info, 16), 0x00100002U);
    EXPECT_EQ(word_in(file, info, 20), 0x0021f000U);
    EXPECT_EQ(word_in(file, info, 36), 0x0011f000U);  // four bytes at 8
}

TEST(CubinWriter, RefusesWhatTheDriverCouldNotLoad) {
    const auto refuses = [](void (*change)(CubinKernel&), const std::string& why) {
        auto kernels = two_kernels();
        change(kernels[0]);
        EXPECT_THAT([&] { static_cast<void>(write_cubin(kernels, 90)); }, ThrowsMessage<InputError>(HasSubstr(why)));
    };
    refuses([](CubinKernel& kernel) { kernel.registers = 256; }, "'first' has 256 registers; expected 1 to 255");
    refuses([](CubinKernel& kernel) { kernel.barriers = 17; }, "17 barriers");
    refuses([](CubinKernel& kernel) { kernel.parameter_bytes = {3}; }, "a parameter of 3 bytes");
    refuses([](CubinKernel& kernel) { kernel.parameter_bytes.assign(1000, 8); }, "8000 bytes of parameters");
    refuses([](CubinKernel& kernel) { kernel.code.clear(); }, "no instructions");
    refuses([](CubinKernel& kernel) { kernel.name.clear(); }, "no name");
    refuses([](CubinKernel& kernel) { kernel.code[0] = {}; }, "opcode 0x000");
    EXPECT_THAT([] { static_cast<void>(write_cubin(two_kernels(), 80)); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("sm_80"), HasSubstr("expected sm_90"))));
    EXPECT_THAT([] { static_cast<void>(write_cubin({}, 90)); }, ThrowsMessage<InputError>(HasSubstr("no kernels")));
}

}  // namespace
}  // namespace gputomo::sass
