#include "reproduce/expression/lexer.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gputomo::reproduce {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

}  // namespace

void Lexer::fail_at(std::size_t position, std::string_view expected) const {
    const auto found = position < text_.size() ? fmt::format("'{}'", text_[position]) : std::string("the end");
    throw InputError(
        fmt::format("\"{}\": at character {}: found {}; expected {}", text_, position + 1, found, expected));
}

void Lexer::skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
}

char Lexer::peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
}

Lexer::Next Lexer::next() {
    const char c = peek();
    if (at_ == text_.size()) return Next::end;
    if (c == '\'') return Next::text;
    if (is_digit(c)) return Next::number;
    return starts_name(c) ? Next::name : Next::sign;
}

bool Lexer::take(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(sign)) return false;
    const auto end = at_ + sign.size();
    if (starts_name(sign[0]) && end < text_.size() && continues_name(text_[end])) return false;
    at_ = end;
    return true;
}

double Lexer::take_number() {
    double number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc{}) fail("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
}

std::string Lexer::take_text() {
    const auto end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) fail("a closing quote");
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
}

std::string Lexer::take_name() {
    const auto start = at_;
    while (at_ < text_.size() && (continues_name(text_[at_]) || text_[at_] == '[')) {
        if (text_[at_] == '[') at_ = std::min(text_.find(']', at_), text_.size() - 1);
        ++at_;
    }
    return std::string(text_.substr(start, at_ - start));
}

}  // namespace gputomo::reproduce
