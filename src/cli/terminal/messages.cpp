#include "cli/terminal/messages.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace gputomo::cli::out {
namespace {

/// A character of UTF-8; `bytes` is 0 where the text does not begin with one.
struct Character {
    std::size_t bytes = 0;
    std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
    if (byte(0) < 0x80) return {1, byte(0)};
    const std::size_t bytes = byte(0) >= 0xF8 ? 0 : byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : byte(0) >= 0xC0 ? 2 : 0;
    if (bytes == 0 || bytes > text.size()) return {};
    std::uint32_t code = byte(0) & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3F);
    }
    constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // a longer form than needed is not UTF-8
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    return code < kLeast[bytes] || code > 0x10FFFF || is_surrogate ? Character{} : Character{bytes, code};
}

/// Whether a terminal acts on the character (ECMA-48: C0, DEL and C1) instead of showing it.
bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

std::string escaped(std::string_view text, std::string_view kept) {
    std::string out;
    while (!text.empty()) {
        const auto [bytes, code] = first_character(text);
        if (bytes == 0 || (is_control(code) && kept.find(text.front()) == std::string_view::npos)) {
            const auto shown = bytes == 0 ? static_cast<unsigned char>(text.front()) : code;
            out += code == '\n' ? "\\n" : code == '\t' ? "\\t" : fmt::format("\\x{:02x}", shown);
        } else {
            out += text.substr(0, bytes);
        }
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return out;
}

void write(std::FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

constexpr std::string_view kBold = "\033[1m", kYellow = "\033[1;33m", kRed = "\033[1;31m", kPlain = "\033[0m";

/// Whether text for the file may have colours.
bool takes_colours(std::FILE* file) {
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string_view(value == nullptr ? "" : value);
    };
    return isatty(fileno(file)) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

std::string coloured(std::string_view colour, std::string_view text) {
    return fmt::format("{}{}{}", colour, text, kPlain);
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, "\n\t"); }
std::string one_line(std::string_view text) { return escaped(text, ""); }

void print_text(std::string_view text) { write(stdout, printable(text)); }

void print_sections(std::string_view text) {
    const auto plain = printable(text);
    if (!takes_colours(stdout)) return write(stdout, plain);
    std::string out;
    for (std::size_t at = 0; at < plain.size();) {
        const auto end = std::min(plain.find('\n', at), plain.size());
        const std::string_view line = std::string_view(plain).substr(at, end - at);
        const bool is_above_indented = plain.compare(end, 3, "\n  ") == 0;
        if (!line.empty() && line.front() != ' ' && (at == 0 || is_above_indented))
            out += coloured(line == "Warnings" ? kYellow : kBold, line);
        else
            out += line;
        if (end < plain.size()) out += '\n';
        at = end + 1;
    }
    write(stdout, out);
}

Verbosity& verbosity() {
    static Verbosity of_process = Verbosity::normal;
    return of_process;
}

void print_json_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto [bytes, code] = first_character(text);
        if (code >= 0x7F && is_control(code))
            out += fmt::format("\\u{:04x}", code);
        else
            out += text.substr(0, bytes == 0 ? 1 : bytes);
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    write(stdout, out);
}

void print_message(std::string_view text) {
    std::fflush(stdout);
    auto shown = printable(text);
    if (takes_colours(stderr))
        for (const auto& [word, colour] : {std::pair("warning:", kYellow), std::pair("gputomo:", kRed)})
            if (shown.starts_with(word)) shown = coloured(colour, word) + shown.substr(std::string_view(word).size());
    write(stderr, shown);
}

}  // namespace gputomo::cli::out
