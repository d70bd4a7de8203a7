#include "cli/inputs/devices.hpp"
#include "cli/options.hpp"
#include "cli/report_page.hpp"
#include "cli/terminal/ending.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/progress.hpp"
#include "history/history.hpp"
#include "machine/json.hpp"
#include "report/table.hpp"
#include "scan/files.hpp"
#include "scan/plan.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <memory>
#include <optional>

namespace gputomo::cli {
namespace {

struct ScanOptions {
    std::string device = "auto";
    std::string out = "scan";
    std::string history;
    std::vector<std::string> only;
    std::uint64_t seed = 1;
    int noise = 0;
    bool quick = false;
    bool quiet = false;
};

void save(const scan::Scan& scan, const std::filesystem::path& folder) {
    const auto machine = scan::describe(scan);
    scan::write_file(folder / "machine.json", machine::to_json(machine));
    scan::write_file(folder / "scan.json", scan::to_json(scan));
    auto page = page_of(scan);
    page.earlier = generation_before(machine);
    scan::write_file(folder / "report.html", report::html(machine, page));
}

/// The device's UUID; without one, the host's name and the device's id there.
std::string specimen_of(const device::Device& device) {
    if (auto uuid = device.uuid(); !uuid.empty()) return uuid;
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return fmt::format("{} {}", host.data(), device.id());
}

int scan_device(const ScanOptions& options) {
    const InterruptGuard guard;
    auto plan = scan::plan(experiments::catalogue(), options.only);
    scan::check_writable(options.out);
    std::optional<history::History> history;
    if (!options.history.empty()) history.emplace(options.history);
    const auto device = open_device(options.device, options.seed, options.noise);
    if (options.only.empty()) plan = scan::plan_of_all(experiments::catalogue(), measure::usual_budget(*device));
    scan::Scan result;
    {
        Progress progress(options.quiet);
        scan::Options run;
        run.seed = options.seed;
        run.quick = options.quick;
        run.progress = [&](double fraction, double left, std::string_view what) {
            progress.show(fraction, left, what);
        };
        run.save = [&](const scan::Scan& scan) {
            scan::write_file(std::filesystem::path(options.out) / "scan.json", scan::to_json(scan));
        };
        result = scan::run(*device, plan, run);
    }
    save(result, options.out);
    fmt::print("{} ({})\n\n{}", result.device_name, result.device_id, report::table(scan::describe(result)));
    for (const auto& warning : page_of(result).warnings) fmt::print(stderr, "warning: {}\n", warning);
    fmt::print(stderr, "written: {0}/machine.json {0}/scan.json {0}/report.html\n", options.out);
    throw_unless_done(result, "interrupted; what was measured is saved");
    if (history) history->add(scan::describe(result), {.specimen = specimen_of(*device)});
    return 0;
}

}  // namespace

void add_scan(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<ScanOptions>();
    Command command(parent, "scan", "Measure a GPU and write its machine description");
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_option("--out", options->out, "folder to write machine.json, scan.json and report.html to")
        .capture_default_str();
    command.add_option("--history", options->history,
                       "history file to also add the description to (see gputomo history)");
    command
        .add_option("--only", options->only,
                    "ids of the experiments to run, with those whose findings they need (default: all)")
        .delimiter(',');
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str().seed();
    command.add_option("--noise", options->noise, kNoiseHelp).capture_default_str();
    command.add_flag("--quick", options->quick, "measure with fewer repetitions: faster, with less certain results");
    command.add_flag("--quiet", options->quiet, kQuietHelp);
    command.runs(action, [options] { return scan_device(*options); });
}

}  // namespace gputomo::cli
