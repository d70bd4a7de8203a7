#include "capture/fatbin.hpp"

#include "units/error.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace gputomo::capture {
namespace {

// Offsets in the header of a fatbin.
constexpr std::size_t kHeaderSizeAt = 6;
constexpr std::size_t kContentBytesAt = 8;

// Offsets in the header of a member, and its size without what newer versions add.
constexpr std::size_t kMemberHeaderBytes = 64;
constexpr std::size_t kKindAt = 0;
constexpr std::size_t kMemberHeaderBytesAt = 4;
constexpr std::size_t kPaddedBytesAt = 8;
constexpr std::size_t kCompressedBytesAt = 16;
constexpr std::size_t kSmAt = 28;
constexpr std::size_t kFlagsAt = 40;
constexpr std::size_t kUncompressedBytesAt = 56;

constexpr std::uint16_t kKindPtx = 1;
constexpr std::uint16_t kKindCubin = 2;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;

constexpr std::uint32_t kElfMagic = 0x464c457f;

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

[[noreturn]] void unexpected(std::size_t offset, const std::string& expected, const std::string& found) {
    throw InputError("fatbin: at offset " + std::to_string(offset) + ": expected " + expected + "; found " + found);
}

FatbinMember::Kind kind_of(std::uint16_t number) {
    if (number == kKindPtx) return FatbinMember::Kind::ptx;
    return number == kKindCubin ? FatbinMember::Kind::cubin : FatbinMember::Kind::other;
}

FatbinMember::Compression compression_of(std::uint64_t flags) {
    if ((flags & kFlagZstd) != 0) return FatbinMember::Compression::zstd;
    return (flags & kFlagLz4) != 0 ? FatbinMember::Compression::lz4 : FatbinMember::Compression::none;
}

/// The member at `offset`.
FatbinMember member_at(std::span<const std::byte> fatbin, std::size_t offset) {
    const auto rest = fatbin.subspan(offset);
    if (rest.size() < kMemberHeaderBytes)
        unexpected(offset, "a member's header of 64 bytes", std::to_string(rest.size()) + " bytes");
    const std::uint64_t header = value_at<std::uint32_t>(rest, kMemberHeaderBytesAt);
    const std::uint64_t padded = value_at<std::uint64_t>(rest, kPaddedBytesAt);
    if (header < kMemberHeaderBytes || header > rest.size())
        unexpected(offset + kMemberHeaderBytesAt, "the size of a member's header", std::to_string(header));
    if (padded > rest.size() - header)
        unexpected(offset + kPaddedBytesAt, "a payload of at most " + std::to_string(rest.size() - header) + " bytes",
                   std::to_string(padded));
    const std::uint64_t compressed = value_at<std::uint32_t>(rest, kCompressedBytesAt);
    FatbinMember member;
    member.kind = kind_of(value_at<std::uint16_t>(rest, kKindAt));
    member.compression = compression_of(value_at<std::uint64_t>(rest, kFlagsAt));
    member.sm = static_cast<int>(value_at<std::uint32_t>(rest, kSmAt) & 0xffff);
    member.entry = rest.first(header + padded);
    if (member.compression != FatbinMember::Compression::none && compressed > padded)
        unexpected(offset + kCompressedBytesAt, "at most the " + std::to_string(padded) + " bytes of the payload",
                   std::to_string(compressed));
    const bool is_compressed = member.compression != FatbinMember::Compression::none;
    member.payload = rest.subspan(header, is_compressed && compressed != 0 ? compressed : padded);
    member.bytes = is_compressed ? value_at<std::uint64_t>(rest, kUncompressedBytesAt) : member.payload.size();
    return member;
}

}  // namespace

ImageKind image_kind(std::span<const std::byte> first_bytes) {
    if (first_bytes.size() < sizeof(std::uint32_t)) return ImageKind::unknown;
    switch (value_at<std::uint32_t>(first_bytes, 0)) {
        case kElfMagic: return ImageKind::cubin;
        case kFatbinMagic: return ImageKind::fatbin;
        case kFatbinWrapperMagic: return ImageKind::fatbin_wrapper;
        default: break;
    }
    const bool text = std::ranges::all_of(first_bytes.first(4), [](std::byte byte) {
        const auto c = static_cast<unsigned char>(byte);
        return c == '\t' || c == '\n' || c == '\r' || (c >= ' ' && c < 0x7f);
    });
    return text ? ImageKind::ptx : ImageKind::unknown;
}

std::uint64_t fatbin_bytes(std::span<const std::byte> header) {
    return value_at<std::uint16_t>(header, kHeaderSizeAt) + value_at<std::uint64_t>(header, kContentBytesAt);
}

std::vector<FatbinMember> members(std::span<const std::byte> fatbin) {
    if (fatbin.size() < kFatbinHeaderBytes)
        unexpected(0, "a header of 16 bytes", std::to_string(fatbin.size()) + " bytes");
    if (value_at<std::uint32_t>(fatbin, 0) != kFatbinMagic) unexpected(0, "50 ed 55 ba", "another file");
    const std::size_t header = value_at<std::uint16_t>(fatbin, kHeaderSizeAt);
    const auto content = value_at<std::uint64_t>(fatbin, kContentBytesAt);
    if (header < kFatbinHeaderBytes || header > fatbin.size())
        unexpected(kHeaderSizeAt, "the size of the header", std::to_string(header));
    if (content > fatbin.size() - header)
        unexpected(kContentBytesAt, "members of at most " + std::to_string(fatbin.size() - header) + " bytes",
                   std::to_string(content));
    std::vector<FatbinMember> all;
    const auto whole = fatbin.first(header + content);
    for (std::size_t offset = header; offset < whole.size(); offset += all.back().entry.size())
        all.push_back(member_at(whole, offset));
    return all;
}

bool runs_on(const FatbinMember& member, int sm) {
    return member.kind == FatbinMember::Kind::cubin && member.sm / 10 == sm / 10 && member.sm <= sm;
}

std::vector<FatbinMember> candidates(std::span<const FatbinMember> all, int sm) {
    std::vector<FatbinMember> machine_code, ptx;
    for (const auto& member : all) {
        if (runs_on(member, sm)) machine_code.push_back(member);
        if (member.kind == FatbinMember::Kind::ptx && member.sm <= sm) ptx.push_back(member);
    }
    const auto newest_first = [](const FatbinMember& a, const FatbinMember& b) { return a.sm > b.sm; };
    std::ranges::stable_sort(machine_code, newest_first);
    std::ranges::stable_sort(ptx, newest_first);
    machine_code.insert(machine_code.end(), ptx.begin(), ptx.end());
    return machine_code;
}

}  // namespace gputomo::capture
