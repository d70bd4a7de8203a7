#include "cli/manual/outline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace gputomo::cli {
namespace {

/// The start and the end of the script; the words of the commands stand between them. Bash splits words at colons and
/// does not split lists at commas. The script therefore reads the word under the cursor from the line itself, and
/// removes what stands before the word's last colon from each completion.
constexpr std::string_view kFirstLines = R"sh(# bash completion for gputomo, made by `gputomo manual bash`.
_gputomo() {
    local line=${COMP_LINE:0:COMP_POINT} words current previous command choices="" list
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    local last=$((${#words[@]} - 1))
    current=${words[last]} previous=${words[last - 1]} command=${words[1]}
    [[ " $_gputomo_groups " == *" $command "* && $last -gt 2 ]] && command+=" ${words[2]}"
    COMPREPLY=()
)sh";
constexpr std::string_view kLastLines = R"sh(    list=${current%"${current##*,}"}
    if [[ -n $choices ]]; then COMPREPLY=($(compgen -P "$list" -W "$choices" -- "${current##*,}"))
    else COMPREPLY=($(compgen -f -- "$current")); fi
    [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*:}"}"}")
}
complete -o filenames -F _gputomo gputomo
)sh";

void append(std::string& words, const std::string& word) {
    if (!words.empty()) words += ' ';
    words += word;
}

std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

/// "scan", "list"; and what follows "list".
std::string choices_of_commands(const std::vector<OutlineCommand>& commands, std::string& groups) {
    std::set<std::string> seen;
    std::string first, cases;
    std::vector<std::pair<std::string, std::string>> followers;
    for (const auto& command : commands) {
        const auto word = first_word(command.name);
        if (seen.insert(word).second) append(first, word);
        if (word == command.name) continue;
        if (followers.empty() || followers.back().first != word) followers.emplace_back(word, "");
        append(followers.back().second, command.name.substr(word.size() + 1));
    }
    for (const auto& [word, next] : followers) {
        append(groups, word);
        cases += fmt::format("    elif [[ $last -eq 2 && $command == {} ]]; then choices=\"{}\"\n", word, next);
    }
    return fmt::format("    if [[ $last -le 1 ]]; then choices=\"{}\"\n{}", first, cases);
}

/// The words of an option's value; none where any file or number may stand.
std::string value_case(const OutlineCommand& command, const OutlineOption& option) {
    return fmt::format("        \"{} {}\") choices=\"{}\" ;;\n", command.name, option.name,
                       fmt::join(words_of(command, option), " "));
}

std::string option_case(const OutlineCommand& command) {
    std::vector<std::string> options, words;
    for (const auto& option : command.options) {
        if (!option.positional)
            options.push_back(option.name);
        else if (const auto own = words_of(command, option); !own.empty())
            words.insert(words.end(), own.begin(), own.end());
    }
    return fmt::format("        \"{}\") if [[ $current == -* ]]; then choices=\"{}\"; else choices=\"{}\"; fi ;;\n",
                       command.name, fmt::join(options, " "), fmt::join(words, " "));
}

}  // namespace

std::string bash_completion(const std::vector<OutlineCommand>& commands) {
    std::string groups, values, options;
    const auto first = choices_of_commands(commands, groups);
    for (const auto& command : commands) {
        options += option_case(command);
        for (const auto& option : command.options)
            if (!option.positional && option.takes_value) values += value_case(command, option);
    }
    return fmt::format(
        "{}{}    else case \"$command $previous\" in\n{}        *) case \"$command\" in\n{}        esac ;;\n    esac; "
        "fi\n{}_gputomo_groups=\"{}\"\n",
        kFirstLines, first, values, options, kLastLines, groups);
}

}  // namespace gputomo::cli
