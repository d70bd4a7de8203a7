#include "reproduce/papers/reproduce.hpp"

#include "experiments/experiment.hpp"
#include "reproduce/measured/kernels.hpp"
#include "reproduce/papers/agreement.hpp"
#include "scan/plan.hpp"
#include "units/pattern.hpp"
#include "units/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

namespace gputomo::reproduce {
namespace {

bool gives(const experiments::Experiment& experiment, std::string_view path) {
    return std::any_of(experiment.provides.begin(), experiment.provides.end(),
                       [&](std::string_view pattern) { return fits_pattern(pattern, path); });
}

/// The leaf that lists the caches or TLBs of the path that this leaf's thing belongs to. Names of caches and TLBs begin
/// with their path ("texture_l1"), except those of the global path ("l1").
std::string levels_of_path_of(std::string_view leaf) {
    const auto key = leaf.substr(std::min(leaf.find('.') + 1, leaf.size()));
    const std::string path(key.substr(0, key.find('_')));
    const auto levels = leaf.substr(0, leaf.find('.'));  // "caches", "tlbs"
    for (const auto* known : {"texture", "constant", "instruction", "local"})
        if (path == known) return fmt::format("paths.{}.{}", path, levels);
    return fmt::format("paths.global.{}", levels);
}

/// The experiments that provide a leaf. Several find caches and TLBs, each those of one path; where one is for the path
/// of this leaf, the others are left out.
std::vector<const experiments::Experiment*> providers_of(const std::string& leaf) {
    std::vector<const experiments::Experiment*> all, nearest;
    for (const auto& experiment : experiments::catalogue())
        if (gives(experiment, leaf)) all.push_back(&experiment);
    for (const auto* experiment : all)
        if (gives(*experiment, levels_of_path_of(leaf))) nearest.push_back(experiment);
    return (leaf.starts_with("caches.") || leaf.starts_with("tlbs.")) && !nearest.empty() ? nearest : all;
}

bool chosen(const Entry& entry, const std::vector<std::string>& only) {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& id) {
               return entry.id == id || entry.id.starts_with(id + ".");
           });
}

std::vector<const Entry*> chosen_entries(const Paper& paper, const std::vector<std::string>& only) {
    std::vector<const Entry*> entries;
    for (const auto& entry : paper.entries)
        if (chosen(entry, only)) entries.push_back(&entry);
    for (const auto& id : only)
        if (std::none_of(entries.begin(), entries.end(), [&](const Entry* entry) { return chosen(*entry, {id}); }))
            throw InputError(fmt::format("--only {}: no such entry of {}; expected an id such as {}, or its beginning",
                                         id, paper.id, paper.entries.front().id));
    return entries;
}

Row row_of(const Entry& entry, const std::string& gpu, const Scans& scans) {
    Row row{.entry = &entry, .gpu = gpu};
    try {
        const auto value = entry.recipe->expression.evaluate(scans, gpu);
        row.reproduced = to_json(value);
        row.agrees = agrees(entry, value);
    } catch (const NotMeasured& e) {
        row.why = e.what();
    }
    return row;
}

/// Adds a warning for each experiment that did not finish.
void add_failures(const scan::Scan& scan, const std::string& gpu, std::vector<std::string>& to) {
    for (const auto& record : scan.records)
        if (record.status != scan::Status::done)
            to.push_back(fmt::format("{}: {} {}: {}", gpu, record.id, scan::status_name(record.status), record.error));
}

/// Merges the progress of several concurrent scans into one.
class MergedProgress {
public:
    MergedProgress(const Options& options, std::size_t scans) : options_(options), done_(scans, 0) {}

    void show(std::size_t scan, double fraction, double left, std::string_view what) {
        const std::lock_guard hold(lock_);
        done_[scan] = fraction;
        options_.progress(std::accumulate(done_.begin(), done_.end(), 0.0) / static_cast<double>(done_.size()), left,
                          what);
    }

private:
    const Options& options_;
    std::mutex lock_;
    std::vector<double> done_;
};

/// What has to be measured of one GPU.
struct Wanted {
    std::vector<std::string> experiments;
    std::set<Mix> mixes;
    std::set<std::string> kernels;
};

/// Shares of the progress bar: mixes take about as long as the experiments, and kernels much less.
constexpr double kExperiments = 0.5, kMixes = 0.4, kKernels = 0.1;

scan::Scan scan_gpu(const Wanted& wanted, const std::string& name, const PaperGpu& gpu, const Options& options,
                    const std::function<void(double, double, std::string_view)>& progress) {
    if (wanted.experiments.empty() && wanted.kernels.empty()) return {};
    std::vector<const experiments::Experiment*> plan;
    if (!wanted.experiments.empty())
        plan = scan::plan(experiments::catalogue(), wanted.experiments);  // without ids it would plan all experiments
    const auto device = options.open(name, gpu);
    const double mixes = wanted.mixes.empty() ? 0 : kMixes, kernels = wanted.kernels.empty() ? 0 : kKernels,
                 all = kExperiments + mixes + kernels;
    const auto show = [&](double done, double left, std::string_view what) {
        if (options.progress) progress(done / all, left, fmt::format("{}, {}", gpu.machine, what));
    };
    scan::Options run{.seed = options.seed};
    run.progress = [&](double fraction, double left, std::string_view what) {
        show(kExperiments * fraction, mixes + kernels == 0 ? left : -1, what);
    };
    auto scan = scan::run(*device, plan, run);
    if (!wanted.mixes.empty() && !scan.interrupted())
        scan.records.push_back(measure_mixes(*device, scan, wanted.mixes, [&](double fraction, std::string_view what) {
            show(kExperiments + mixes * fraction, -1, what);
        }));
    if (!wanted.kernels.empty() && !scan.interrupted())
        scan.records.push_back(measure_kernels(*device, wanted.kernels, [&](double fraction, std::string_view what) {
            show(kExperiments + mixes + kernels * fraction, -1, what);
        }));
    return scan;
}

/// The GPUs that the entries are evaluated for, and `with_others` also those that they compare with, in the order of
/// first use.
std::vector<std::string> gpus_of(const std::vector<const Entry*>& entries, bool with_others) {
    std::vector<std::string> gpus;
    const auto add = [&](const std::string& gpu) {
        if (!gpu.empty() && std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
    };
    for (const auto* entry : entries) {
        for (const auto& gpu : entry->on) add(gpu);
        if (with_others && entry->recipe)
            for (const auto& [gpu, reads] : entry->recipe->expression.reads()) add(gpu);
    }
    return gpus;
}

}  // namespace

std::size_t Reproduction::agreeing() const {
    return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.agrees; }));
}

std::size_t Reproduction::model_rows() const {
    return static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [](const Row& row) { return row.entry->recipe->expression.asks_models(); }));
}

std::vector<std::string> experiments_for(const std::vector<const Entry*>& entries, const std::string& gpu) {
    std::set<std::string> ids;
    for (const auto* entry : entries)
        for (const auto& on : entry->on) {
            const auto reads = entry->recipe->expression.reads_of(gpu, on);
            for (const auto& path : reads.leaves)
                for (const auto* experiment : providers_of(path)) ids.insert(std::string(experiment->id));
            for (const auto& experiment : experiments::catalogue())
                if (reads.experiments.contains(std::string(experiment.id))) ids.insert(std::string(experiment.id));
        }
    return {ids.begin(), ids.end()};
}

std::set<Mix> mixes_for(const std::vector<const Entry*>& entries, const std::string& gpu) {
    std::set<Mix> mixes;
    for (const auto* entry : entries)
        for (const auto& on : entry->on) mixes.merge(entry->recipe->expression.reads_of(gpu, on).mixes);
    return mixes;
}

std::set<std::string> kernels_for(const std::vector<const Entry*>& entries, const std::string& gpu) {
    std::set<std::string> kernels;
    for (const auto* entry : entries)
        for (const auto& on : entry->on) kernels.merge(entry->recipe->expression.reads_of(gpu, on).kernels);
    return kernels;
}

std::vector<Row> rows_of(const std::vector<const Entry*>& entries, const Scans& scans) {
    std::vector<Row> rows;
    for (const auto& gpu : gpus_of(entries, false))
        for (const auto* entry : entries)
            if (std::find(entry->on.begin(), entry->on.end(), gpu) != entry->on.end())
                rows.push_back(row_of(*entry, gpu, scans));
    return rows;
}

Reproduction run(const Paper& paper, const Options& options) {
    Reproduction result{.paper = &paper};
    const auto entries = chosen_entries(paper, options.only);
    for (const auto* entry : entries)
        if (!entry->recipe) result.not_reproducible.push_back(entry);
    const auto gpus = gpus_of(entries, true);
    Scans scans;
    for (const auto& gpu : gpus) scans[gpu];  // makes every element here, because threads must not add any
    MergedProgress merged(options, gpus.size());
    const auto scan = [&](int number) {
        const auto i = static_cast<std::size_t>(number);
        scans.at(gpus[i]) = scan_gpu(
            {experiments_for(entries, gpus[i]), mixes_for(entries, gpus[i]), kernels_for(entries, gpus[i])}, gpus[i],
            paper.gpus.at(gpus[i]), options,
            [&](double fraction, double left, std::string_view what) { merged.show(i, fraction, left, what); });
    };
    spread(static_cast<int>(gpus.size()), std::max(1U, std::thread::hardware_concurrency()), scan, {});
    for (const auto& gpu : gpus) {
        result.interrupted = result.interrupted || scans.at(gpu).interrupted();
        add_failures(scans.at(gpu), gpu, result.warnings);
    }
    result.rows = rows_of(entries, scans);
    return result;
}

}  // namespace gputomo::reproduce
