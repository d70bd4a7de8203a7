#include "scan/declared_findings.hpp"
#include "units/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gputomo::scan {
namespace {

using experiments::Experiment;

bool is_calibration(std::string_view path) { return path.starts_with("clock."); }

/// The reader and all experiments that it declares, directly or through others, by id. An experiment of the catalogue
/// that the plan leaves out counts too: reading what it provides is declared, and finds nothing.
class Declared {
public:
    Declared(const Experiment& reader, std::span<const Experiment* const> plan) {
        for (const auto* experiment : plan) known_.emplace(experiment->id, experiment);
        for (const auto& experiment : experiments::catalogue()) known_.emplace(experiment.id, &experiment);
        add(reader);
    }
    [[nodiscard]] bool contains(std::string_view id) const { return declared_.contains(id); }
    [[nodiscard]] bool provide(std::string_view path) const {
        return std::ranges::any_of(declared_, [&](const auto& entry) { return provides(*entry.second, path); });
    }

private:
    void add(const Experiment& experiment) {
        if (!declared_.emplace(experiment.id, &experiment).second) return;
        for (const auto* ids : {&experiment.needs, &experiment.after})
            for (const auto id : *ids)
                if (const auto found = known_.find(id); found != known_.end()) add(*found->second);
    }
    std::map<std::string_view, const Experiment*> known_, declared_;
};

}  // namespace

bool provides(const Experiment& experiment, std::string_view path) {
    return std::ranges::any_of(experiment.provides,
                               [&](std::string_view pattern) { return fits_pattern(pattern, path); });
}

results::Findings declared_findings(const Experiment& reader, std::span<const Experiment* const> plan,
                                    std::span<const Record> records) {
    const Declared declared(reader, plan);
    results::Findings findings;
    for (const auto& record : records)
        for (const auto& estimate : record.outcome.estimates)
            if (declared.contains(record.id) || is_calibration(estimate.path) || provides(reader, estimate.path))
                findings.add(estimate);
    return findings.checked([declared, id = std::string(reader.id)](std::string_view path) {
        if (is_calibration(path) || declared.provide(path)) return;
        throw std::logic_error(
            fmt::format("experiment {} reads {}, which neither it nor an experiment that it "
                        "declares provides; name the provider under `needs` or `after`",
                        id, path));
    });
}

}  // namespace gputomo::scan
