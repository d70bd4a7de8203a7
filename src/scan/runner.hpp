// Runs a plan on a device and keeps whatever was measured, also when something fails half-way.
#pragma once

#include "experiments/experiment.hpp"
#include "machine/machine.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gputomo::scan {

enum class Status { done, failed, skipped, interrupted };
[[nodiscard]] std::string_view status_name(Status status);

struct Record {
    std::string id;
    Status status = Status::skipped;
    double seconds = 0;
    std::string error;  ///< of a failed experiment; of a skipped one, why
    experiments::Outcome outcome;
};

struct Options {
    std::uint64_t seed = 1;
    bool quick = false;
    /// Share of the whole plan that is done, seconds left (negative: unknown), what is being done. Throws Interrupted to stop.
    std::function<void(double fraction, double seconds_left, std::string_view what)> progress;
    /// Called after each experiment, for saving what there is.
    std::function<void(const struct Scan&)> save;
};

struct Scan {
    std::string device_name;
    std::string device_id;
    std::uint64_t seed = 1;
    bool quick = false;
    std::vector<Record> records;
    experiments::Findings findings;

    [[nodiscard]] bool interrupted() const;
    [[nodiscard]] const Record* first_failure() const;
};

/// Never throws what an experiment threw: a failure is recorded, what needs the experiment is skipped, and the rest goes on
/// unless the device is gone (TimeLimitError, or two device failures in a row).
[[nodiscard]] Scan run(device::Device& device, const std::vector<const experiments::Experiment*>& plan, const Options& options);

/// The machine description that the findings make.
[[nodiscard]] machine::Machine describe(const Scan& scan);

}  // namespace gputomo::scan
