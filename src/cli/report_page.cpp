#include "cli/report_page.hpp"

#include "answer/gpu.hpp"
#include "cli/inputs/devices.hpp"
#include "experiments/experiment.hpp"
#include "report/generations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

/// Without those of which most values are another GPU's: a comparison would show how alike that one is.
std::vector<machine::Machine> shipped_descriptions() {
    std::vector<machine::Machine> all;
    for (const auto& name : shipped_machines())
        if (auto machine = simulated_machine("sim:" + name); !answer::mostly_assumed(machine))
            all.push_back(std::move(machine));
    return all;
}

}  // namespace

std::optional<report::Earlier> generation_before(const machine::Machine& machine) {
    const auto shipped = shipped_descriptions();
    const auto* earlier = report::generation_before(machine, shipped);
    if (earlier == nullptr) return std::nullopt;
    return report::Earlier{earlier->identity.name.value_or("another GPU"), *earlier};
}

report::Page page_of(const scan::Scan& scan) {
    report::Page page;
    page.device = fmt::format("{} ({})", scan.device_name, scan.device_id);
    const auto catalogue = experiments::catalogue();
    for (const auto& record : scan.records) {
        if (!record.error.empty())
            page.warnings.push_back(
                fmt::format("{} {}: {}", record.id, scan::status_name(record.status), record.error));
        for (const auto& warning : record.outcome.warnings)
            page.warnings.push_back(warning.starts_with(record.id + ":") ? warning
                                                                         : fmt::format("{}: {}", record.id, warning));
        page.traces.insert(page.traces.end(), record.outcome.traces.begin(), record.outcome.traces.end());
        for (const auto& estimate : record.outcome.estimates) page.experiment_of[estimate.path] = record.id;
        for (const auto& check : record.outcome.code_checks)
            page.code_checks.push_back({record.id, check.kernel, std::string(results::name_of(check.result)),
                                        check.expected, check.found, check.listing});
        const auto known =
            std::find_if(catalogue.begin(), catalogue.end(), [&](const auto& e) { return e.id == record.id; });
        if (record.status == scan::Status::skipped) continue;
        if (known == catalogue.end())
            page.methods.push_back({record.id, record.id, "", ""});
        else
            page.methods.push_back(
                {record.id, std::string(known->title), std::string(known->source), std::string(known->explanation)});
    }
    return page;
}

}  // namespace gputomo::cli
