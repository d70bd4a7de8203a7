// Lines of source of machine code that nvcc and Triton compiled, and of tables that are built here.
#include "cubin_files.hpp"

#include "sass/line_table.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>

namespace gputomo::sass {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

std::string raw(std::initializer_list<int> bytes) {
    std::string text;
    for (const int byte : bytes) text += static_cast<char>(byte);
    return text;
}

template <class T>
std::string bytes_of(const T& value) {
    std::string text(sizeof(T), '\0');
    std::memcpy(text.data(), &value, sizeof(T));
    return text;
}

/// A cubin with a kernel "k", its lines, and a relocation that puts the kernel's address at `address_at` of them.
std::string cubin_with(const std::string& lines, std::size_t address_at, const std::string& line_texts = {}) {
    struct Part {
        std::string name, bytes;
    };
    const std::string names = std::string(1, '\0') + "k" + std::string(1, '\0');
    Elf64_Sym symbol{};
    symbol.st_name = 1;
    symbol.st_shndx = 1;
    const Elf64_Rela relocation{.r_offset = address_at, .r_info = ELF64_R_INFO(1, 2), .r_addend = 0};
    std::vector<Part> parts{{"", ""},
                            {".text.k", std::string(64, '\0')},
                            {".debug_line", lines},
                            {".debug_line_str", line_texts},
                            {".symtab", bytes_of(Elf64_Sym{}) + bytes_of(symbol)},
                            {".strtab", names},
                            {".rela.debug_line", bytes_of(relocation)},
                            {".shstrtab", ""}};
    for (auto& part : parts) parts.back().bytes += part.name + std::string(1, '\0');
    std::string body, table;
    std::size_t name = 0;
    for (const Part& part : parts) {
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(name);
        header.sh_type = part.name.empty() ? SHT_NULL : SHT_PROGBITS;
        header.sh_offset = sizeof(Elf64_Ehdr) + body.size();
        header.sh_size = part.bytes.size();
        table += bytes_of(header);
        body += part.bytes;
        name += part.name.size() + 1;
    }
    Elf64_Ehdr elf{};
    std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    elf.e_ident[EI_DATA] = ELFDATA2LSB;
    elf.e_machine = 190;  // NVIDIA GPUs
    elf.e_shoff = sizeof(elf) + body.size();
    elf.e_shentsize = sizeof(Elf64_Shdr);
    elf.e_shnum = static_cast<Elf64_Half>(parts.size());
    elf.e_shstrndx = static_cast<Elf64_Half>(parts.size() - 1);
    return bytes_of(elf) + body + table;
}

/// Version 5: a header with its texts in another section, a checksum of the file, and a program of three rows.
struct Version5 {
    std::string lines, texts = "/home/user" + std::string(1, '\0') + "kernel.cu" + std::string(1, '\0');
    std::size_t address_at = 0;

    Version5() {
        const std::string after_length =
            raw({1, 1, 1, 0xfb, 14, 13}) + raw({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}) + raw({1, 1, 0x1f}) + raw({1}) +
            bytes_of(std::uint32_t{0}) +                      // directories: a path
            raw({3, 1, 0x1f, 2, 0x0b, 5, 0x1e}) + raw({1}) +  // files: path, directory, checksum
            bytes_of(std::uint32_t{11}) + raw({0}) + std::string(16, '\x11');
        const std::string head = bytes_of(std::uint16_t{5}) + raw({8, 0}) +
                                 bytes_of(static_cast<std::uint32_t>(after_length.size())) + after_length;
        const std::string before = head + raw({0, 9, 2});
        const std::string program = raw({4, 0}) +             // file 0
                                    raw({3, 41, 1}) +         // line 42 at 0
                                    raw({2, 16, 3, 0x7f, 1})  // line 41 at 0x10
                                    + raw({2, 16, 0, 1, 1});  // nothing from 0x20 on
        const std::string unit = before + std::string(8, '\0') + program;
        lines = bytes_of(static_cast<std::uint32_t>(unit.size())) + unit;
        address_at = 4 + before.size();
    }
};

LineTable table_of(const std::string& cubin, std::string_view kernel) {
    return {Cubin(std::as_bytes(std::span(cubin))), kernel};
}

std::string file_named(const std::string& name) { return read_file(GPUTOMO_SOURCE_DIR "/tests/" + name, "a cubin"); }

TEST(LineTableTest, TritonNamesLinesOfPython) {
    const auto table = table_of(file_named("data/cubin/triton_scatter.sm_90a.cubin"), "scatter");
    ASSERT_NE(table.at(0), nullptr);
    EXPECT_EQ(table.at(0)->at, (SourceLine{"/home/user/kernels.py", 88}));
    EXPECT_EQ(table.at(0x10)->at.line, 89U);
    EXPECT_EQ(table.at(0x370)->at.line, 89U);
    EXPECT_EQ(table.at(0x380), nullptr) << "behind the kernel";
}

TEST(LineTableTest, NvccNamesWhereAFunctionWasInlined) {
    const auto table = table_of(file_named("answer/fixtures/advice/block_size.cubin"), "block_size_advised");
    ASSERT_NE(table.at(0x1b0), nullptr);
    const auto& place = *table.at(0x1b0);
    EXPECT_THAT(place.at.file, EndsWith("own/suite.hpp"));
    ASSERT_EQ(place.callers.size(), 2U);
    EXPECT_THAT(place.callers[0].file, EndsWith("advice/block_size.cu"));
    EXPECT_THAT(short_text(place), HasSubstr("suite.hpp:64 from block_size.cu:9 from block_size.cu:15"));
    EXPECT_THAT(table.at(0x5d0)->callers, IsEmpty()) << "the kernel itself";
    // The second kernel of the file: its calls are counted anew.
    const auto other = table_of(file_named("answer/fixtures/advice/block_size.cubin"), "block_size");
    EXPECT_EQ(short_text(*other.at(0x1b0)), "suite.hpp:64 from block_size.cu:9 from block_size.cu:13");
}

TEST(LineTableTest, KernelsOfACubinHaveLinesOfTheirOwn) {
    const auto cubin = file_named("answer/fixtures/advice/coalesced.cubin");
    EXPECT_EQ(table_of(cubin, "coalesced").at(0)->at.line, 7U);
    EXPECT_EQ(table_of(cubin, "coalesced_advised").at(0)->at.line, 13U);
}

TEST(LineTableTest, ReadsVersion5) {
    const Version5 five;
    const auto table = table_of(cubin_with(five.lines, five.address_at, five.texts), "k");
    ASSERT_NE(table.at(0), nullptr);
    EXPECT_EQ(table.at(0)->at, (SourceLine{"/home/user/kernel.cu", 42}));
    EXPECT_EQ(table.at(0x18)->at.line, 41U);
    EXPECT_EQ(table.at(0x20), nullptr);
}

TEST(LineTableTest, CodeWithoutLinesHasNone) {
    EXPECT_TRUE(table_of(file_named("data/cubin/opcodes.sm_90.cubin"), "opcodes").empty());
    const Version5 five;
    EXPECT_TRUE(table_of(cubin_with(five.lines, five.address_at + 1, five.texts), "k").empty())
        << "an address that no relocation gives is not the kernel's";
}

TEST(LineTableTest, SaysWhereADamagedTableIsWrong) {
    const Version5 five;
    auto lines = five.lines;
    lines[4] = 9;
    try {
        static_cast<void>(table_of(cubin_with(lines, five.address_at, five.texts), "k"));
        FAIL() << "version 9 was read";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("section .debug_line: at offset 0x6: expected version 2 to 5"));
    }
    EXPECT_THROW(static_cast<void>(table_of(cubin_with(five.lines, five.address_at, "/"), "k")), InputError)
        << "texts behind the end of their section";
}

TEST(LineTableTest, ATableThatEndsEarlyIsRefused) {
    const Version5 five;
    for (std::size_t bytes = 1; bytes < five.lines.size(); ++bytes)
        EXPECT_THROW(
            static_cast<void>(table_of(cubin_with(five.lines.substr(0, bytes), five.address_at, five.texts), "k")),
            InputError)
            << bytes << " bytes";
}

TEST(LineTableTest, ACallFromARowThatIsNotThereIsRefused) {
    Version5 five;
    // The kernel's first row becomes an inlined call from row 200.
    const std::string call = raw({0, 4, 0x90, 0xc8, 0x01, 0});
    const std::size_t at = five.address_at + 8;
    five.lines.insert(at, call);
    const auto length = static_cast<std::uint32_t>(five.lines.size() - 4);
    std::memcpy(five.lines.data(), &length, sizeof(length));
    EXPECT_THROW(static_cast<void>(table_of(cubin_with(five.lines, five.address_at, five.texts), "k")), InputError);
}

}  // namespace
}  // namespace gputomo::sass
