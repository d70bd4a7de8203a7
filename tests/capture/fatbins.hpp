// Builds fatbins for tests, and reads the message of a refusal.
#pragma once

#include "capture/fatbin.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace gputomo::capture::testing {

inline std::string fixture(const std::string& name) {
    return read_file(std::string(GPUTOMO_SOURCE_DIR) + "/tests/data/cubin/" + name, "a fixture");
}

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
}

inline std::string compressed(const std::string& code, FatbinMember::Compression how) {
    if (how == FatbinMember::Compression::none) return code;
    std::string out(code.size() + 1000, '\0');
    const bool lz4 = how == FatbinMember::Compression::lz4;
    const std::size_t size =
        lz4 ? static_cast<std::size_t>(LZ4_compress_default(code.data(), out.data(), static_cast<int>(code.size()),
                                                            static_cast<int>(out.size())))
            : ZSTD_compress(out.data(), out.size(), code.data(), code.size(), 3);
    out.resize(size);
    return out;
}

/// A member: a header of 64 bytes and more, then the payload, padded to 8 bytes.
inline std::string member(std::uint16_t kind, std::uint32_t sm, const std::string& code,
                          FatbinMember::Compression how = FatbinMember::Compression::none,
                          std::uint32_t header_bytes = 64) {
    const std::string stored = compressed(code, how);
    std::string bytes(header_bytes, '\0');
    const std::uint64_t padded = (stored.size() + 7) / 8 * 8;
    put<std::uint16_t>(bytes, 0, kind);
    put<std::uint16_t>(bytes, 2, 0x101);
    put<std::uint32_t>(bytes, 4, header_bytes);
    put<std::uint64_t>(bytes, 8, padded);
    put<std::uint32_t>(bytes, 16,
                       how == FatbinMember::Compression::none ? 0 : static_cast<std::uint32_t>(stored.size()));
    put<std::uint32_t>(bytes, 28, sm);
    std::uint64_t flags = 1;
    if (how == FatbinMember::Compression::lz4) flags |= 0x2000;
    if (how == FatbinMember::Compression::zstd) flags |= 0x8000;
    put<std::uint64_t>(bytes, 40, flags);
    put<std::uint64_t>(bytes, 56, how == FatbinMember::Compression::none ? 0 : code.size());
    return bytes + stored + std::string(padded - stored.size(), '\0');
}

inline std::string fatbin(const std::string& members) {
    std::string bytes(16, '\0');
    put<std::uint32_t>(bytes, 0, kFatbinMagic);
    put<std::uint16_t>(bytes, 4, 1);
    put<std::uint16_t>(bytes, 6, 16);
    put<std::uint64_t>(bytes, 8, members.size());
    return bytes + members;
}

/// The message of the InputError that an action ends with; "no error" if it does not.
template <class Action>
std::string error_of(Action action) {
    try {
        action();
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace gputomo::capture::testing
