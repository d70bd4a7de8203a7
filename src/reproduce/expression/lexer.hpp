// Takes an expression apart into signs, names, numbers and quoted texts.
#pragma once

#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// Reads `text` from left to right. Each take_ function expects that next() announced what it takes.
class Lexer {
public:
    enum class Next { end, number, text, name, sign };

    explicit Lexer(std::string_view text) : text_(text) {}

    /// What comes next, behind spaces.
    [[nodiscard]] Next next();
    /// The next character that is no space; '\0' at the end.
    [[nodiscard]] char peek();
    /// Takes `sign` if it comes next. A sign of letters ("and") must end where the word does.
    bool take(std::string_view sign);
    [[nodiscard]] double take_number();
    [[nodiscard]] std::string take_text();
    /// A path or the name of a function. Brackets in it may hold anything: "operations[add.f32].latency".
    [[nodiscard]] std::string take_name();

    /// Where the lexer stands, for fail_at().
    [[nodiscard]] std::size_t position() const { return at_; }
    /// Throws InputError that quotes the text and says which character was found where and what was expected.
    [[noreturn]] void fail(std::string_view expected) const { fail_at(at_, expected); }
    [[noreturn]] void fail_at(std::size_t position, std::string_view expected) const;

private:
    void skip_spaces();

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace gputomo::reproduce
