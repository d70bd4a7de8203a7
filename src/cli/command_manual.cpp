#include "cli/command.hpp"
#include "cli/manual/outline.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gputomo::cli {

void add_manual(CLI::App& parent, Action& action) {
    auto* manual = parent.add_subcommand("manual", "Print the manual page or the shell completion");
    manual->require_subcommand(1);
    const auto add = [&](const std::string& name, const std::string& help,
                         std::string (*text)(const std::vector<OutlineCommand>&)) {
        manual->add_subcommand(name, help)->callback([&action, &parent, text] {
            action = [&parent, text] {
                fmt::print("{}", text(outline(parent)));
                return 0;
            };
        });
    };
    add("man", "Print the manual page for man(1)", man_page);
    add("bash", "Print the completion script, for bash to source", bash_completion);
}

}  // namespace gputomo::cli
