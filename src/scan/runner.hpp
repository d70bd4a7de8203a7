// Runs the experiments of a plan on a device, and keeps what they measured even if some of them fail.
#pragma once

#include "experiments/experiment.hpp"
#include "machine/machine.hpp"
#include "results/origin.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::scan {

/// How an experiment ended.
enum class Status {
    done,
    failed,         ///< it could not explain its measurements, or it has a bug
    device_failed,  ///< DeviceError
    timed_out,      ///< TimeLimitError
    skipped,        ///< not started: an experiment that it needs is not done, or the device is lost
    interrupted,    ///< the user stopped it
};
[[nodiscard]] std::string_view status_name(Status status);
/// The status of an experiment that threw this exception.
[[nodiscard]] Status status_of(const std::exception& thrown);

/// One experiment of a scan.
struct Record {
    std::string id;
    Status status = Status::skipped;
    double seconds = 0;
    std::string error;  ///< the reason if the status is not `done`
    std::string date;   ///< of the run that measured it (results::Origin::date); empty in files of older versions
    results::Outcome outcome;
};

struct Scan;

struct Options {
    std::uint64_t seed = 1;
    bool quick = false;
    int noise = 0;  ///< level of the simulated device's noise; 0 on a real GPU
    /// Where and when the scan runs.
    std::optional<results::Origin> origin = {};
    /// How much the experiments may measure; nullopt stands for the usual budget of the device.
    std::optional<measure::Budget> budget = {};
    /// Reports the share of the plan that is done, 0..1, the seconds left (negative if unknown) and the current step.
    /// Throws Interrupted to stop the scan.
    std::function<void(double fraction, double seconds_left, std::string_view what)> progress;
    /// Records of an earlier run that was interrupted. Experiments that are done there are not run again.
    std::vector<Record> earlier = {};
    /// Is called after each experiment, so that the caller can save the scan so far.
    std::function<void(const Scan&)> save;
};

/// Everything that a scan measured.
struct Scan {
    std::string device_name;
    std::string device_id;
    std::uint64_t seed = 1;
    bool quick = false;
    int noise = 0;
    std::vector<Record> records;
    results::Findings findings;
    std::optional<results::Origin> origin;  ///< files of older versions have none

    [[nodiscard]] bool interrupted() const;
    /// The first experiment that started and failed; null if there is none.
    [[nodiscard]] const Record* first_failure() const;
    /// The values of a column of a trace; null if there is none of these names.
    [[nodiscard]] const std::vector<double>* column(std::string_view experiment, std::string_view trace,
                                                    std::string_view name) const;
};

/// Runs the plan. An experiment that throws is recorded as a failure, experiments that need it are skipped, and the
/// others run. After a device failure the device must still store and return a word; otherwise it is lost and the scan
/// ends. An outcome that no description can hold counts as a failure, and so does reading a finding that the experiment
/// does not declare.
[[nodiscard]] Scan run(device::Device& device, const std::vector<const experiments::Experiment*>& plan,
                       const Options& options);

/// The machine description that the findings make up. Throws std::logic_error for an estimate that no description can
/// hold.
[[nodiscard]] machine::Machine describe(const Scan& scan);
/// Adds one estimate to a description. Throws std::logic_error for an unknown path, a value of another type, and an
/// infinity or NaN.
void add_estimate(machine::Machine& machine, const results::Estimate& estimate);

}  // namespace gputomo::scan
