// Reads fatbins, the containers in which CUDA programs carry machine code and PTX for several GPUs.
//
// The layout is not documented by NVIDIA. Field offsets follow public descriptions of the format (ZLUDA, Cricket and
// nvopen-tools), and fatbins of CUDA 13.0 were read with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::capture {

/// What a pointer that a program gives the driver as a module may point to.
enum class ImageKind { cubin, ptx, fatbin, fatbin_wrapper, unknown };

inline constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
inline constexpr std::uint32_t kFatbinWrapperMagic = 0x466243b1;
inline constexpr std::size_t kFatbinHeaderBytes = 16;

/// What the first four bytes of an image say. PTX is recognised by text.
[[nodiscard]] ImageKind image_kind(std::span<const std::byte> first_bytes);

/// The bytes that the header of a fatbin gives as its size, with the header. `header` has at least
/// kFatbinHeaderBytes.
[[nodiscard]] std::uint64_t fatbin_bytes(std::span<const std::byte> header);

struct FatbinMember {
    enum class Kind { ptx, cubin, other };
    enum class Compression { none, lz4, zstd };
    Kind kind = Kind::other;
    Compression compression = Compression::none;
    int sm = 0;                          ///< compute capability that it was compiled for, 90 for sm_90
    std::span<const std::byte> entry;    ///< header and payload
    std::span<const std::byte> payload;  ///< as stored
    std::uint64_t bytes = 0;             ///< size of the payload after decompression
};

/// The members of a fatbin, in order. Throws InputError with the offset, what was expected and what was found.
[[nodiscard]] std::vector<FatbinMember> members(std::span<const std::byte> fatbin);

/// Whether a driver can run a member on a GPU of compute capability `sm` without compiling: machine code of the same
/// major version that is not newer.
[[nodiscard]] bool runs_on(const FatbinMember& member, int sm);

/// The members that a driver may choose for a GPU of compute capability `sm`, best first. Machine code that runs
/// there comes first, the newest before older ones; PTX that it can compile follows.
[[nodiscard]] std::vector<FatbinMember> candidates(std::span<const FatbinMember> all, int sm);

}  // namespace gputomo::capture
