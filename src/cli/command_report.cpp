#include "cli/command.hpp"
#include "cli/devices.hpp"
#include "cli/report_page.hpp"
#include "machine/json.hpp"
#include "report/compare/page.hpp"
#include "scan/files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

/// More columns than these nobody reads.
constexpr int kMostMachines = 10;

struct ReportOptions {
    std::vector<std::string> files;
    std::string out = "report.html";
};

/// What the file says that it is; empty where it says nothing. The readers complain of what is no JSON.
std::string schema_of(const std::string& file) {
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    return json.is_object() && json.contains("schema") && json["schema"].is_string() ? json["schema"].get<std::string>() : "";
}

/// A machine and what its page shows beside it: of a scan.json, a machine description, or one that is built in ("sim:gtx280").
struct Loaded {
    machine::Machine machine;
    report::Page page;
};

Loaded load(const std::string& file) {
    Loaded loaded;
    if (!file.starts_with("sim:") && schema_of(file) == scan::kScanSchema) {
        const auto scan = scan::load_scan(file);
        return {scan::describe(scan), page_of(scan)};
    }
    loaded.machine = file.starts_with("sim:") ? simulated_machine(file) : machine::load(file);
    loaded.page.device = loaded.machine.identity.name.value_or(std::filesystem::path(file).stem().string());
    return loaded;
}

int report_files(const ReportOptions& options) {
    scan::check_writable_file(options.out);
    std::vector<std::pair<std::string, machine::Machine>> machines;
    Loaded loaded;
    for (const auto& file : options.files) {
        loaded = load(file);
        machines.emplace_back(loaded.page.device, loaded.machine);
    }
    loaded.page.earlier = generation_before(loaded.machine);
    scan::write_file(options.out, machines.size() == 1 ? report::html(loaded.machine, loaded.page) : report::comparison(machines));
    return 0;
}

}  // namespace

void add_report(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<ReportOptions>();
    auto* command = parent.add_subcommand("report", "Make the report of a scan.json or a machine description, or compare up to ten");
    command->add_option("file", options->files, "scan.json, a machine description, or sim:NAME; several are put side by side")->required()->expected(1, kMostMachines);
    command->add_option("--out", options->out, "HTML file to write")->capture_default_str();
    command->callback([&action, options] { action = [options] { return report_files(*options); }; });
}

}  // namespace gputomo::cli
