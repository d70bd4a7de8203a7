// Builds one line of a journal: a JSON object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::capture {

class JsonLine {
public:
    explicit JsonLine(std::string_view kind) {
        text_ = "{\"";
        text_ += kind;
        text_ += "\":{";
    }

    JsonLine& add(std::string_view name, std::uint64_t value) { return raw(name, std::to_string(value)); }
    JsonLine& add(std::string_view name, int value) { return raw(name, std::to_string(value)); }
    JsonLine& add(std::string_view name, double value) {
        char text[32];
        std::snprintf(text, sizeof(text), "%.3f", value);
        return raw(name, text);
    }
    JsonLine& add(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
    JsonLine& add(std::string_view name, const unsigned (&values)[3]) {
        return raw(name, "[" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," +
                             std::to_string(values[2]) + "]");
    }
    /// `json` is inserted as it is.
    JsonLine& raw(std::string_view name, std::string_view json) {
        if (text_.back() != '{') text_ += ',';
        text_ += '"';
        text_ += name;
        text_ += "\":";
        text_ += json;
        return *this;
    }
    [[nodiscard]] std::string line() const { return text_ + "}}\n"; }
    /// The object alone, without its kind.
    [[nodiscard]] std::string object() const { return text_.substr(text_.find(':') + 1) + "}"; }

    [[nodiscard]] static std::string quoted(std::string_view text) {
        std::string out = "\"";
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\') out += '\\';
            if (byte >= 0x20) {
                out += c;
                continue;
            }
            char escape[8];
            std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
            out += escape;
        }
        return out + '"';
    }
    [[nodiscard]] static std::string hex(std::span<const unsigned char> bytes) {
        constexpr char kDigits[] = "0123456789abcdef";
        std::string out = "\"";
        for (const auto byte : bytes) {
            out += kDigits[byte >> 4];
            out += kDigits[byte & 15];
        }
        return out + '"';
    }

private:
    std::string text_;
};

}  // namespace gputomo::capture
