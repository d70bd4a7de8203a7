#include "cli/manual/outline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace gputomo::cli {
namespace fish {
namespace {

/// The conditions that the lines of the script name. `__gputomo_in` holds where the words before the cursor begin with
/// a command, `__gputomo_after` where they are the first words of a command and nothing else.
constexpr std::string_view kFirstLines = R"sh(# fish completion for gputomo, made by `gputomo manual fish`.
function __gputomo_in
    set -l words (commandline -opc)[2..]
    set -l length (count $argv)
    test (count $words) -ge $length; and test "$words[1..$length]" = "$argv"
end
function __gputomo_after
    set -l words (commandline -opc)[2..]
    test "$words" = "$argv"
end
)sh";

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

/// The words of a value as arguments of `complete`: with several of them, separated by commas, each is completed.
std::string choices(const OutlineCommand& command, const OutlineOption& option) {
    const auto words = words_of(command, option);
    if (words.empty()) return {};
    const auto list = fmt::format("{}", fmt::join(words, " "));
    return " -f -a " +
           in_quotes(option.several && !option.positional ? fmt::format("(__fish_append , {})", list) : list);
}

std::string option_line(const OutlineCommand& command, const OutlineOption& option) {
    const auto start = fmt::format("complete -c gputomo -n '__gputomo_in {}'", command.name);
    const auto words = choices(command, option);
    if (option.positional) return words.empty() ? "" : fmt::format("{}{}\n", start, words);
    return fmt::format("{} -l {}{}{} -d {}\n", start, option.name.substr(2), option.takes_value ? " -r" : "", words,
                       in_quotes(option.help));
}

}  // namespace
}  // namespace fish

std::string fish_completion(const std::vector<OutlineCommand>& commands) {
    std::string out(fish::kFirstLines);
    std::set<std::string> seen;
    const auto offer = [&](const std::string& after, const std::string& word, const std::string& help) {
        if (!seen.insert(fmt::format("{} {}", after, word)).second) return;
        out += fmt::format("complete -c gputomo -n '__gputomo_after{}{}' -f -a {}{}\n", after.empty() ? "" : " ", after,
                           word, help.empty() ? "" : " -d " + fish::in_quotes(help));
    };
    for (const auto& command : commands) {
        const auto space = command.name.find(' ');
        const auto first = command.name.substr(0, space);
        const bool alone = space == std::string::npos;
        offer("", first, alone ? command.help : "");
        if (!alone) offer(first, command.name.substr(space + 1), command.help);
        for (const auto& option : command.options) out += fish::option_line(command, option);
    }
    return out;
}

}  // namespace gputomo::cli
