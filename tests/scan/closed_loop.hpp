// Simulates a machine description, scans the simulation, and compares the scan with the description.
#pragma once

#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "scan/declared_findings.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "sim/simulator.hpp"
#include "validate/compare.hpp"

#include <string>
#include <vector>

namespace gputomo::validate {

inline machine::Machine described(const std::string& file) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/" + file);
}

struct ClosedLoop {
    scan::Scan scan;
    std::vector<std::string> wrong, exact, undecided;  ///< leaves; `wrong` also has faults of experiments
};

using Plan = std::vector<const experiments::Experiment*>;

/// The experiments of a whole scan.
inline Plan whole_plan() { return scan::plan_of_all(experiments::catalogue(), measure::Budget::small); }

/// The experiments `only` with what they declare.
inline Plan plan_of(const std::vector<std::string>& only) { return scan::plan(experiments::catalogue(), only); }

inline ClosedLoop close_loop(const machine::Machine& truth, const Plan& plan) {
    const auto device = sim::make_device(truth, {.id = "sim:closed-loop", .seed = 3});
    ClosedLoop loop{.scan = scan::run(*device, plan, {.seed = 3}), .wrong = {}, .exact = {}, .undecided = {}};
    for (const auto& record : loop.scan.records)
        if (record.status != scan::Status::done) loop.wrong.push_back(record.id + ": " + record.error);
    for (const auto* experiment : plan)
        for (const auto& record : loop.scan.records)
            for (const auto& estimate : record.outcome.estimates)
                if (record.id == experiment->id && !scan::provides(*experiment, estimate.path))
                    loop.wrong.push_back(record.id + " does not declare " + estimate.path);
    for (const auto& comparison : compare(truth, scan::describe(loop.scan))) {
        if (comparison.verdict == Verdict::exact) loop.exact.push_back(comparison.path);
        if (comparison.verdict == Verdict::wrong) loop.wrong.push_back(comparison.path);
        if (comparison.verdict == Verdict::undecided) loop.undecided.push_back(comparison.path);
    }
    return loop;
}

}  // namespace gputomo::validate
