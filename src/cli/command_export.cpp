#include "cli/inputs/machines.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "exports/exports.hpp"
#include "machine/json.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

struct ExportArguments {
    std::string format, file;
};

int print_export(const ExportArguments& arguments) {
    const auto machine = machine_named(arguments.file);
    for (const auto& format : exports::catalogue())
        if (format.name == arguments.format) out::print("{}", format.text(machine));
    return 0;
}

}  // namespace

void add_export(CLI::App& parent, Action& action) {
    const auto arguments = std::make_shared<ExportArguments>();
    Command command(parent, "export", "Print a machine description in the form that another program reads");
    std::vector<std::string> names;
    std::string help = "format:";
    for (const auto& format : exports::catalogue()) {
        names.emplace_back(format.name);
        help += fmt::format(" {} ({});", format.name, format.title);
    }
    help.pop_back();
    command.add_option("--to", arguments->format, help).required().member_of(names);
    command.add_option("machine", arguments->file, kMachineHelp).required();
    command.runs(action, [arguments] { return print_export(*arguments); });
}

}  // namespace gputomo::cli
