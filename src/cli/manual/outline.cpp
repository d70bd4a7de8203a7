#include "cli/manual/outline.hpp"

#include "cli/inputs/devices.hpp"
#include "cli/inputs/papers.hpp"
#include "experiments/experiment.hpp"
#include "exports/exports.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace gputomo::cli {
namespace {

OutlineOption option_of(const CLI::Option& option) {
    OutlineOption out;
    out.positional = option.get_positional() && !option.nonpositional();
    out.name =
        out.positional || option.get_lnames().empty() ? option.get_single_name() : "--" + option.get_lnames().front();
    out.help = option.get_description();
    out.fallback = option.get_default_str();
    out.takes_value = option.get_items_expected_max() > 0;  // a flag expects none
    out.required = option.get_required();
    out.several = option.get_items_expected_max() > 1;
    return out;
}

void add(const CLI::App& app, const std::string& before, std::vector<OutlineCommand>& commands) {
    const auto children = app.get_subcommands([](const CLI::App*) { return true; });
    const auto name = before.empty() ? app.get_name() : fmt::format("{} {}", before, app.get_name());
    for (const auto* child : children) add(*child, name, commands);
    if (!children.empty()) return;
    OutlineCommand command{name, app.get_description(), {}};
    for (const auto* option : app.get_options()) command.options.push_back(option_of(*option));
    commands.push_back(std::move(command));
}

std::vector<std::string> simulated() {
    std::vector<std::string> out;
    for (const auto& name : shipped_machines()) out.push_back("sim:" + name);
    return out;
}

std::vector<std::string> devices() {
    auto out = simulated();
    out.insert(out.begin(), {"auto", "cuda:0"});
    return out;
}

template <class Range>
std::vector<std::string> ids_of(const Range& rows) {
    std::vector<std::string> out;
    for (const auto& row : rows) out.emplace_back(row.id);
    return out;
}

std::vector<std::string> experiment_ids() { return ids_of(experiments::catalogue()); }
std::vector<std::string> paper_ids() { return ids_of(shipped_papers()); }

std::vector<std::string> formats() {
    std::vector<std::string> out;
    for (const auto& format : exports::catalogue()) out.emplace_back(format.name);
    return out;
}

/// The function that lists the words of an option. An empty command stands for every command.
struct Words {
    std::string_view command;
    std::string_view option;
    std::vector<std::string> (*list)();
};
constexpr Words kWords[] = {
    {"simulate", "--device", simulated},   {"", "--device", devices},          {"", "--machine", simulated},
    {"run", "experiment", experiment_ids}, {"scan", "--only", experiment_ids}, {"reproduce", "paper", paper_ids},
    {"export", "--to", formats},
};

}  // namespace

std::vector<OutlineCommand> outline(const CLI::App& app) {
    std::vector<OutlineCommand> commands;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) add(*command, "", commands);
    return commands;
}

std::vector<std::string> words_of(const OutlineCommand& command, const OutlineOption& option) {
    for (const auto& row : kWords)
        if ((row.command.empty() || row.command == command.name) && row.option == option.name) return row.list();
    return {};
}

}  // namespace gputomo::cli
