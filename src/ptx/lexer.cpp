#include "ptx/lexer.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>

namespace gputomo::ptx {
namespace {

constexpr std::size_t kLongestQuote = 160;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

class Lexer {
public:
    explicit Lexer(const Source& source) : source_(source), text_(source.text) {}

    std::vector<Token> run() {
        std::vector<Token> tokens;
        for (skip_blanks(); at_ < text_.size(); skip_blanks()) tokens.push_back(next());
        tokens.push_back({TokenKind::end, {}, line_});
        return tokens;
    }

private:
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    void skip_blanks() {
        while (at_ < text_.size()) {
            const char c = peek();
            if (c == '\n') {
                ++line_;
                ++at_;
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
                ++at_;
            } else if (c == '/' && peek(1) == '/') {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (c == '/' && peek(1) == '*') {
                skip_comment();
            } else {
                return;
            }
        }
    }

    void skip_comment() {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) source_.fail(line_, "a comment does not end; expected '*/'");
        line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end + 2;
    }

    Token next() {
        const std::size_t start = at_;
        const char c = peek();
        if (is_digit(c)) return number();
        if (c == '"') return quoted();
        if (c == '.') {
            ++at_;
            while (is_name(peek()) || (peek() == ':' && peek(1) == ':' && is_name(peek(2))))
                at_ += peek() == ':' ? 2 : 1;
            if (at_ == start + 1) source_.fail(line_, "a lone '.'; expected a directive or a suffix");
            return {TokenKind::dot_word, text_.substr(start, at_ - start), line_};
        }
        if (is_name(c) || c == '%') {
            ++at_;
            while (is_name(peek())) ++at_;
            return {TokenKind::word, text_.substr(start, at_ - start), line_};
        }
        ++at_;
        return {TokenKind::mark, text_.substr(start, 1), line_};
    }

    Token number() {
        const std::size_t start = at_;
        const char prefix = peek() == '0' ? peek(1) : '\0';
        const bool coded =
            prefix == 'x' || prefix == 'X' || prefix == 'f' || prefix == 'F' || prefix == 'd' || prefix == 'D';
        while (is_name(peek()) || (!coded && peek() == '.' && is_digit(peek(1)))) {
            const bool exponent = !coded && (peek() == 'e' || peek() == 'E') && (peek(1) == '+' || peek(1) == '-');
            at_ += exponent ? 2 : 1;
        }
        return {TokenKind::number, text_.substr(start, at_ - start), line_};
    }

    Token quoted() {
        const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
        if (end == std::string_view::npos || text_[end] == '\n')
            source_.fail(line_, "a string does not end; expected '\"' on the same line");
        const Token token{TokenKind::string, text_.substr(at_ + 1, end - at_ - 1), line_};
        at_ = end + 1;
        return token;
    }

    const Source& source_;
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

}  // namespace

void Source::fail(int line, const std::string& what) const {
    std::string_view rest = text;
    for (int i = 1; i < line; ++i) rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));
    std::string quote{rest.substr(0, std::min(rest.find('\n'), rest.size()))};
    const std::size_t first = std::min(quote.find_first_not_of(" \t"), quote.size());
    quote.erase(0, first);
    if (quote.size() > kLongestQuote) quote = quote.substr(0, kLongestQuote) + "...";
    std::ranges::replace_if(
        quote, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    throw InputError(fmt::format("{}:{}: {}\n    {}", origin, line, what, quote));
}

std::vector<Token> tokenize(const Source& source) { return Lexer(source).run(); }

}  // namespace gputomo::ptx
