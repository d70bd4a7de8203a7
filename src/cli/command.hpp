// The table of commands: one function and one row for each.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace gputomo::cli {

/// Each function adds its command with the options to `parent`, and sets `action` when the user chose the command. The
/// action runs it and returns the exit code.
using Action = std::function<int()>;
using AddCommand = void (*)(CLI::App& parent, Action& action);

void add_list(CLI::App& parent, Action& action);
void add_doctor(CLI::App& parent, Action& action);
void add_scan(CLI::App& parent, Action& action);
void add_run(CLI::App& parent, Action& action);
void add_show(CLI::App& parent, Action& action);
void add_diff(CLI::App& parent, Action& action);
void add_export(CLI::App& parent, Action& action);
void add_history(CLI::App& parent, Action& action);
void add_validate(CLI::App& parent, Action& action);
void add_capture(CLI::App& parent, Action& action);
void add_simulate(CLI::App& parent, Action& action);
void add_predict(CLI::App& parent, Action& action);
void add_inspect(CLI::App& parent, Action& action);
void add_measure(CLI::App& parent, Action& action);
void add_reproduce(CLI::App& parent, Action& action);
void add_accuracy(CLI::App& parent, Action& action);
void add_evaluate(CLI::App& parent, Action& action);
void add_report(CLI::App& parent, Action& action);
void add_surface(CLI::App& parent, Action& action);
void add_manual(CLI::App& parent, Action& action);

inline constexpr AddCommand kCommands[] = {
    add_list,    add_doctor,  add_scan,     add_report,    add_run,      add_show,    add_diff,
    add_history, add_export,  add_validate, add_reproduce, add_simulate, add_predict, add_inspect,
    add_capture, add_measure, add_accuracy, add_surface,   add_evaluate, add_manual,
};

}  // namespace gputomo::cli
