#include "cli/manual/outline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace gputomo::cli {
namespace zsh {
namespace {

/// The start and the end of the script. The words of the commands and `_arguments` for each stand between them. A file
/// on the `fpath` is run as the function at its first use; a sourced one only registers it.
constexpr std::string_view kFirstLines = R"sh(#compdef gputomo
# zsh completion for gputomo, made by `gputomo manual zsh`.
_gputomo() {
    local -a choices
    local command=$words[2]
)sh";
constexpr std::string_view kLastLines = R"sh(}
if [[ $funcstack[1] == _gputomo ]]; then _gputomo "$@"
elif (( $+functions[compdef] )); then compdef _gputomo gputomo; fi
)sh";

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

/// A backslash before each of the characters, which part the specifications of zsh's functions.
std::string escaped(std::string_view text, std::string_view characters) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || characters.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

/// "name:action" of a value: its words, where there are any, or else a file.
std::string value(const OutlineCommand& command, const OutlineOption& option) {
    std::vector<std::string> words;
    for (const auto& word : words_of(command, option)) words.push_back(escaped(word, ":"));
    const auto name = option.positional ? option.name : option.name.substr(2);
    if (words.empty()) return name + ":_files";
    if (option.several && !option.positional)
        return fmt::format("{}:{{_sequence compadd - {}}}", name, fmt::join(words, " "));
    return fmt::format("{}:({})", name, fmt::join(words, " "));
}

std::string specification(const OutlineCommand& command, const OutlineOption& option) {
    if (option.positional) return in_quotes(fmt::format("*:{}", value(command, option)));
    const auto help = escaped(option.help, "[]");
    if (!option.takes_value) return in_quotes(fmt::format("{}[{}]", option.name, help));
    return in_quotes(fmt::format("{}{}=[{}]:{}", option.several ? "*" : "", option.name, help, value(command, option)));
}

std::string arguments_case(const OutlineCommand& command) {
    std::string out;
    bool has_positional = false;
    for (const auto& option : command.options) {
        if (option.positional && has_positional) continue;  // all positional arguments are completed as the first
        has_positional = has_positional || option.positional;
        out += " \\\n            " + specification(command, option);
    }
    return fmt::format("        ({}) _arguments{} ;;\n", in_quotes(command.name), out);
}

/// Offers the words, each "word:help", where the cursor is at this word of the line.
std::string describe(const std::string& condition, const std::vector<std::string>& words) {
    return fmt::format(
        "    if {}; then\n        choices=({})\n        _describe command choices\n        return\n    fi\n", condition,
        fmt::join(words, " "));
}

}  // namespace
}  // namespace zsh

std::string zsh_completion(const std::vector<OutlineCommand>& commands) {
    std::vector<std::string> first;
    std::set<std::string> seen;
    std::map<std::string, std::vector<std::string>> followers;
    std::string cases;
    for (const auto& command : commands) {
        const auto space = command.name.find(' ');
        const auto word = command.name.substr(0, space);
        const auto help = zsh::escaped(command.help, ":");
        const bool alone = space == std::string::npos;
        if (seen.insert(word).second) first.push_back(zsh::in_quotes(alone ? word + ":" + help : word));
        if (!alone) followers[word].push_back(zsh::in_quotes(command.name.substr(space + 1) + ":" + help));
        cases += zsh::arguments_case(command);
    }
    std::string out(zsh::kFirstLines);
    out += zsh::describe("(( CURRENT == 2 ))", first);
    out += "    shift words; (( CURRENT-- ))\n";
    for (const auto& [word, next] : followers) {
        out += zsh::describe(fmt::format("[[ $command == {} ]] && (( CURRENT == 2 ))", word), next);
        out += fmt::format(
            "    if [[ $command == {} ]]; then command+=\" $words[2]\"; shift words; (( CURRENT-- )); fi\n", word);
    }
    return out + "    case $command in\n" + cases + "    esac\n" + std::string(zsh::kLastLines);
}

}  // namespace gputomo::cli
