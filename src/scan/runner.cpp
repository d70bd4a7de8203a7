#include "scan/runner.hpp"

#include "machine/paths.hpp"
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

class Runner {
public:
    Runner(device::Device& device, const std::vector<const experiments::Experiment*>& plan, const Options& options) : device_(device), plan_(plan), options_(options) {
        scan_.device_name = device.name();
        scan_.device_id = device.id();
        scan_.seed = options.seed;
        scan_.quick = options.quick;
    }

    Scan run() {
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            const auto& experiment = *plan_[i];
            Record& record = scan_.records.emplace_back();
            record.id = experiment.id;
            if (const auto why = why_not(experiment); !why.empty()) {
                record.error = why;
            } else {
                run_one(experiment, record, i);
                for (const auto& estimate : record.outcome.estimates) scan_.findings.add(estimate);
            }
            if (record.status != Status::done) unusable_.insert(record.id);
            if (options_.save) options_.save(scan_);
        }
        return std::move(scan_);
    }

private:
    std::string why_not(const experiments::Experiment& experiment) const {
        if (!stopped_.empty()) return stopped_;
        for (const auto need : experiment.needs)
            if (unusable_.contains(std::string(need))) return fmt::format("needs {}, which did not finish", need);
        return {};
    }

    void run_one(const experiments::Experiment& experiment, Record& record, std::size_t index) {
        const auto start = Clock::now();
        const auto progress = [&](double fraction, std::string_view what) {
            const double whole = (static_cast<double>(index) + std::clamp(fraction, 0.0, 1.0)) / static_cast<double>(plan_.size());
            const double passed = seconds_since(start_);
            const double left = whole > 0.02 ? passed / whole * (1 - whole) : -1;
            if (options_.progress) options_.progress(whole, left, fmt::format("{}: {}", experiment.id, what));
        };
        experiments::Context context{device_, scan_.findings, options_.seed, options_.quick, progress};
        try {
            progress(0, experiment.title);
            record.outcome = experiment.run(context);
            record.status = Status::done;
            failures_in_a_row_ = 0;
        } catch (const Interrupted& e) {
            record.status = Status::interrupted;
            record.error = e.what();
            stopped_ = "interrupted";
        } catch (const TimeLimitError& e) {
            fail(record, e.what());
            stopped_ = "the device is lost after a time limit";
        } catch (const DeviceError& e) {
            fail(record, e.what());
            if (++failures_in_a_row_ >= 2) stopped_ = "the device failed twice in a row";
        } catch (const std::exception& e) {
            fail(record, e.what());
        }
        record.seconds = seconds_since(start);
    }

    static void fail(Record& record, const char* what) {
        record.status = Status::failed;
        record.error = what;
    }

    device::Device& device_;
    const std::vector<const experiments::Experiment*>& plan_;
    const Options& options_;
    Scan scan_;
    std::set<std::string> unusable_;
    std::string stopped_;
    int failures_in_a_row_ = 0;
    Clock::time_point start_ = Clock::now();
};

}  // namespace

std::string_view status_name(Status status) {
    static constexpr std::array<std::string_view, 4> kNames{"done", "failed", "skipped", "interrupted"};
    return kNames.at(static_cast<std::size_t>(status));
}

bool Scan::interrupted() const {
    return std::any_of(records.begin(), records.end(), [](const Record& r) { return r.status == Status::interrupted; });
}

const Record* Scan::first_failure() const {
    const auto found = std::find_if(records.begin(), records.end(), [](const Record& r) { return r.status == Status::failed; });
    return found == records.end() ? nullptr : &*found;
}

Scan run(device::Device& device, const std::vector<const experiments::Experiment*>& plan, const Options& options) { return Runner(device, plan, options).run(); }

machine::Machine describe(const Scan& scan) {
    machine::Machine machine;
    for (const auto& [path, estimate] : scan.findings.all()) {
        machine::Leaf leaf;
        switch (estimate.verdict) {
            case deduce::Verdict::decided: leaf.knowledge = machine::Knowledge::known; break;
            case deduce::Verdict::absent: leaf.knowledge = machine::Knowledge::absent; break;
            case deduce::Verdict::undecided: leaf.knowledge = machine::Knowledge::undecided; break;
        }
        leaf.value = estimate.value;
        leaf.candidates = estimate.candidates;
        leaf.provenance.method = estimate.method.empty() ? "measured" : estimate.method;
        leaf.provenance.confidence = std::clamp(estimate.confidence, 0.0, 1.0);
        leaf.provenance.interval = estimate.interval;
        leaf.provenance.note = estimate.note;
        machine::set_leaf(machine, path, leaf);
    }
    return machine;
}

}  // namespace gputomo::scan
