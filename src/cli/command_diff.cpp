#include "cli/inputs/machines.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "machine/diff.hpp"
#include "machine/json.hpp"

#include <fmt/format.h>

#include <memory>

namespace gputomo::cli {
namespace {

struct DiffArguments {
    std::string a, b;
    double tolerance = 0;
    bool strict = false;
};

/// Says where and when a description was measured, which is no difference.
void print_origin(std::string_view which, const machine::Machine& machine) {
    if (machine.origin) out::print("{:<10} {}\n", which, results::summary(*machine.origin));
}

int print_diff(const DiffArguments& arguments) {
    const auto a = machine_named(arguments.a), b = machine_named(arguments.b);
    print_origin("first", a);
    print_origin("second", b);
    const auto result = machine::diff(a, b, {.tolerance = arguments.tolerance});
    for (const auto& row : result.differing) {
        const auto [first, second] = machine::value_texts(row);
        out::print("differs    {:<44} {} | {} {}\n", row.path, first, second, machine::unit_name(row.unit));
    }
    for (const auto& path : result.undecided) out::print("undecided  {}\n", path);
    for (const auto& path : result.only_a) out::print("only first {}\n", path);
    for (const auto& path : result.only_b) out::print("only second {}\n", path);
    out::print("{} equal, {} differ, {} undecided, {} only in the first, {} only in the second\n", result.equal,
               result.differing.size(), result.undecided.size(), result.only_a.size(), result.only_b.size());
    const bool extra = arguments.strict && !(result.only_a.empty() && result.only_b.empty());
    return result.differing.empty() && !extra ? 0 : 1;
}

}  // namespace

void add_diff(CLI::App& parent, Action& action) {
    const auto arguments = std::make_shared<DiffArguments>();
    Command command(parent, "diff",
                    "List the values that differ between two machine descriptions; exits with 1 where one does");
    command.add_option("a", arguments->a, kMachineHelp).required();
    command.add_option("b", arguments->b, kMachineHelp).required();
    command
        .add_option("--tolerance", arguments->tolerance,
                    "largest relative difference of two numbers that count as equal, 0.05 for 5%")
        .non_negative();
    command.add_flag("--strict", arguments->strict, "also count values that only one description has as differences");
    command.runs(action, [arguments] { return print_diff(*arguments); });
}

}  // namespace gputomo::cli
