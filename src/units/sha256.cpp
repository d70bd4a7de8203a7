#include "units/sha256.hpp"

#include <nettle/sha2.h>

#include <array>
#include <cstdint>

namespace gputomo {

std::string sha256(std::string_view data) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, data.size(), reinterpret_cast<const std::uint8_t*>(data.data()));
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context, digest.size(), digest.data());
    std::string text;
    for (const auto byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace gputomo
