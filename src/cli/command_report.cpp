#include "cli/inputs/devices.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/options.hpp"
#include "cli/report_page.hpp"
#include "cli/terminal/help.hpp"
#include "compare/mixes/cusp.hpp"
#include "compare/mixes/modelled.hpp"
#include "files/output_file.hpp"
#include "machine/json.hpp"
#include "report/compare/page.hpp"
#include "scan/files.hpp"
#include "scan/gzip.hpp"
#include "scan/scan_folder.hpp"
#include "scan/surface_file.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

/// Most machines in one comparison, a chosen value: each is a column of every table, and more do not fit a screen.
constexpr int kMostMachines = 10;

struct ReportOptions {
    std::vector<std::string> files;
    std::vector<std::string> surfaces;
    std::string out = "report.html";
};

/// A machine description and what its page shows beside it. The description comes from a scan.json, a machine.json or
/// the executable ("sim:gtx280").
struct Loaded {
    machine::Machine machine;
    report::Page page;
};

/// The page of a description that no scan stands behind: it has a title and no evidence.
report::Page page_without_scan(const machine::Machine& machine, const std::string& file) {
    report::Page page;
    page.device = machine.identity.name.value_or(std::filesystem::path(file).stem().string());
    return page;
}

Loaded load(const std::string& given) {
    const auto file = std::filesystem::exists(given) ? given : with_prefix(given);
    if (file.starts_with("sim:")) {
        const auto machine = simulated_machine(file);
        return {machine, page_without_scan(machine, file)};
    }
    const auto content = content_of(file, "a scan.json or a machine description");
    if (schema_of(content) == scan::kScanSchema) {
        const auto scan = scan::scan_from_json(content, file);
        return {scan::describe(scan), page_of(scan)};
    }
    const auto machine = machine::from_json(content, file);
    return {machine, page_without_scan(machine, file)};
}

using Machines = std::vector<std::pair<std::string, machine::Machine>>;

/// Loads the surfaces. Throws InputError for one that was measured on none of the machines.
std::vector<measure::MixSurface> surfaces_of(const std::vector<std::string>& files, const Machines& machines) {
    std::vector<measure::MixSurface> surfaces;
    for (const auto& file : files) {
        surfaces.push_back(scan::load_surface(file));
        const auto& gpu = surfaces.back().gpu;
        const auto name_of = [&](const auto& named) { return named.second.identity.name.value_or(gpu); };
        if (std::ranges::none_of(machines, [&](const auto& named) { return name_of(named) == gpu; }))
            throw InputError(
                fmt::format("{}: was measured on {}; expected a surface of {}", file, gpu, name_of(machines.front())));
    }
    return surfaces;
}

/// Whether the page is the report of the scan in whose folder it is written, and so one of that folder's files.
bool renews_scans_report(const ReportOptions& options) {
    const std::filesystem::path out = options.out, scan = options.files.front();
    std::error_code error;
    return options.files.size() == 1 && out.filename() == scan::kReportFile && scan.filename() == scan::kScanFile &&
           std::filesystem::equivalent(files::folder_of(out), files::folder_of(scan), error);
}

int report_files(const ReportOptions& options) {
    auto inputs = files_of(options.files);
    inputs.insert(inputs.end(), options.surfaces.begin(), options.surfaces.end());
    files::refuse_inputs("--out", options.out, inputs);
    const bool renews = renews_scans_report(options);
    (renews ? files::check_writable_in_set : files::check_writable_file)(options.out);
    Machines machines;
    Loaded loaded;
    for (const auto& file : options.files) {
        loaded = load(file);
        machines.emplace_back(loaded.page.device, loaded.machine);
    }
    const auto surfaces = surfaces_of(options.surfaces, machines);
    if (machines.size() > 1) {
        files::write_whole(options.out, report::comparison(machines, compare::cusp(machines, surfaces)));
        return 0;
    }
    loaded.page.earlier = generation_before(loaded.machine);
    loaded.page.modelled = compare::modelled(surfaces, loaded.machine);
    const auto page = report::html(loaded.machine, loaded.page);
    if (renews)
        files::write_in_set(options.out, page);
    else
        files::write_whole(options.out, page);
    return 0;
}

}  // namespace

void add_report(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<ReportOptions>();
    Command command(parent, "report",
                    "Write the HTML report of a scan or a machine description, or a comparison of up to ten");
    command
        .add_option(
            "file", options->files,
            "machine.json, scan.json[.gz], or sim:NAME for a built-in description; two to ten make a comparison")
        .required()
        .expected(1, kMostMachines);
    command
        .add_option("--surface", options->surfaces,
                    "file that `gputomo surface` recorded on that GPU; the report draws it with models over it; may be "
                    "given several times")
        .delimiter(',');
    command.add_option("--out", options->out, "HTML file to write").capture_default_str();
    command.runs(action, [options] { return report_files(*options); });
}

}  // namespace gputomo::cli
