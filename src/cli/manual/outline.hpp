// The command line as data, read from the options that the commands register. The manual page and the shell completion
// are made from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gputomo::cli {

struct OutlineOption {
    std::string name;  ///< "--device", or "paper" for a positional argument
    std::string help;
    std::string fallback;  ///< the default value; empty for none
    bool positional = false;
    bool takes_value = false;
    bool required = false;
    bool several = false;  ///< whether it may have more than one value
};

struct OutlineCommand {
    std::string name;  ///< "scan", "list devices"
    std::string help;
    std::vector<OutlineOption> options;
};

/// Every command that can be run, in the order of registration. Subcommands stand in place of a command that has them.
[[nodiscard]] std::vector<OutlineCommand> outline(const CLI::App& app);

/// The words that an argument can be, from the catalogues of devices, experiments, papers and export formats. Empty
/// where the argument is a file or a number.
[[nodiscard]] std::vector<std::string> words_of(const OutlineCommand& command, const OutlineOption& option);

/// Writes a page for man(1).
[[nodiscard]] std::string man_page(const std::vector<OutlineCommand>& commands);

/// Writes a completion script for bash to source.
[[nodiscard]] std::string bash_completion(const std::vector<OutlineCommand>& commands);

/// Writes a completion script for zsh to source, or to find as _gputomo on its `fpath`.
[[nodiscard]] std::string zsh_completion(const std::vector<OutlineCommand>& commands);

/// Writes a completion script for fish to source.
[[nodiscard]] std::string fish_completion(const std::vector<OutlineCommand>& commands);

}  // namespace gputomo::cli
