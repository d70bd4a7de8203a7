#include "cli/machines_beside.hpp"

#include "cli/inputs/origin.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The launches on one GPU.
struct MachineRow {
    std::string machine, gpu, refused;
    double cycles = 0, microseconds = 0;
    std::string limiter;  ///< of the launch that takes longest
    std::set<std::string> warnings;
    std::optional<double> ratio;  ///< of the first row's time to this one's
};

MachineRow machine_row_of(const std::string& machine, const AnswersOn& answers) {
    MachineRow row;
    row.machine = machine;
    double longest = -1;
    try {
        for (const auto& answer : answers(machine)) {
            row.gpu = answer.gpu;
            row.cycles += answer.time.cycles;
            row.microseconds += answer.time.microseconds;
            row.warnings.insert(answer.warnings.begin(), answer.warnings.end());
            if (answer.time.cycles <= longest) continue;
            longest = answer.time.cycles;
            row.limiter = answer.limiter ? answer.limiter->resource : "";
        }
    } catch (const Error& error) {
        row.refused = error.what();
    }
    return row;
}

Json machine_json_of(const MachineRow& row) {
    if (!row.refused.empty()) return {{"machine", row.machine}, {"refused", row.refused}};
    return {{"machine", row.machine},
            {"gpu", row.gpu},
            {"cycles", row.cycles},
            {"microseconds", row.microseconds},
            {"times_as_fast_as_first", row.ratio ? Json(*row.ratio) : Json()},
            {"limiter", row.limiter},
            {"warnings", row.warnings}};
}

}  // namespace

std::vector<std::string> machine_names(const std::string& text) {
    if (std::filesystem::exists(text)) return {text};
    std::vector<std::string> names;
    std::istringstream in(text);
    for (std::string name; std::getline(in, name, ',');) {
        if (name.empty())
            throw InputError(fmt::format("--machine {}: expected a name before and after each comma", text));
        names.push_back(name);
    }
    return names;
}

int print_machines_beside(const std::vector<std::string>& machines, const AnswersOn& answers, bool json) {
    std::vector<MachineRow> rows;
    const MachineRow* first = nullptr;
    rows.reserve(machines.size());
    for (const auto& machine : machines) {
        rows.push_back(machine_row_of(machine, answers));
        MachineRow& row = rows.back();
        if (!row.refused.empty() || row.microseconds <= 0) continue;
        if (first == nullptr) first = &row;
        row.ratio = first->microseconds / row.microseconds;
    }
    const int code = first == nullptr ? kFailed : kDone;
    if (json) {
        Json all = Json::array();
        for (const MachineRow& row : rows) all.push_back(machine_json_of(row));
        print_json({{"schema", "gputomo-machines-beside-1"}, {"machines", all}}, origin_of_command());
        return code;
    }
    std::size_t width = 7;
    for (const MachineRow& row : rows) width = std::max(width, row.machine.size());
    std::string text = fmt::format("{:<{}}  {:>12}  {:>12}  {:>16}  limited by\n", "machine", width, "cycles",
                                   "microseconds", "times as fast as");
    for (const MachineRow& row : rows) {
        if (!row.refused.empty())
            text += fmt::format("{:<{}}  refused: {}\n", row.machine, width, row.refused);
        else
            text += fmt::format("{:<{}}  {:>12.0f}  {:>12.3f}  {:>16}  {}\n", row.machine, width, row.cycles,
                                row.microseconds, row.ratio ? fmt::format("{} {:.2f}", first->machine, *row.ratio) : "",
                                row.limiter.empty() ? "?" : row.limiter);
    }
    for (const MachineRow& row : rows)
        for (const auto& warning : row.warnings) text += fmt::format("warning: {}: {}\n", row.machine, warning);
    out::print_text(text);
    return code;
}

}  // namespace gputomo::cli
