#include "sass/cubin.hpp"

#include "sass/cubin_format.hpp"
#include "units/error.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace gputomo::sass {
namespace {

constexpr std::string_view kTextPrefix = ".text.";

static_assert(std::endian::native == std::endian::little, "ELF structures are copied from little-endian files");

[[noreturn]] void unexpected(std::uint64_t offset, std::string_view expected, const std::string& found) {
    throw InputError(fmt::format("cubin: at offset {:#x}: expected {}; found {}", offset, expected, found));
}

/// Bytes [offset, offset + size). Throws InputError that names `what` should have been there.
std::span<const std::byte> range(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size,
                                 std::string_view what) {
    if (offset > bytes.size() || size > bytes.size() - offset)
        unexpected(offset, fmt::format("{} of {} bytes", what, size),
                   fmt::format("the end of the file at {:#x}", bytes.size()));
    return bytes.subspan(offset, size);
}

/// The structure at `offset`, copied because the file need not be aligned.
template <class T>
T read(std::span<const std::byte> bytes, std::uint64_t offset, std::string_view what) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, range(bytes, offset, sizeof(T), what).data(), sizeof(T));
    return value;
}

std::string text_at(std::span<const std::byte> names, std::uint64_t at, std::uint64_t file_offset) {
    if (at >= names.size()) unexpected(file_offset + at, "the name of a section", "the end of the section names");
    const auto rest = names.subspan(at);
    const auto end = std::ranges::find(rest, std::byte{0});
    if (end == rest.end())
        unexpected(file_offset + at, "the name of a section, ending in a zero byte",
                   "no zero byte before the end of the section names");
    return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

std::optional<int> sm_of(unsigned abi, unsigned version, std::uint32_t flags) {
    if (abi == kOldAbi && version <= kLastOldVersion) return static_cast<int>(flags & 0xff);
    if (abi == kNewAbi && version == kNewVersion) return static_cast<int>(flags >> 8 & 0xff);
    return std::nullopt;
}

/// Whether the section has code.
bool is_text(const Cubin::Section& section) {
    return section.name.starts_with(kTextPrefix) && section.bytes.size() == section.size;
}

}  // namespace

bool is_cubin(std::string_view code) { return code.starts_with(ELFMAG); }

Cubin::Cubin(std::span<const std::byte> bytes) : bytes_(bytes) {
    read_header();
    read_sections();
}

void Cubin::read_header() {
    const auto header = read<Elf64_Ehdr>(bytes_, 0, "an ELF header");
    const auto& ident = header.e_ident;
    if (std::memcmp(ident, ELFMAG, SELFMAG) != 0)
        unexpected(0, "7f 45 4c 46, the first bytes of an ELF file",
                   fmt::format("{:02x} {:02x} {:02x} {:02x}", ident[0], ident[1], ident[2], ident[3]));
    if (ident[EI_CLASS] != ELFCLASS64)
        unexpected(EI_CLASS, fmt::format("{}, a 64-bit ELF file", ELFCLASS64), fmt::to_string(int{ident[EI_CLASS]}));
    if (ident[EI_DATA] != ELFDATA2LSB)
        unexpected(EI_DATA, fmt::format("{}, little-endian", ELFDATA2LSB), fmt::to_string(int{ident[EI_DATA]}));
    if (header.e_machine != EM_CUDA)
        unexpected(offsetof(Elf64_Ehdr, e_machine), fmt::format("machine {}, NVIDIA GPUs", EM_CUDA),
                   fmt::to_string(header.e_machine));
    abi_ = ident[EI_OSABI];
    abi_version_ = ident[EI_ABIVERSION];
    sm_ = sm_of(ident[EI_OSABI], ident[EI_ABIVERSION], header.e_flags);
}

void Cubin::read_sections() {
    const auto header = read<Elf64_Ehdr>(bytes_, 0, "an ELF header");
    if (header.e_shentsize != sizeof(Elf64_Shdr))
        unexpected(offsetof(Elf64_Ehdr, e_shentsize),
                   fmt::format("{}, the size of a section header", sizeof(Elf64_Shdr)),
                   fmt::to_string(header.e_shentsize));
    if (header.e_shstrndx >= header.e_shnum)
        unexpected(offsetof(Elf64_Ehdr, e_shstrndx), fmt::format("the index of one of {} sections", header.e_shnum),
                   fmt::to_string(header.e_shstrndx));
    range(bytes_, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), "a section table");
    const auto section = [&](std::uint64_t index) {
        return read<Elf64_Shdr>(bytes_, header.e_shoff + index * sizeof(Elf64_Shdr), "a section header");
    };
    const auto names_section = section(header.e_shstrndx);
    const auto names = range(bytes_, names_section.sh_offset, names_section.sh_size, "the section names");
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const auto found = section(i);
        const auto name = text_at(names, found.sh_name, names_section.sh_offset);
        const bool in_file = found.sh_type != SHT_NOBITS && found.sh_type != SHT_NULL;
        sections_.push_back(
            {name,
             in_file ? range(bytes_, found.sh_offset, found.sh_size, "section " + name) : std::span<const std::byte>(),
             found.sh_offset, found.sh_size});
    }
}

const Cubin::Section* Cubin::section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? nullptr : &*found;
}

std::vector<std::string> Cubin::kernels() const {
    std::vector<std::string> names;
    for (const Section& section : sections_)
        if (is_text(section)) names.push_back(section.name.substr(kTextPrefix.size()));
    return names;
}

Cubin::Text Cubin::text(std::string_view kernel) const {
    const Section* const found = section(fmt::format("{}{}", kTextPrefix, kernel));
    if (found != nullptr && is_text(*found)) return {found->bytes, found->offset};
    throw InputError(
        fmt::format("cubin: it has no kernel '{}'; expected one of [{}]", kernel, fmt::join(kernels(), ", ")));
}

std::vector<Cubin::Symbol> Cubin::symbols() const {
    std::vector<Symbol> all;
    const Section* const table = section(".symtab");
    const Section* const names = section(".strtab");
    if (table == nullptr || names == nullptr) return all;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->bytes.size(); at += sizeof(Elf64_Sym)) {
        const auto symbol = read<Elf64_Sym>(table->bytes, at, "a symbol");
        const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < sections_.size();
        all.push_back({.name = text_at(names->bytes, symbol.st_name, names->offset),
                       .section = defined ? sections_[symbol.st_shndx].name : "",
                       .value = symbol.st_value,
                       .bytes = symbol.st_size,
                       .is_variable = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT});
    }
    return all;
}

std::vector<Cubin::Relocation> Cubin::relocations(std::string_view name) const {
    std::vector<Relocation> all;
    const Section* const symbols = section(".symtab");
    const Section* const names = section(".strtab");
    for (const std::string_view prefix : {".rela", ".rel"}) {
        const Section* const table = section(fmt::format("{}{}", prefix, name));
        if (table == nullptr) continue;
        if (symbols == nullptr || names == nullptr)
            unexpected(table->offset, "a file with the sections .symtab and .strtab", "relocations without them");
        const bool with_addend = prefix == ".rela";
        const std::size_t entry = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        for (std::uint64_t at = 0; at + entry <= table->bytes.size(); at += entry) {
            Elf64_Rela relocation{};
            std::memcpy(&relocation, table->bytes.data() + at, entry);
            const auto symbol =
                read<Elf64_Sym>(symbols->bytes, ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym), "a symbol");
            const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < sections_.size();
            all.push_back({.offset = relocation.r_offset,
                           .type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info)),
                           .symbol = text_at(names->bytes, symbol.st_name, names->offset),
                           .symbol_section = defined ? sections_[symbol.st_shndx].name : "",
                           .value = symbol.st_value + static_cast<std::uint64_t>(relocation.r_addend)});
        }
    }
    return all;
}

std::string Cubin::abi() const { return fmt::format("ELF ABI {}, version {}", abi_, abi_version_); }

}  // namespace gputomo::sass
