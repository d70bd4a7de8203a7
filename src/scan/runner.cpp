#include "scan/runner.hpp"

#include "scan/declared_findings.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

namespace gputomo::scan {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Whether the device still works after an error: whether it stores a word and returns it. A CUDA context refuses
/// every call after some errors, and goes on after others (out of memory, a kernel that does not load).
bool answers(device::Device& device) {
    constexpr std::uint32_t kWord = 0x600d600d;  // any value that uninitialised memory is unlikely to hold
    try {
        const device::Buffer buffer(device, Bytes(sizeof kWord));
        device.fill_u32(buffer.address(), kWord, 1);
        return buffer.read<std::uint32_t>(1).front() == kWord;
    } catch (const DeviceError&) {
        return false;
    }
}

/// The outcome, if a description can hold all of its estimates; throws std::logic_error otherwise. The check comes here
/// so that a faulty experiment loses its own outcome only. Later, when describe() finds the fault, the whole scan is
/// lost.
results::Outcome describable(results::Outcome outcome) {
    machine::Machine scratch;
    for (const auto& estimate : outcome.estimates) add_estimate(scratch, estimate);
    return outcome;
}

class Runner {
public:
    Runner(device::Device& device, const std::vector<const experiments::Experiment*>& plan, const Options& options)
        : device_(device), plan_(plan), options_(options) {
        scan_.device_name = device.name();
        scan_.device_id = device.id();
        scan_.seed = options.seed;
        scan_.quick = options.quick;
        scan_.noise = options.noise;
        scan_.origin = options.origin;
    }

    Scan run() {
        compile_ahead({}, 0);
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            const auto& experiment = *plan_[i];
            Record& record = scan_.records.emplace_back();
            record.id = experiment.id;
            if (options_.origin) record.date = options_.origin->date;
            if (const auto* before = done_before(experiment)) {
                record = *before;
            } else if (const auto why = why_not(experiment); !why.empty()) {
                record.error = why;
            } else {
                run_one(experiment, record, i);
            }
            for (const auto& estimate : record.outcome.estimates) scan_.findings.add(estimate);
            if (record.status != Status::done) unusable_.insert(record.id);
            compile_ahead(experiment.id, i + 1);
            if (options_.save) options_.save(scan_);
        }
        return std::move(scan_);
    }

private:
    /// Hands the device the kernels that can be compiled once the experiment `done` has run, for the experiments of
    /// the plan from `next` on. An empty `done` stands for the start of the scan.
    void compile_ahead(std::string_view done, std::size_t next) {
        if (!device_.compiles_ahead() || !stopped_.empty()) return;
        for (std::size_t i = next; i < plan_.size(); ++i) {
            const auto& experiment = *plan_[i];
            if (experiment.compile_ahead == nullptr || experiment.compile_after != done) continue;
            const auto findings = declared_findings(experiment, plan_, scan_.records);
            try {
                experiment.compile_ahead({.device = device_,
                                          .findings = findings,
                                          .seed = options_.seed,
                                          .quick = options_.quick,
                                          .budget = budget()});
            } catch (const DeviceError&) {
                return;  // the experiment itself meets the same error and reports it
            }
        }
    }

    [[nodiscard]] measure::Budget budget() const { return options_.budget.value_or(measure::usual_budget(device_)); }

    [[nodiscard]] const Record* done_before(const experiments::Experiment& experiment) const {
        const auto found = std::ranges::find_if(options_.earlier, [&](const Record& record) {
            return record.id == experiment.id && record.status == Status::done;
        });
        return found == options_.earlier.end() ? nullptr : &*found;
    }

    std::string why_not(const experiments::Experiment& experiment) const {
        if (!stopped_.empty()) return stopped_;
        for (const auto need : experiment.needs)
            if (unusable_.contains(std::string(need))) return fmt::format("needs {}, which did not finish", need);
        return {};
    }

    void run_one(const experiments::Experiment& experiment, Record& record, std::size_t index) {
        const auto start = Clock::now();
        const auto progress = [&](double fraction, std::string_view what) {
            const double whole =
                (static_cast<double>(index) + std::clamp(fraction, 0.0, 1.0)) / static_cast<double>(plan_.size());
            const double passed = seconds_since(start_);
            const double left = whole > 0.02 ? passed / whole * (1 - whole) : -1;
            if (options_.progress) options_.progress(whole, left, fmt::format("{}: {}", experiment.id, what));
        };
        const auto findings = declared_findings(experiment, plan_, scan_.records);
        experiments::Context context{device_, findings, options_.seed, options_.quick, progress, budget()};
        try {
            progress(0, experiment.title);
            record.outcome = describable(experiment.run(context));
            record.status = Status::done;
        } catch (const std::exception& e) {
            record.status = status_of(e);
            record.error = e.what();
            const bool of_device = record.status == Status::timed_out || record.status == Status::device_failed;
            if (record.status == Status::interrupted)
                stopped_ = "interrupted";
            else if (of_device && !answers(device_))
                stopped_ = fmt::format("the device is lost since {} failed", record.id);
        }
        record.seconds = seconds_since(start);
    }

    device::Device& device_;
    const std::vector<const experiments::Experiment*>& plan_;
    const Options& options_;
    Scan scan_;
    std::set<std::string> unusable_;
    std::string stopped_;
    Clock::time_point start_ = Clock::now();
};

}  // namespace

Status status_of(const std::exception& thrown) {
    if (dynamic_cast<const Interrupted*>(&thrown) != nullptr) return Status::interrupted;
    if (dynamic_cast<const TimeLimitError*>(&thrown) != nullptr) return Status::timed_out;  // a DeviceError as well
    if (dynamic_cast<const DeviceError*>(&thrown) != nullptr) return Status::device_failed;
    return Status::failed;
}

std::string_view status_name(Status status) {
    static constexpr std::array<std::string_view, 6> kNames{"done",       "failed",  "device failed",
                                                            "time limit", "skipped", "interrupted"};
    return kNames.at(static_cast<std::size_t>(status));
}

bool Scan::interrupted() const {
    return std::any_of(records.begin(), records.end(), [](const Record& r) { return r.status == Status::interrupted; });
}

const Record* Scan::first_failure() const {
    const auto found = std::find_if(records.begin(), records.end(), [](const Record& r) {
        return r.status == Status::failed || r.status == Status::device_failed || r.status == Status::timed_out;
    });
    return found == records.end() ? nullptr : &*found;
}

const std::vector<double>* Scan::column(std::string_view experiment, std::string_view trace,
                                        std::string_view name) const {
    for (const auto& record : records) {
        if (record.id != experiment) continue;
        for (const auto& candidate : record.outcome.traces) {
            const auto* column = candidate.name == trace ? candidate.column(name) : nullptr;
            if (column != nullptr) return &column->values;
        }
    }
    return nullptr;
}

Scan run(device::Device& device, const std::vector<const experiments::Experiment*>& plan, const Options& options) {
    return Runner(device, plan, options).run();
}

}  // namespace gputomo::scan
