// Splits PTX text into tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::ptx {

enum class TokenKind : std::uint8_t {
    word,      ///< add, %r1, $L__BB0_1, _
    dot_word,  ///< .reg, .u32, .L2::128B
    number,    ///< 12, 0x1F, 0f3F800000, 6.0
    string,    ///< "nounroll", without the quotes
    mark,      ///< one character
    end,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;  ///< lives as long as the source
    int line = 0;           ///< from 1
};

/// A text and its origin, for error messages.
struct Source {
    std::string_view text;
    std::string_view origin;

    /// Throws InputError "ORIGIN:LINE: what" with the line itself below.
    [[noreturn]] void fail(int line, const std::string& what) const;
};

/// The tokens of a text, without comments, followed by a TokenKind::end token. Throws InputError (Source::fail).
[[nodiscard]] std::vector<Token> tokenize(const Source& source);

}  // namespace gputomo::ptx
