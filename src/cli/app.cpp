#include "cli/app.hpp"

#include "cli/command.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/version.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::cli {
namespace {

int report(int code, std::string_view what) {
    out::say("gputomo: {}", what);
    return code;
}

/// What the library says of a path that it cannot look up, without the name of its own function.
std::string text_of(const std::filesystem::filesystem_error& e) {
    return fmt::format("{}: cannot be read or written: {}; expected a path that exists and is allowed to you",
                       e.path1().string(), e.code().message());
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

/// An option that ends with "=", as a script writes it whose variable is empty. CLI11 would take the next argument as
/// its value. Arguments behind "--" are those of another program.
const char* option_without_value(int argc, const char* const* argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        const std::string_view argument = argv[i];
        if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) return argv[i];
    }
    return nullptr;
}

}  // namespace

int run(int argc, const char* const* argv) {
    CLI::App app("gputomo sees inside a GPU by timing it.", "gputomo");
    app.require_subcommand(1);
    app.set_version_flag("--version", fmt::format("{} ({})", version(), commit()));
    if (const char* const option = option_without_value(argc, argv); option != nullptr)
        return report(kBadInput, fmt::format("{}: found nothing; expected a value after it", option));
    Action action;
    for (const auto add : kCommands) add(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);
        out::say("gputomo: {}\nRun with --help to see the commands and options.", usage_error(app, e, argc, argv));
        return kBadInput;
    }
    try {
        const int code = action();
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw Error("standard output cannot be written");
        return code;
    } catch (const InputError& e) {
        return report(kBadInput, e.what());
    } catch (const TimeLimitError& e) {
        return report(kTimeLimit, e.what());
    } catch (const DeviceError& e) {
        return report(kDeviceFailed, e.what());
    } catch (const Interrupted& e) {
        return report(kInterrupted, e.what());
    } catch (const std::filesystem::filesystem_error& e) {
        return report(kBadInput, text_of(e));
    } catch (const std::exception& e) {
        return report(kFailed, e.what());
    }
}

}  // namespace gputomo::cli
