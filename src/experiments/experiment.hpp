// One experiment: kernel, sweep, what it needs, what it provides. The catalogue lists them all.
#pragma once

#include "deduce/estimate.hpp"
#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::experiments {

/// Estimates of experiments that ran before, by path.
class Findings {
public:
    void add(deduce::Estimate estimate);
    [[nodiscard]] const deduce::Estimate* find(std::string_view path) const;
    /// The decided number at `path`; nullopt when missing, absent or undecided.
    [[nodiscard]] std::optional<double> number(std::string_view path) const;
    [[nodiscard]] const std::map<std::string, deduce::Estimate, std::less<>>& all() const { return by_path_; }

private:
    std::map<std::string, deduce::Estimate, std::less<>> by_path_;
};

/// Cycles by which the clock register steps; 1 where that was not found.
[[nodiscard]] double clock_step(const Findings& findings);
/// Cycles by which two levels of latency differ at least: three, or one and a half steps of the clock.
[[nodiscard]] double least_level_step(const Findings& findings);

/// What a run may use. Everything it learns of the GPU goes through `device`.
struct Context {
    device::Device& device;
    const Findings& findings;
    std::uint64_t seed = 1;
    bool quick = false;
    /// Reports progress in 0..1 and throws Interrupted when the user asked to stop. Call it between launches.
    std::function<void(double fraction, std::string_view what)> progress;
};

enum class CodeResult : std::uint8_t { passed, failed, unavailable };

/// Machine-code check of one kernel: did the driver compile what was written?
struct CodeCheck {
    std::string kernel;
    CodeResult result = CodeResult::unavailable;
    std::string expected;  ///< "256 x FADD between the clock reads"
    std::string found;     ///< why there is nothing to check, where the result is unavailable
    std::string listing;   ///< only where it failed
};

/// "passed", "failed", "unavailable"
[[nodiscard]] std::string_view name_of(CodeResult result);

struct Outcome {
    std::vector<deduce::Estimate> estimates;
    std::vector<deduce::Trace> traces;
    std::vector<CodeCheck> code_checks;
    std::vector<std::string> warnings;
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
