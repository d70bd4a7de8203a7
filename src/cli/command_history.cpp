#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "files/output_file.hpp"
#include "history/history.hpp"
#include "machine/json.hpp"
#include "machine/origin_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct HistoryArguments {
    std::string file = "scan/history.sqlite";
    std::string add, specimen, time, leaf;  ///< the values of these options; empty where not given
    bool changes = false, outliers = false, json = false;
};

Json entry_json(const history::Entry& entry) {
    return {{"scan", entry.id}, {"time", entry.time}, {"gpu", entry.kind}, {"specimen", entry.specimen}};
}

std::string entry_text(const history::Entry& entry) {
    return out::one_line(fmt::format("{}  {}  {}", entry.time, entry.kind, entry.specimen));
}

void print_rows(std::string_view what, const Json& rows) {
    print_json(Json{{"schema", "gputomo-history-1"}, {what, rows}}, origin_of_command());
}

/// Where the scan was made, as its description says.
Json with_origin(Json row, const machine::Machine& machine) {
    if (machine.origin) row["measured"] = machine::origin_json(*machine.origin);
    return row;
}

/// What made a scan, for a line of text; empty where its description does not say.
std::string made_by(const machine::Machine& machine) {
    if (!machine.origin) return {};
    const auto& origin = *machine.origin;
    const bool has_driver = origin.gpu && !origin.gpu->driver.empty();
    return fmt::format("  gputomo {} ({}){}", origin.version, origin.commit,
                       has_driver ? ", driver " + origin.gpu->driver : std::string());
}

int add_scan_file(const HistoryArguments& arguments) {
    files::refuse_inputs("--db", arguments.file, files_of({arguments.add}));
    files::check_writable_file(arguments.file);
    const auto machine = machine_named(arguments.add);
    history::History history(arguments.file);
    const auto measured = machine.origin ? machine.origin->date : std::string();
    const auto entry = history.add(machine, {arguments.specimen, arguments.time.empty() ? measured : arguments.time});
    out::print("added      {}\n", entry_text(entry));
    return 0;
}

int print_entries(const history::History& history, bool json) {
    Json rows = Json::array();
    for (const auto& entry : history.entries()) {
        const auto machine = history.machine(entry.id);
        rows.push_back(with_origin(entry_json(entry), machine));
        if (!json) out::print("{}{}\n", entry_text(entry), made_by(machine));
    }
    if (json) print_rows("scans", rows);
    return 0;
}

int print_series(const history::History& history, const std::string& path, bool json) {
    Json rows = Json::array();
    const auto points = history.series(path);
    for (const auto& point : points) {
        Json row = entry_json(point.entry);
        row["value"] = machine::value_text(point.leaf);
        if (const auto& interval = point.leaf.provenance.interval) row["interval"] = *interval;
        rows.push_back(row);
        if (!json) out::print("{:<60} {}\n", entry_text(point.entry), machine::value_text(point.leaf));
    }
    if (json) print_rows("series", rows);
    if (points.empty()) out::say("no scan of this history has a value at {}", path);
    return 0;
}

std::string made_line(std::string_view when, const machine::Machine& machine) {
    return machine.origin ? fmt::format("  {:<6} {}\n", when, results::summary(*machine.origin)) : std::string();
}

int print_changes(const history::History& history, bool json) {
    Json rows = Json::array();
    bool changed = false;
    for (const auto& [before, after, diff, repeatable] : history.changes()) {
        if (!json)
            out::print("{} -> {}: {} equal, {} within repeatability, {} differ\n{}{}", entry_text(before), after.time,
                       diff.equal, repeatable.size(), diff.differing.size(),
                       made_line("before", history.machine(before.id)), made_line("after", history.machine(after.id)));
        for (const auto& row : diff.differing) {
            changed = true;
            Json cells = entry_json(after);
            const auto [was, is] = machine::value_texts(row);
            cells["path"] = row.path, cells["before"] = was, cells["after"] = is;
            rows.push_back(cells);
            if (!json) out::print("  {:<44} {} -> {} {}\n", row.path, was, is, machine::unit_name(row.unit));
        }
    }
    if (json) print_rows("changes", rows);
    return changed ? 1 : 0;
}

int print_outliers(const history::History& history, bool json) {
    Json rows = Json::array();
    const auto outliers = history.outliers();
    for (const auto& outlier : outliers) {
        Json row = entry_json(outlier.entry);
        row["path"] = outlier.path, row["value"] = machine::value_text(outlier.leaf), row["fleet"] = outlier.fleet;
        rows.push_back(row);
        if (!json)
            out::print("{}\n  {:<44} {}; the others: {}\n", entry_text(outlier.entry), outlier.path,
                       machine::value_text(outlier.leaf), outlier.fleet);
    }
    if (json) print_rows("outliers", rows);
    return outliers.empty() ? 0 : 1;
}

int show(const HistoryArguments& arguments) {
    if (!arguments.add.empty()) return add_scan_file(arguments);
    const history::History history(arguments.file, true);
    if (!arguments.leaf.empty()) return print_series(history, arguments.leaf, arguments.json);
    if (arguments.changes) return print_changes(history, arguments.json);
    if (arguments.outliers) return print_outliers(history, arguments.json);
    return print_entries(history, arguments.json);
}

}  // namespace

void add_history(CLI::App& parent, Action& action) {
    const auto arguments = std::make_shared<HistoryArguments>();
    Command command(parent, "history",
                    "Keep scans in a file, and compare a GPU with its earlier scans and with others of its kind");
    command.add_option("--db", arguments->file, "history file (SQLite), made by the first --add").capture_default_str();
    auto add = command.add_option("--add", arguments->add, "machine.json or scan.json[.gz] to add; needs --specimen");
    auto specimen = command
                        .add_option("--specimen", arguments->specimen,
                                    "name of this GPU among others of its kind, such as its UUID")
                        .needs(add);
    add.needs(specimen);
    command
        .add_option("--time", arguments->time,
                    "time of the scan in UTC, as 2026-11-21T10:44:49Z (default: the date in the file, or now)")
        .needs(add);
    auto leaf = command
                    .add_option("--leaf", arguments->leaf,
                                "show one value of the description in every scan, such as caches.l1.latency")
                    .excludes(add);
    auto changes =
        command
            .add_flag("--changes", arguments->changes,
                      "show what changed between the last two scans of each GPU by more than between earlier scans; "
                      "exits with 1 where something did")
            .excludes(add)
            .excludes(leaf);
    command
        .add_flag("--outliers", arguments->outliers,
                  "show values that differ from those of the other GPUs of a kind by more than their interval; exits "
                  "with 1 where one does")
        .excludes(add)
        .excludes(leaf)
        .excludes(changes);
    command.add_flag("--json", arguments->json, "print JSON instead of text").excludes(add);
    command.runs(action, [arguments] { return show(*arguments); });
}

}  // namespace gputomo::cli
