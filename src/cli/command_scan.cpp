#include "cli/inputs/devices.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/report_page.hpp"
#include "cli/terminal/ending.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "files/output_file.hpp"
#include "history/history.hpp"
#include "machine/json.hpp"
#include "report/table.hpp"
#include "scan/files.hpp"
#include "scan/merge.hpp"
#include "scan/plan.hpp"
#include "scan/scan_folder.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <filesystem>
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
    bool resume = false;
};

/// All files of a scan.
std::vector<files::NamedContent> files_of_scan(const scan::Scan& scan) {
    const auto machine = scan::describe(scan);
    auto page = page_of(scan);
    page.earlier = generation_before(machine);
    return {{std::string(scan::kMachineFile), machine::to_json(machine)},
            {std::string(scan::kScanFile), scan::to_json(scan)},
            {std::string(scan::kReportFile), report::html(machine, page)}};
}

/// The device's UUID; without one, the host's name and the device's id there.
std::string specimen_of(const device::Device& device) {
    if (auto uuid = device.uuid(); !uuid.empty()) return uuid;
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    return fmt::format("{} {}", host.data(), device.id());
}

/// The scan in the folder that a scan of some experiments is merged into; nullopt where there is none.
std::optional<scan::Scan> scan_to_merge_into(const ScanOptions& options, const scan::ScanFolder& folder,
                                             const results::MeasuredGpu& gpu) {
    if (options.only.empty()) return std::nullopt;
    auto whole = folder.whole_scan();
    if (whole)
        scan::refuse_other_gpu(*whole, gpu, (std::filesystem::path(options.out) / scan::kScanFile).string(),
                               "a scan of the same GPU to merge the experiments of --only into, or another --out");
    return whole;
}

/// A whole scan replaces an earlier one of the same GPU. The scan of another GPU must not be lost.
void refuse_to_replace_other_gpu(const ScanOptions& options, const scan::ScanFolder& folder,
                                 const results::MeasuredGpu& gpu) {
    if (!options.only.empty()) return;
    std::optional<scan::Scan> stands;
    try {
        stands = folder.whole_scan();
    } catch (const InputError&) {  // damaged files may be replaced
        return;
    }
    if (!stands || !stands->origin || !stands->origin->gpu || results::is_same_gpu(gpu, *stands->origin->gpu)) return;
    const auto& theirs = *stands->origin->gpu;
    throw InputError(
        fmt::format("--out {}: holds the scan of another GPU: {}{}; expected the same GPU, or another folder",
                    options.out, theirs.name, theirs.uuid.empty() ? "" : " " + theirs.uuid));
}

/// The experiments of a scan in the order in which they run.
using Plan = std::vector<const experiments::Experiment*>;

Plan plan_of(const ScanOptions& options, const device::Device& device) {
    return options.only.empty() ? scan::plan_of_all(experiments::catalogue(), measure::usual_budget(device))
                                : scan::plan(experiments::catalogue(), options.only);
}

/// The scan that --resume goes on with; nullopt where there is none.
std::optional<scan::Scan> scan_to_resume(bool resume, const scan::Options& run, const Plan& plan,
                                         const scan::ScanFolder& folder) {
    if (!resume) {
        if (const auto aside = folder.set_interrupted_aside(); !aside.empty())
            out::note("the results of an interrupted scan are kept in {}; --resume would have gone on", aside.string());
        return std::nullopt;
    }
    auto interrupted = folder.interrupted_scan();
    if (!interrupted) {
        out::note("no interrupted scan in {}; everything is measured", folder.partial().string());
        return std::nullopt;
    }
    const auto file = (folder.partial() / scan::kScanFile).string();
    scan::refuse_other_gpu(*interrupted, *run.origin->gpu, file,
                           "the GPU of the interrupted scan, or a scan without --resume");
    scan::refuse_to_resume(*interrupted, plan, run, file);
    return interrupted;
}

/// Saves what is measured so far. A full disk must not end the measurement, since its table can still be printed.
void save_so_far(const scan::ScanFolder& folder, const scan::Scan& scan, bool& warned) {
    try {
        folder.save_partial({{std::string(scan::kScanFile), scan::to_json(scan)}});
    } catch (const Error& e) {
        if (!warned) out::warn("{}; the scan goes on without saving on the way", e.what());
        warned = true;
    }
}

/// Runs the plan; what `interrupted` has of it is not measured again.
scan::Scan measure(scan::Options run, const Plan& plan, device::Device& device,
                   const std::optional<scan::Scan>& interrupted, const scan::ScanFolder& folder) {
    Progress progress(false);
    bool warned = false;
    if (interrupted) run.earlier = interrupted->records;
    run.progress = [&](double fraction, double left, std::string_view what) { progress.show(fraction, left, what); };
    run.save = [&](const scan::Scan& scan) {
        // What `interrupted` has of experiments that come later must stay on the disk until the scan gets there.
        save_so_far(folder, interrupted ? scan::merged(*interrupted, scan) : scan, warned);
    };
    auto result = scan::run(device, plan, run);
    add_state_after(*result.origin, device);
    if (interrupted) scan::add_earlier_runs(result, interrupted->origin);
    return result;
}

/// Writes the files and says where they are. Nothing is thrown, so that the reason why a scan ended comes first.
std::optional<std::string> save(const scan::ScanFolder& folder, const ScanOptions& options, const scan::Scan& result,
                                const std::optional<scan::Scan>& earlier) {
    const bool whole = scan::is_whole(result, earlier.has_value());
    const std::string where = whole ? options.out : folder.partial().string();
    try {
        if (whole)
            folder.save_whole(files_of_scan(earlier ? scan::merged(*earlier, result) : result));
        else
            folder.save_partial(files_of_scan(result));
    } catch (const std::exception& e) {
        return fmt::format("{}; the results are not saved", e.what());
    }
    out::say("written: {0}/machine.json {0}/scan.json {0}/report.html", where);
    if (!whole) out::note("earlier results in {} are unchanged; the same command with --resume goes on", options.out);
    return std::nullopt;
}

int scan_device(const ScanOptions& options) {
    const InterruptGuard guard;
    static_cast<void>(scan::plan(experiments::catalogue(), options.only));  // refuses unknown ids
    const auto out = std::filesystem::path(options.out);
    for (const auto name : {scan::kMachineFile, scan::kScanFile, scan::kReportFile})
        files::refuse_inputs("--out", out / name, files_of({options.device, options.history}));
    const scan::ScanFolder folder(out, origin_of_command().command);
    std::optional<history::History> history;
    if (!options.history.empty()) {
        files::check_writable_file(options.history);
        history.emplace(options.history);
    }
    const auto device = open_device(options.device, options.seed, options.noise);
    const auto plan = plan_of(options, *device);
    const scan::Options run{
        .seed = options.seed, .quick = options.quick, .noise = options.noise, .origin = origin_on(*device)};
    refuse_to_replace_other_gpu(options, folder, *run.origin->gpu);
    const auto earlier = scan_to_merge_into(options, folder, *run.origin->gpu);
    const auto interrupted = scan_to_resume(options.resume, run, plan, folder);
    const auto result = measure(run, plan, *device, interrupted, folder);
    const auto not_saved = save(folder, options, result, earlier);  // before the table, whose reader may have ended
    out::print("{} ({})\n\n{}", result.device_name, result.device_id, report::table(scan::describe(result)));
    for (const auto& warning : page_of(result).warnings) out::warn("{}", warning);
    if (not_saved && (result.interrupted() || result.first_failure() != nullptr))
        out::warn("{}", *not_saved);  // the message of the failure comes last
    throw_unless_done(result, not_saved ? "interrupted" : "interrupted; what was measured is saved");
    if (not_saved) throw Error(*not_saved);
    if (history) history->add(scan::describe(result), {.specimen = specimen_of(*device), .time = run.origin->date});
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
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_option("--noise", options->noise, kNoiseHelp).capture_default_str();
    command.add_flag("--quick", options->quick, "measure with fewer repetitions: faster, with less certain results");
    command.add_verbosity();
    command.add_flag("--resume", options->resume,
                     "go on with the interrupted scan in the folder's partial/, with the same options");
    command.runs(action, [options] { return scan_device(*options); });
}

}  // namespace gputomo::cli
