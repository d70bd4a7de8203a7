#include "device/cubin.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace gputomo::device {
namespace {

// The ELF specification's numbers, for 64-bit files.
constexpr std::uint64_t kHeaderBytes = 64;
constexpr std::uint64_t kSectionHeaderBytes = 64;
constexpr std::uint64_t kClassAt = 4;
constexpr std::uint64_t kByteOrderAt = 5;
constexpr std::uint64_t kAbiAt = 7;
constexpr std::uint64_t kAbiVersionAt = 8;
constexpr std::uint64_t kMachineAt = 18;
constexpr std::uint64_t kSectionTableAt = 40;
constexpr std::uint64_t kFlagsAt = 48;
constexpr std::uint64_t kSectionSizeAt = 58;
constexpr std::uint64_t kSectionCountAt = 60;
constexpr std::uint64_t kNameSectionAt = 62;
constexpr std::uint64_t kSectionTypeAt = 4;
constexpr std::uint64_t kSectionOffsetAt = 24;
constexpr std::uint64_t kSectionBytesAt = 32;
constexpr std::uint32_t kSectionWithoutBytes = 8;  // SHT_NOBITS

constexpr unsigned kMachineCuda = 190;
// EI_OSABI and EI_ABIVERSION of cubins, and with them where e_flags keeps the compute capability: in its lowest byte up
// to version 7, in the next one since.
constexpr unsigned kOldAbi = 51;
constexpr unsigned kNewAbi = 65;
constexpr unsigned kLastOldVersion = 7;
constexpr unsigned kNewVersion = 8;

constexpr std::string_view kTextPrefix = ".text.";

[[noreturn]] void unexpected(std::uint64_t offset, std::string_view expected, const std::string& found) {
    throw InputError(fmt::format("cubin: at offset {:#x}: expected {}; found {}", offset, expected, found));
}

/// Bytes [offset, offset + size), or an error that says what should have been there.
std::span<const std::byte> range(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size,
                                 std::string_view what) {
    if (offset > bytes.size() || size > bytes.size() - offset)
        unexpected(offset, fmt::format("{} of {} bytes", what, size),
                   fmt::format("the end of the file at {:#x}", bytes.size()));
    return bytes.subspan(offset, size);
}

template <class T>
T read(std::span<const std::byte> bytes, std::uint64_t offset, std::string_view what) {
    static_assert(std::is_unsigned_v<T>);
    const auto raw = range(bytes, offset, sizeof(T), what);
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(raw[i]) << (8 * i));
    return value;
}

std::string text_at(std::span<const std::byte> names, std::uint64_t at, std::uint64_t file_offset) {
    if (at >= names.size()) unexpected(file_offset + at, "a section's name", "the end of the names");
    const auto rest = names.subspan(at);
    const auto end = std::ranges::find(rest, std::byte{0});
    if (end == rest.end())
        unexpected(file_offset + at, "a section's name that ends in a zero", "none up to the end of the names");
    return {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(end - rest.begin())};
}

std::optional<int> sm_of(unsigned abi, unsigned version, std::uint32_t flags) {
    if (abi == kOldAbi && version <= kLastOldVersion) return static_cast<int>(flags & 0xff);
    if (abi == kNewAbi && version == kNewVersion) return static_cast<int>(flags >> 8 & 0xff);
    return std::nullopt;
}

}  // namespace

Cubin::Cubin(std::span<const std::byte> bytes) : bytes_(bytes) {
    read_header();
    read_sections();
}

void Cubin::read_header() {
    const auto header = range(bytes_, 0, kHeaderBytes, "an ELF header");
    const auto byte = [&](std::uint64_t at) { return static_cast<unsigned>(header[at]); };
    if (std::memcmp(header.data(),
                    "\x7f"
                    "ELF",
                    4) != 0)
        unexpected(0, "7f 45 4c 46, the mark of an ELF file",
                   fmt::format("{:02x} {:02x} {:02x} {:02x}", byte(0), byte(1), byte(2), byte(3)));
    if (byte(kClassAt) != 2) unexpected(kClassAt, "2, a 64-bit ELF file", fmt::to_string(byte(kClassAt)));
    if (byte(kByteOrderAt) != 1) unexpected(kByteOrderAt, "1, little-endian", fmt::to_string(byte(kByteOrderAt)));
    const auto machine = read<std::uint16_t>(bytes_, kMachineAt, "the machine");
    if (machine != kMachineCuda)
        unexpected(kMachineAt, fmt::format("machine {}, NVIDIA GPUs", kMachineCuda), fmt::to_string(machine));
    abi_ = static_cast<int>(byte(kAbiAt));
    abi_version_ = static_cast<int>(byte(kAbiVersionAt));
    sm_ = sm_of(byte(kAbiAt), byte(kAbiVersionAt), read<std::uint32_t>(bytes_, kFlagsAt, "the flags"));
}

void Cubin::read_sections() {
    const auto table = read<std::uint64_t>(bytes_, kSectionTableAt, "the offset of the section table");
    const auto entry = read<std::uint16_t>(bytes_, kSectionSizeAt, "the size of a section header");
    const auto count = read<std::uint16_t>(bytes_, kSectionCountAt, "the number of sections");
    const auto names_index = read<std::uint16_t>(bytes_, kNameSectionAt, "the index of the section with the names");
    if (entry != kSectionHeaderBytes)
        unexpected(kSectionSizeAt, "64, the size of a section header", fmt::to_string(entry));
    if (names_index >= count)
        unexpected(kNameSectionAt, fmt::format("the index of one of {} sections", count), fmt::to_string(names_index));
    range(bytes_, table, count * kSectionHeaderBytes, "a section table");
    struct Place {
        std::uint64_t offset;
        std::uint64_t size;
    };
    const auto place = [&](std::uint64_t index) -> Place {
        const std::uint64_t at = table + index * kSectionHeaderBytes;
        return {read<std::uint64_t>(bytes_, at + kSectionOffsetAt, "a section's offset"),
                read<std::uint64_t>(bytes_, at + kSectionBytesAt, "a section's size")};
    };
    const auto names_place = place(names_index);
    const auto names = range(bytes_, names_place.offset, names_place.size, "the sections' names");
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t at = table + i * kSectionHeaderBytes;
        const auto name = text_at(names, read<std::uint32_t>(bytes_, at, "a section's name"), names_place.offset);
        const auto type = read<std::uint32_t>(bytes_, at + kSectionTypeAt, "a section's type");
        if (!name.starts_with(kTextPrefix) || type == kSectionWithoutBytes) continue;
        const auto [offset, size] = place(i);
        texts_.push_back({name.substr(kTextPrefix.size()), {range(bytes_, offset, size, "section " + name), offset}});
    }
}

std::vector<std::string> Cubin::kernels() const {
    std::vector<std::string> names;
    for (const Section& section : texts_) names.push_back(section.name);
    return names;
}

Cubin::Text Cubin::text(std::string_view kernel) const {
    const auto found = std::ranges::find(texts_, kernel, &Section::name);
    if (found != texts_.end()) return found->text;
    throw InputError(
        fmt::format("cubin: no code of kernel '{}'; expected one of [{}]", kernel, fmt::join(kernels(), ", ")));
}

std::string Cubin::abi() const { return fmt::format("ELF ABI {}, version {}", abi_, abi_version_); }

}  // namespace gputomo::device
