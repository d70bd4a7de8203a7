#include "cli/app.hpp"

#include "cli/command.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/version.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace gputomo::cli {
namespace {

int report(int code, const std::exception& e) {
    fmt::print(stderr, "gputomo: {}\n", e.what());
    return code;
}

/// Names the unknown command and those that exist. CLI11 alone reports only that a command is required.
std::string usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, const char* const* argv) {
    const CLI::App* deepest = &app;
    int depth = 1;
    while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front(), ++depth;
    const auto choices = deepest->get_subcommands([](const CLI::App*) { return true; });
    if (choices.empty() || dynamic_cast<const CLI::RequiredError*>(&e) == nullptr) return e.what();
    std::vector<std::string> names;
    for (const auto* choice : choices) names.push_back(choice->get_name());
    const std::string found = depth < argc ? fmt::format("no command '{}'", argv[depth]) : "no command given";
    return fmt::format("{}; expected one of {}", found, fmt::join(names, ", "));
}

}  // namespace

int run(int argc, const char* const* argv) {
    CLI::App app("gputomo sees inside a GPU by timing it.", "gputomo");
    app.require_subcommand(1);
    app.set_version_flag("--version", fmt::format("{} ({})", kVersion, commit()));
    Action action;
    for (const auto add : kCommands) add(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);
        fmt::print(stderr, "gputomo: {}\nRun with --help to see the commands and options.\n",
                   usage_error(app, e, argc, argv));
        return kBadInput;
    }
    try {
        const int code = action();
        if (std::fflush(stdout) != 0) throw Error("standard output cannot be written");
        return code;
    } catch (const InputError& e) {
        return report(kBadInput, e);
    } catch (const TimeLimitError& e) {
        return report(kTimeLimit, e);
    } catch (const DeviceError& e) {
        return report(kDeviceFailed, e);
    } catch (const Interrupted& e) {
        return report(kInterrupted, e);
    } catch (const std::exception& e) {
        return report(kFailed, e);
    }
}

}  // namespace gputomo::cli
