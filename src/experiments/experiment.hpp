// One experiment: kernel, sweep, what it needs, what it provides. The catalogue lists them all.
#pragma once

#include "device/device.hpp"
#include "measure/run.hpp"
#include "results/estimates.hpp"
#include "results/findings.hpp"
#include "results/outcome.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::experiments {

/// Experiments are written in the words of these two rooms: instruments, and what they hand on.
using namespace measure;
using namespace results;

/// Cycles by which the clock register steps; 1 where that was not found.
[[nodiscard]] double clock_step(const Findings& findings);
/// Cycles by which two levels of latency differ at least: three, or one and a half steps of the clock.
[[nodiscard]] double least_level_step(const Findings& findings);
/// The SM clock as it was measured, or else as the driver states it.
[[nodiscard]] double sm_mhz_of(const Findings& findings, const device::Device& device);

/// What a run may use. Everything it learns of the GPU goes through `device`.
struct Context {
    device::Device& device;
    const Findings& findings;
    std::uint64_t seed = 1;
    bool quick = false;
    /// Reports progress in 0..1 and throws Interrupted when the user asked to stop. Call it between launches.
    std::function<void(double fraction, std::string_view what)> progress;
    Budget budget = usual_budget(device);

    /// What the instruments get of it: all but the findings.
    operator measure::Run() const {
        return {device, seed, quick, clock_step(findings), progress, budget};
    }  // NOLINT(google-explicit-constructor)
};

/// Whether a scan of everything has an experiment: those that a GPU does in a second may take minutes to simulate.
enum class PartOfScan { always, on_hardware, on_request };

struct Experiment {
    std::string_view id;                  ///< "global_chase"
    std::string_view title;               ///< one line for `gputomo list experiments`
    std::string_view source;              ///< "Wong 2010, IV-G; Mei 2014, 3.2"
    std::vector<std::string_view> needs;  ///< ids of experiments without whose findings it cannot run
    std::vector<std::string_view>
        after;  ///< ids of experiments whose findings make it better; their failure does not stop it
    std::vector<std::string_view> provides;  ///< paths, with * for map keys: "caches.*.capacity"
    Outcome (*run)(Context& context);
    PartOfScan part_of_scan = PartOfScan::always;
    /// For devices that compile ahead: hands them kernels that take long to compile, as soon as `compile_after` has
    /// run, or before any experiment does. The context reports no progress.
    void (*compile_ahead)(const Context& context) = nullptr;
    std::string_view compile_after =
        {};  ///< id of the experiment whose findings the kernels need, or which shall come first
};

/// All experiments, in no particular order; the plan orders them by needs.
[[nodiscard]] std::span<const Experiment> catalogue();

}  // namespace gputomo::experiments
