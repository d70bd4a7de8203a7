// Reads the cubins of tests/data/cubin, and damages copies of them.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace gputomo::sass::cubin_files {

using Bytes = std::vector<std::byte>;

inline Bytes read_cubin(const std::string& name) {
    const std::string file = std::string(GPUTOMO_SOURCE_DIR "/tests/data/cubin/") + name + ".cubin";
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(file + " is missing");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// Writes `value` little-endian into `size` bytes at `offset`.
inline void patch(Bytes& bytes, std::size_t offset, std::size_t size, std::uint64_t value) {
    for (std::size_t i = 0; i < size; ++i) bytes.at(offset + i) = static_cast<std::byte>(value >> (8 * i));
}

inline std::uint64_t peek(const Bytes& bytes, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(bytes.at(offset + i)) << (8 * i);
    return value;
}

// Offsets in the ELF header of the fields that tests change.
inline constexpr std::size_t kAbi = EI_OSABI;
inline constexpr std::size_t kAbiVersion = EI_ABIVERSION;
inline constexpr std::size_t kMachine = offsetof(Elf64_Ehdr, e_machine);
inline constexpr std::size_t kSectionTable = offsetof(Elf64_Ehdr, e_shoff);
inline constexpr std::size_t kFlags = offsetof(Elf64_Ehdr, e_flags);
inline constexpr std::size_t kSectionCount = offsetof(Elf64_Ehdr, e_shnum);
inline constexpr std::size_t kNameSection = offsetof(Elf64_Ehdr, e_shstrndx);

}  // namespace gputomo::sass::cubin_files
