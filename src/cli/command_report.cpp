#include "cli/command.hpp"
#include "cli/report_page.hpp"
#include "machine/json.hpp"
#include "scan/files.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <memory>

namespace gputomo::cli {
namespace {

struct ReportOptions {
    std::string file;
    std::string out = "report.html";
};

/// What the file says that it is; empty where it says nothing. The readers complain of what is no JSON.
std::string schema_of(const std::string& file) {
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    return json.is_object() && json.contains("schema") && json["schema"].is_string() ? json["schema"].get<std::string>() : "";
}

int report_file(const ReportOptions& options) {
    scan::check_writable_file(options.out);
    machine::Machine machine;
    report::Page page;
    if (schema_of(options.file) == scan::kScanSchema) {
        const auto scan = scan::load_scan(options.file);
        machine = scan::describe(scan);
        page = page_of(scan);
    } else {
        machine = machine::load(options.file);
        page.device = machine.identity.name.value_or(std::filesystem::path(options.file).stem().string());
    }
    scan::write_file(options.out, report::html(machine, page));
    return 0;
}

}  // namespace

void add_report(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<ReportOptions>();
    auto* command = parent.add_subcommand("report", "Make the report of a scan.json, or of a machine description alone");
    command->add_option("file", options->file, "scan.json or a machine description")->required();
    command->add_option("--out", options->out, "HTML file to write")->capture_default_str();
    command->callback([&action, options] { action = [options] { return report_file(*options); }; });
}

}  // namespace gputomo::cli
