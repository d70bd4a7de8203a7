// The command line as data, read from the options that the commands register: what the manual and the shell completion
// are made of.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace gputomo::cli {

struct OutlineOption {
    std::string name;  ///< "--device"; of a positional argument "paper"
    std::string help;
    std::string fallback;  ///< the default; empty for none
    bool positional = false;
    bool takes_value = false;
    bool required = false;
    bool several = false;  ///< may have more than one value
};

struct OutlineCommand {
    std::string name;  ///< "scan", "list devices"
    std::string help;
    std::vector<OutlineOption> options;
};

/// Every command that can be run, in the order of their registration; of a command with subcommands those.
[[nodiscard]] std::vector<OutlineCommand> outline(const CLI::App& app);

/// Words that an argument can have, from the catalogues: devices, experiments, papers, forms. Empty where any file or
/// number may stand.
[[nodiscard]] std::vector<std::string> words_of(const OutlineCommand& command, const OutlineOption& option);

/// A page for man(1).
[[nodiscard]] std::string man_page(const std::vector<OutlineCommand>& commands);

/// A script that bash sources.
[[nodiscard]] std::string bash_completion(const std::vector<OutlineCommand>& commands);

}  // namespace gputomo::cli
