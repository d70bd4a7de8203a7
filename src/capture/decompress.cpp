#include "capture/decompress.hpp"

#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <stdexcept>

namespace gputomo::capture {
namespace {

/// Level 1 of zlib: a capture waits for it, and levels above gain little on floating-point data.
constexpr int kFast = 1;

[[noreturn]] void damaged(std::string_view how, std::uint64_t bytes) {
    throw InputError(
        fmt::format("fatbin: a member compressed with {} is damaged; expected {} bytes of code from it", how, bytes));
}

std::string from_lz4(std::span<const std::byte> payload, std::uint64_t bytes) {
    std::string out(bytes, '\0');
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(payload.data()), out.data(),
                                         static_cast<int>(payload.size()), static_cast<int>(out.size()));
    if (made < 0 || static_cast<std::uint64_t>(made) != bytes) damaged("LZ4", bytes);
    return out;
}

std::string from_zstd(std::span<const std::byte> payload, std::uint64_t bytes) {
    std::string out(bytes, '\0');
    const std::size_t made = ZSTD_decompress(out.data(), out.size(), payload.data(), payload.size());
    if (ZSTD_isError(made) != 0 || made != bytes) damaged("zstd", bytes);
    return out;
}

}  // namespace

std::string payload(const FatbinMember& member) {
    if (member.bytes > kLargestFile)
        throw InputError(fmt::format("fatbin: a member of {} bytes; expected at most {}", member.bytes, kLargestFile));
    switch (member.compression) {
        case FatbinMember::Compression::lz4: return from_lz4(member.payload, member.bytes);
        case FatbinMember::Compression::zstd: return from_zstd(member.payload, member.bytes);
        case FatbinMember::Compression::none: break;
    }
    return {reinterpret_cast<const char*>(member.payload.data()), member.payload.size()};
}

std::string deflated(std::string_view data, bool smallest) {
    uLongf size = compressBound(static_cast<uLong>(data.size()));
    std::string out(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                  static_cast<uLong>(data.size()), smallest ? Z_BEST_COMPRESSION : kFast) != Z_OK)
        throw std::runtime_error("zlib: compress2 failed");
    out.resize(size);
    return out;
}

std::string inflated(std::string_view data, std::uint64_t bytes, std::string_view origin) {
    std::string out(bytes, '\0');
    auto size = static_cast<uLongf>(bytes);
    const int result = uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                                  reinterpret_cast<const Bytef*>(data.data()), static_cast<uLong>(data.size()));
    if (result != Z_OK || size != bytes)
        throw InputError(fmt::format("{}: found damaged data; expected {} bytes compressed with zlib", origin, bytes));
    return out;
}

}  // namespace gputomo::capture
