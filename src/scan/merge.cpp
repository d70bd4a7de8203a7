#include "scan/merge.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gputomo::scan {

Scan merged(const Scan& earlier, Scan latest) {
    Scan both = std::move(latest);
    std::vector<Record> added = std::move(both.records);
    both.records = earlier.records;
    for (auto& record : added) {
        const auto old = std::ranges::find(both.records, record.id, &Record::id);
        if (old == both.records.end())
            both.records.push_back(std::move(record));
        else
            *old = std::move(record);
    }
    both.seed = earlier.seed;
    both.quick = earlier.quick;
    both.noise = earlier.noise;
    both.findings = {};
    for (const auto& record : both.records)
        for (const auto& estimate : record.outcome.estimates) both.findings.add(estimate);
    add_earlier_runs(both, earlier.origin);
    return both;
}

void add_earlier_runs(Scan& scan, const std::optional<results::Origin>& earlier) {
    if (!earlier || !scan.origin) return;
    const auto add = [&](results::Origin run) {
        run.merged.clear();
        const bool has_experiments = std::ranges::find(scan.records, run.date, &Record::date) != scan.records.end();
        if (has_experiments && run.date != scan.origin->date) scan.origin->merged.push_back(std::move(run));
    };
    for (const auto& run : earlier->merged) add(run);
    add(*earlier);
}

void refuse_other_gpu(const Scan& earlier, const results::MeasuredGpu& gpu, std::string_view file,
                      std::string_view instead) {
    if (!earlier.origin || !earlier.origin->gpu)
        throw InputError(
            fmt::format("{}: does not say which {} it was measured on, as files of older versions; expected {}", file,
                        earlier.device_name, instead));
    const auto& theirs = *earlier.origin->gpu;
    if (const auto other = results::difference(gpu, theirs); !other.empty())
        throw InputError(fmt::format("{}: was measured on another GPU or driver than {} ({}); expected {}", file,
                                     gpu.device, other, instead));
}

void refuse_to_resume(const Scan& interrupted, const std::vector<const experiments::Experiment*>& plan,
                      const Options& options, std::string_view file) {
    if (interrupted.seed != options.seed || interrupted.quick != options.quick || interrupted.noise != options.noise)
        throw InputError(
            fmt::format("{}: was measured with --seed {} --noise {}{}; expected the same options with --resume", file,
                        interrupted.seed, interrupted.noise, interrupted.quick ? " --quick" : ""));
    std::vector<std::string_view> lost;
    for (const auto& record : interrupted.records)
        if (record.status == Status::done &&
            std::ranges::find(plan, record.id, &experiments::Experiment::id) == plan.end())
            lost.emplace_back(record.id);
    if (!lost.empty())
        throw InputError(
            fmt::format("{}: has results that --only leaves out: {}; expected the same options with "
                        "--resume, or a scan without it, which keeps them",
                        file, fmt::join(lost, ", ")));
}

}  // namespace gputomo::scan
