#include "predict/static/listing.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <utility>

namespace gputomo::predict {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; }

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

bool all_digits(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether the text is the prefix followed by a number: "R12", "UR4", "P0", "UP1".
bool is_numbered(std::string_view text, std::string_view prefix) {
    return text.starts_with(prefix) && all_digits(text.substr(prefix.size()));
}
bool is_register(std::string_view text) { return is_numbered(text, "R") || is_numbered(text, "UR"); }
bool is_predicate(std::string_view text) { return is_numbered(text, "P") || is_numbered(text, "UP"); }
bool is_constant_register(std::string_view text) { return text == "RZ" || text == "URZ"; }
bool is_constant_predicate(std::string_view text) { return text == "PT" || text == "UPT"; }

/// The name at the start of an operand, without suffixes such as ".64" and ".reuse".
std::string_view base_name(std::string_view text) { return text.substr(0, std::min(text.find('.'), text.size())); }

ListedOperand memory_operand(std::string_view text) {
    ListedOperand operand{.kind = ListedOperand::Kind::memory, .text = std::string(text), .reg = {}, .also = {}};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < text.size();) {
        if (!is_word(text[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        const std::string_view word = text.substr(i, end - i);
        if (is_register(base_name(word))) {
            names.emplace_back(base_name(word));
            operand.wide = operand.wide || (word.find(".64") != std::string_view::npos && word.front() == 'R');
        }
        i = end;
    }
    // The last register that is not uniform holds the base address; the others are added to it.
    for (auto& name : names) {
        if (operand.reg.empty() || (operand.reg.front() == 'U' && name.front() == 'R')) std::swap(operand.reg, name);
        if (!name.empty()) operand.also.push_back(name);
    }
    return operand;
}

ListedOperand operand_from(std::string_view text) {
    if (text.find('[') != std::string_view::npos && !text.starts_with("c[") && !text.starts_with("-c[") &&
        !text.starts_with("|c["))
        return memory_operand(text);
    ListedOperand operand{.kind = ListedOperand::Kind::other, .text = std::string(text), .reg = {}, .also = {}};
    std::string_view name = text;
    while (!name.empty() && (name.front() == '-' || name.front() == '|' || name.front() == '!' || name.front() == '~' ||
                             name.front() == '+'))
        name.remove_prefix(1);
    operand.wide = name.find(".64") != std::string_view::npos;
    name = base_name(name.substr(0, std::min(name.find('|'), name.size())));
    if (is_register(name) || is_constant_register(name)) operand.kind = ListedOperand::Kind::reg;
    if (is_predicate(name) || is_constant_predicate(name)) operand.kind = ListedOperand::Kind::predicate;
    if (is_register(name) || is_predicate(name)) operand.reg = name;
    return operand;
}

/// Splits the text at commas outside brackets.
std::vector<std::string_view> split_operands(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ',';
        if (c == '[' || c == '(' || c == '{') ++depth;
        if (c == ']' || c == ')' || c == '}') --depth;
        if (c != ',' || (depth > 0 && i < text.size())) continue;
        if (const auto part = trimmed(text.substr(start, i - start)); !part.empty()) parts.push_back(part);
        start = i + 1;
    }
    return parts;
}

class Parser {
public:
    explicit Parser(std::string_view origin) : origin_(origin) {}

    std::vector<ListedFunction> parse(std::string_view text) {
        while (!text.empty()) {
            ++line_;
            const auto end = std::min(text.find('\n'), text.size());
            read_line(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return std::move(functions_);
    }

private:
    [[noreturn]] void fail(std::string_view what, std::string_view line) const {
        throw InputError(fmt::format("{}:{}: {}\n    {}", origin_, line_, what, line));
    }

    void start(std::string_view name) { functions_.emplace_back().name = name; }
    ListedFunction& function() {
        if (functions_.empty()) start("");
        return functions_.back();
    }

    void read_line(std::string_view raw) {
        std::optional<std::uint64_t> address;
        const std::string without = without_comments(raw, address);
        std::string_view line = trimmed(without);
        if (line.empty()) return;
        if (const auto at = line.find("Function :"); at != std::string_view::npos)
            return start(trimmed(line.substr(at + 10)));
        // Headings and ELF fields ("host = linux") are no code.
        if (line.starts_with("code for") || line.starts_with("Fatbin") || line.starts_with("//") ||
            line.find('=') != std::string_view::npos)
            return;
        if (line.starts_with(".text.") && line.back() == ':') return start(line.substr(6, line.size() - 7));
        if (line.back() == ':') return add_label(line.substr(0, line.size() - 1));
        if (line.front() == '.') return;  // directives
        while (!line.empty() && (line.front() == '{' || line.front() == '}'))
            line = trimmed(line.substr(1));  // dual-issue marks of Kepler and Maxwell
        while (!line.empty() && (line.back() == ';' || line.back() == '}' || line.back() == ' ')) line.remove_suffix(1);
        if (!line.empty()) add_instruction(line, address, raw);
    }

    /// The line without its comments. A leading comment that holds a number in hexadecimal sets `address`.
    [[nodiscard]] static std::string without_comments(std::string_view line, std::optional<std::uint64_t>& address) {
        std::string left;
        while (!line.empty()) {
            const auto open = line.find("/*");
            left += line.substr(0, open);
            if (open == std::string_view::npos) break;
            const auto close = line.find("*/", open);
            const std::string_view comment =
                line.substr(open + 2, close == std::string_view::npos ? std::string_view::npos : close - open - 2);
            if (!address && trimmed(left).empty() && comment.size() <= 16) address = hexadecimal(comment);
            if (close == std::string_view::npos) break;
            line.remove_prefix(close + 2);
        }
        return left;
    }

    [[nodiscard]] static std::optional<std::uint64_t> hexadecimal(std::string_view text) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
        return value;
    }

    void add_label(std::string_view label) {
        const std::string name(trimmed(label));
        if (name.empty()) fail("a label without a name; expected NAME:", label);
        if (!function().labels.emplace(name, function().instructions.size()).second)
            fail(fmt::format("label '{}' is placed twice; expected another name", name), label);
    }

    void add_instruction(std::string_view line, std::optional<std::uint64_t> address, std::string_view raw) {
        ListedInstruction instruction{.line = line_,
                                      .address = address,
                                      .guard = {},
                                      .opcode = {},
                                      .modifiers = {},
                                      .operands = {},
                                      .text = std::string(line)};
        if (line.front() == '@') {
            const auto space = line.find_first_of(" \t");
            if (space == std::string_view::npos) fail("a guard without an instruction; expected @P OPCODE ...", raw);
            std::string_view guard = line.substr(1, space - 1);
            if (!guard.empty() && guard.front() == '!') guard.remove_prefix(1);
            if (!is_predicate(guard) && !is_constant_predicate(guard))
                fail(fmt::format("found the guard '{}'; expected a predicate register", guard), raw);
            if (is_predicate(guard)) instruction.guard = guard;
            line = trimmed(line.substr(space));
        }
        std::size_t end = 0;
        while (end < line.size() && is_word(line[end])) ++end;
        read_opcode(line.substr(0, end), instruction, raw);
        for (const auto part : split_operands(line.substr(end))) instruction.operands.push_back(operand_from(part));
        function().instructions.push_back(std::move(instruction));
    }

    void read_opcode(std::string_view text, ListedInstruction& to, std::string_view raw) const {
        const auto dot = std::min(text.find('.'), text.size());
        to.opcode = text.substr(0, dot);
        const bool fits = !to.opcode.empty() && to.opcode.front() >= 'A' && to.opcode.front() <= 'Z' &&
                          std::all_of(to.opcode.begin(), to.opcode.end(), [](char c) {
                              return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
                          });
        if (!fits)
            fail(
                fmt::format(
                    "found '{}'; expected an instruction of machine code, a label, or the heading of a function", text),
                raw);
        for (auto at = dot; at < text.size();) {
            const auto next = std::min(text.find('.', at + 1), text.size());
            to.modifiers.emplace_back(text.substr(at + 1, next - at - 1));
            at = next;
        }
    }

    std::string_view origin_;
    int line_ = 0;
    std::vector<ListedFunction> functions_;
};

}  // namespace

std::vector<ListedFunction> parse_listing(std::string_view text, std::string_view origin) {
    return Parser(origin).parse(text);
}

bool is_listing(std::string_view text) {
    return text.find(".version") == std::string_view::npos && text.find(".entry") == std::string_view::npos;
}

}  // namespace gputomo::predict
