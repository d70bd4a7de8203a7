// One experiment: what it needs, what it provides and how it runs. The catalogue lists them all.
#pragma once

#include "device/device.hpp"
#include "experiments/code_checks.hpp"
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

/// Experiments use the instruments of `measure` and hand on `results` throughout.
using namespace measure;
using namespace results;

/// Cycles by which the clock register steps; 1 if that was not found.
[[nodiscard]] double clock_step(const Findings& findings);
/// Fewest cycles by which two levels of latency differ: the larger of three and one and a half steps of the clock.
[[nodiscard]] double least_level_step(const Findings& findings);
/// The SM clock in MHz as it was measured, or else as the driver reports it.
[[nodiscard]] double sm_mhz_of(const Findings& findings, const device::Device& device);

/// What a run may use. Everything it learns of the GPU goes through `device`.
struct Context {
    device::Device& device;
    const Findings& findings;
    std::uint64_t seed = 1;
    bool quick = false;
    /// Reports progress in 0..1 and throws Interrupted when the user asked to stop. Call it between launches.
    std::function<void(double fraction, std::string_view what)> progress;
    /// How much it may measure. What depends on it is an amount, never the method.
    Budget budget = usual_budget(device);

    /// The context of an instrument, which knows no findings.
    operator measure::Run() const {
        return {device, seed, quick, clock_step(findings), progress, budget};
    }  // NOLINT(google-explicit-constructor)
};

/// Which scans of everything run an experiment.
enum class PartOfScan {
    always,
    with_full_budget,  ///< if the budget is full: a GPU runs it in seconds, a simulation takes minutes
    on_request,        ///< only if the user names it
};

/// One row of the catalogue. Paths of the description may hold a * for any key: "caches.*.capacity".
struct Experiment {
    /// Name on the command line and in scans, such as "caches".
    std::string_view id;
    /// One line for `gputomo list experiments`.
    std::string_view title;
    /// Papers and sections that the method comes from: "Wong 2010, IV-G; Mei 2014, 3.2".
    std::string_view source;
    /// Page under docs/methods that describes the method, without ".md": "cache-geometry".
    std::string_view method = {};
    /// A few sentences for the report: what runs, and how the numbers follow from it.
    std::string_view explanation = {};
    /// Ids of experiments without whose findings it cannot run.
    std::vector<std::string_view> needs;
    /// Ids of experiments whose findings improve it. It runs even if they fail.
    std::vector<std::string_view> after;
    /// Paths of the leaves of the description that it estimates.
    std::vector<std::string_view> provides;
    Outcome (*run)(Context& context);
    PartOfScan part_of_scan = PartOfScan::always;
    /// Optional, for devices that compile ahead of time: hands the device kernels that take long to compile. It is
    /// called once `compile_after` has run, or before all experiments. The context reports no progress.
    void (*compile_ahead)(const Context& context) = nullptr;
    /// Id of the experiment whose findings the kernels need, or that must run before they are compiled.
    std::string_view compile_after = {};
    /// The source file as the compiler names it. The default is the file that constructs this row.
    const char* compiled_from = __builtin_FILE();

    /// The source file relative to the source tree: "src/experiments/tlbs/tlb.cpp".
    [[nodiscard]] std::string_view file() const;
};

/// All experiments, in no particular order; the plan orders them by needs.
[[nodiscard]] std::span<const Experiment> catalogue();

}  // namespace gputomo::experiments
