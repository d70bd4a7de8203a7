#include "cli/manual/outline.hpp"
#include "cli/options.hpp"
#include "cli/terminal/messages.hpp"

#include <fmt/format.h>

namespace gputomo::cli {

void add_manual(CLI::App& parent, Action& action) {
    Command manual(parent, "manual", "Print the manual page or the shell completion");
    manual.require_subcommand();
    const auto add = [&](const std::string& name, const std::string& help,
                         std::string (*text)(const std::vector<OutlineCommand>&)) {
        Command(manual, name, help).runs(action, [&parent, text] {
            out::print("{}", text(outline(parent)));
            return 0;
        });
    };
    add("man", "Print the manual page for man(1)", man_page);
    add("bash", "Print the completion script, for bash to source", bash_completion);
    add("zsh", "Print the completion script for zsh", zsh_completion);
    add("fish", "Print the completion script, for fish to source", fish_completion);
}

}  // namespace gputomo::cli
