#include "validate/campaign.hpp"

#include "experiments/experiments.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "units/error.hpp"
#include "units/workers.hpp"
#include "validate/outstanding_machine.hpp"
#include "validate/random_machine.hpp"

#include <fmt/format.h>

#include <optional>

namespace gputomo::validate {
namespace {

struct Scanned {
    Result::Case about;
    std::vector<Comparison> comparisons;
};

/// Scans the machine of this seed; nullopt if the campaign was stopped.
std::optional<Scanned> scan_one(std::uint64_t seed, const Campaign& campaign) {
    const bool all = campaign.subject == Subject::everything;
    const auto truth = machine_of(campaign.subject, seed);
    Scanned result;
    result.about.seed = seed;
    const auto device =
        sim::make_device(truth, {.id = fmt::format("sim:random-{}", seed), .seed = seed, .noise = campaign.noise});
    // A quick scan times only the operations that random machines describe, and leaves out the plots of papers.
    scan::Options options{.seed = seed, .quick = true};
    options.progress = [&](double, double, std::string_view) {
        if (campaign.stop && campaign.stop()) throw Interrupted("stopped");
    };
    // Subject::outstanding runs this experiment alone, without the findings of others. Subject::everything leaves it
    // out, because random_machine() does not describe what it measures.
    const auto outstanding = experiments::outstanding_experiment();
    auto plan = all ? scan::plan_of_all(experiments::catalogue(), measure::Budget::small)
                    : std::vector<const experiments::Experiment*>{&outstanding};
    if (all) std::erase_if(plan, [&](const auto* experiment) { return experiment->id == outstanding.id; });
    const auto scan = scan::run(*device, plan, options);
    if (scan.interrupted()) return std::nullopt;
    for (const auto& record : scan.records)
        if (record.status != scan::Status::done)
            result.about.failures.push_back(fmt::format("{}: {}", record.id, record.error));
    const auto scanned = scan::describe(scan);
    result.comparisons = all ? compare(truth, scanned) : compare_outstanding(truth, scanned);
    for (const auto& comparison : result.comparisons)
        if (comparison.verdict == Verdict::wrong) result.about.wrong.push_back(comparison);
    return result;
}

}  // namespace

machine::Machine machine_of(Subject subject, std::uint64_t seed) {
    return subject == Subject::everything ? random_machine(seed) : random_outstanding_machine(seed);
}

Result run(const Campaign& campaign) {
    std::vector<std::optional<Scanned>> scanned(static_cast<std::size_t>(campaign.machines));
    const auto scan = [&](int i) {
        scanned[static_cast<std::size_t>(i)] =
            scan_one(campaign.seed * 1'000'003 + static_cast<std::uint64_t>(i), campaign);
    };
    spread(campaign.machines, campaign.threads, scan, campaign.progress);
    Result result;
    for (auto& one : scanned) {
        if (!one) continue;
        add(result.tallies, one->comparisons);
        result.cases.push_back(std::move(one->about));
    }
    return result;
}

}  // namespace gputomo::validate
