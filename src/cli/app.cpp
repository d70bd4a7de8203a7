#include "cli/app.hpp"

#include "cli/command.hpp"
#include "units/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace gputomo::cli {
namespace {

enum Exit : int { kDone = 0, kFailed = 1, kBadInput = 2, kDeviceFailed = 3, kTimeLimit = 4, kInterrupted = 130 };

int report(int code, const std::exception& e) {
    fmt::print(stderr, "gputomo: {}\n", e.what());
    return code;
}

}  // namespace

int run(int argc, const char* const* argv) {
    CLI::App app("gputomo sees inside a GPU by timing it.", "gputomo");
    app.require_subcommand(1);
    app.set_version_flag("--version", GPUTOMO_VERSION);
    Action action;
    for (const auto add : kCommands) add(app, action);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? kDone : kBadInput;
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
