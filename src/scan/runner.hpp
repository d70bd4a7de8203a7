// Runs a plan on a device and keeps whatever was measured, also when something fails half-way.
#pragma once

#include "experiments/experiment.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::scan {

/// How an experiment ended.
enum class Status {
    done,
    failed,         ///< what it measured makes no sense to it, or it has a fault
    device_failed,  ///< DeviceError
    timed_out,      ///< TimeLimitError
    skipped,        ///< not started: something it needs is not done, or the device is lost
    interrupted,    ///< the user stopped it
};
[[nodiscard]] std::string_view status_name(Status status);
/// Of an experiment that threw this.
[[nodiscard]] Status status_of(const std::exception& thrown);

/// One experiment of a scan.
struct Record {
    std::string id;
    Status status = Status::skipped;
    double seconds = 0;
    std::string error;  ///< of one that is not done: why
    results::Outcome outcome;
};

struct Scan;

struct Options {
    std::uint64_t seed = 1;
    bool quick = false;
    /// How much the experiments may measure; not given: the device's usual budget.
    std::optional<measure::Budget> budget = {};
    /// Share of the whole plan that is done, seconds left (negative: unknown), what is being done. Throws Interrupted
    /// to stop.
    std::function<void(double fraction, double seconds_left, std::string_view what)> progress;
    /// Called after each experiment, for saving what there is.
    std::function<void(const Scan&)> save;
};

/// Everything a scan measured.
struct Scan {
    std::string device_name;
    std::string device_id;
    std::uint64_t seed = 1;
    bool quick = false;
    std::vector<Record> records;
    results::Findings findings;

    [[nodiscard]] bool interrupted() const;
    /// The first experiment that started and failed; null where there is none.
    [[nodiscard]] const Record* first_failure() const;
    /// A column of a trace; null where there is none.
    [[nodiscard]] const std::vector<double>* column(std::string_view experiment, std::string_view trace,
                                                    std::string_view name) const;
};

/// Never throws what an experiment threw: a failure is recorded, what needs the experiment is skipped, and the rest
/// goes on unless the device is lost: after a device failure it must still store and return a word. An outcome that
/// fits no description is a failure too.
[[nodiscard]] Scan run(device::Device& device, const std::vector<const experiments::Experiment*>& plan,
                       const Options& options);

/// The machine description that the findings make. Throws std::logic_error for an estimate that fits no description.
[[nodiscard]] machine::Machine describe(const Scan& scan);
/// Adds one finding. Throws std::logic_error for a path that no description has, a value of another type or one that is
/// not finite.
void add_estimate(machine::Machine& machine, const results::Estimate& estimate);

}  // namespace gputomo::scan
