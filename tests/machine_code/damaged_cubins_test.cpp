// Cubins whose sections say what cannot be are refused by name, before anything is allocated or written.
#include "sass/cubin.hpp"
#include "sim/machine_code/program.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gputomo::sim::machine_code {
namespace damaged_cubins_test {
namespace {

using testing::HasSubstr;

std::string fixture(const std::string& name) {
    return read_file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/" + name, "a cubin");
}

std::string refusal_of(const std::string& code, const std::string& kernel) {
    try {
        const sass::Cubin cubin(std::as_bytes(std::span(code)));
        (void)prepare(cubin, kernel, [](std::string_view) { return std::uint64_t{0}; });
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

/// Writes a word `behind` bytes behind the value's beginning of each attribute of this type and size.
void set_attribute(std::string& code, std::uint8_t type, std::uint8_t bytes, std::size_t behind, std::uint32_t word) {
    const char header[] = {4, static_cast<char>(type), static_cast<char>(bytes), 0};
    int found = 0;
    for (auto at = code.find(header, 0, sizeof header); at != std::string::npos;
         at = code.find(header, at + 1, sizeof header), ++found)
        std::memcpy(code.data() + at + sizeof header + behind, &word, sizeof word);
    ASSERT_GT(found, 0);
}

TEST(DamagedCubins, ClustersWithoutBlocks) {
    constexpr std::uint8_t kCtaPerCluster = 0x3D;
    auto code = fixture("clusters.cubin");
    EXPECT_EQ(refusal_of(code, "sums"), "");
    set_attribute(code, kCtaPerCluster, 12, 4, 0);
    EXPECT_THAT(refusal_of(code, "sums"), HasSubstr("its clusters have 4x0x1 blocks; expected 1 or more"));
}

TEST(DamagedCubins, StacksLargerThanLocalMemory) {
    constexpr std::uint8_t kMinStackSize = 0x12;
    auto code = fixture("barriers.cubin");
    set_attribute(code, kMinStackSize, 8, 4, 512 * 1024);
    EXPECT_EQ(refusal_of(code, "leaves"), "");
    set_attribute(code, kMinStackSize, 8, 4, 0x40000000);
    EXPECT_THAT(refusal_of(code, "leaves"), HasSubstr("need a stack of 1073741824 bytes; expected at most 524288"));
}

TEST(DamagedCubins, RelocationsOutsideTheirSection) {
    for (const std::uint64_t offset : {~std::uint64_t{7}, ~std::uint64_t{3}, std::uint64_t{1} << 40}) {
        auto code = fixture("features.cubin");
        Elf64_Ehdr header{};
        std::memcpy(&header, code.data(), sizeof header);
        std::size_t changed = 0;
        const sass::Cubin cubin(std::as_bytes(std::span(code)));
        for (std::size_t i = 0; i < header.e_shnum; ++i) {
            if (cubin.sections()[i].name != ".rela.nv.constant4") continue;
            Elf64_Shdr section{};
            std::memcpy(&section, code.data() + header.e_shoff + i * sizeof section, sizeof section);
            std::memcpy(code.data() + section.sh_offset, &offset, sizeof offset);
            ++changed;
        }
        ASSERT_EQ(changed, 1);
        EXPECT_THAT(refusal_of(code, "prints"), HasSubstr(".nv.constant4 at 0x")) << offset;
    }
}

}  // namespace
}  // namespace damaged_cubins_test
}  // namespace gputomo::sim::machine_code
