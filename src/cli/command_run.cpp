#include "cli/inputs/devices.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/options.hpp"
#include "cli/terminal/ending.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "files/output_file.hpp"
#include "machine/diff.hpp"
#include "scan/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

namespace gputomo::cli {
namespace {

struct RunOptions {
    std::string experiment;
    std::string device = "auto";
    std::string csv;
    std::uint64_t seed = 1;
    int noise = 0;
};

/// The traces of the experiment, or of those that ran before it where it did not finish.
std::string csv_of(const scan::Scan& scan) {
    const bool done = !scan.records.empty() && scan.records.back().status == scan::Status::done;
    std::vector<results::Trace> traces;
    for (const auto& record : scan.records)
        if (!done || &record == &scan.records.back())
            traces.insert(traces.end(), record.outcome.traces.begin(), record.outcome.traces.end());
    std::string out;
    for (const auto& trace : traces) {
        out += fmt::format("# {}\n", trace.name);
        std::size_t rows = 0;
        for (std::size_t c = 0; c < trace.columns.size(); ++c) {
            const auto& column = trace.columns[c];
            out += fmt::format("{}{}{}", c == 0 ? "" : ",", column.name,
                               column.unit.empty() ? "" : " [" + column.unit + "]");
            rows = std::max(rows, column.values.size());
        }
        out += '\n';
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < trace.columns.size(); ++c)
                out +=
                    fmt::format("{}{}{}", c == 0 ? "" : ",",
                                r < trace.columns[c].values.size() ? fmt::format("{}", trace.columns[c].values[r]) : "",
                                c + 1 == trace.columns.size() ? "\n" : "");
    }
    return out;
}

/// Writes the samples. Those of a run that did not finish replace no file.
void save_samples(const RunOptions& options, const scan::Scan& scan) {
    if (options.csv.empty()) return;
    if (!scan.interrupted() && scan.first_failure() == nullptr) return files::write_whole(options.csv, csv_of(scan));
    const auto partial = files::partial_of(options.csv);
    files::write_whole(partial, csv_of(scan));
    out::say("the samples that were measured until then are in {}", partial.string());
}

std::string verdict_text(const results::Estimate& estimate) {
    if (estimate.knowledge == results::Knowledge::absent) return "absent";
    if (estimate.knowledge == results::Knowledge::known) return machine::value_text(estimate.value);
    std::vector<std::string> candidates;
    for (const auto& candidate : estimate.candidates) candidates.push_back(machine::value_text(candidate));
    return fmt::format("undecided: {}", fmt::join(candidates, " or "));
}

int run_experiment(const RunOptions& options) {
    const InterruptGuard guard;
    const auto plan = scan::plan(experiments::catalogue(), {options.experiment});
    if (!options.csv.empty()) {
        files::refuse_inputs("--csv", options.csv, files_of({options.device}));
        files::check_writable_file(options.csv);
    }
    const auto device = open_device(options.device, options.seed, options.noise);
    scan::Scan result;
    {
        Progress progress(false);
        scan::Options run;
        run.seed = options.seed;
        run.progress = [&](double fraction, double left, std::string_view what) {
            progress.show(fraction, left, what);
        };
        result = scan::run(*device, plan, run);
    }
    save_samples(options, result);
    throw_unless_done(result, options.csv.empty() ? "interrupted" : "interrupted; what was measured is saved");
    const auto& outcome = result.records.back().outcome;
    for (const auto& e : outcome.estimates)
        out::print("{:<44} {} ({:.0f}%) {}\n", e.path, verdict_text(e), 100 * e.confidence, e.method);
    for (const auto& check : outcome.code_checks)
        if (check.result != results::CodeResult::unavailable)
            out::print("code check {}: {} (expected {}; found {})\n", check.kernel, results::name_of(check.result),
                       check.expected, check.found);
    for (const auto& warning : outcome.warnings) out::warn("{}: {}", options.experiment, warning);
    return 0;
}

}  // namespace

void add_run(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<RunOptions>();
    Command command(parent, "run", "Run one experiment, with those whose findings it needs");
    command.add_option("experiment", options->experiment, "id of the experiment, from `gputomo list experiments`")
        .required();
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_option("--csv", options->csv, "file to write the raw samples to (CSV)");
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_option("--noise", options->noise, kNoiseHelp).capture_default_str();
    command.add_verbosity();
    command.runs(action, [options] { return run_experiment(*options); });
}

}  // namespace gputomo::cli
