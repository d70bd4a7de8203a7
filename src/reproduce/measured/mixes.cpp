#include "reproduce/measured/mixes.hpp"

#include "measure/mix/fitting_loop_length.hpp"
#include "measure/mix/mix_surface.hpp"
#include "measure/mix/model_plan.hpp"
#include "reproduce/measured/timed_record.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace gputomo::reproduce {
namespace {

results::Trace trace_of(std::string_view access, const measure::MixCurve& curve) {
    const Mix mix{std::string(access), curve.shape.alpha};
    results::Trace trace{.name = mix_trace_name(mix), .experiment = std::string(kMixRecord)};
    trace.columns = {{"warps", "warp/SM", {}}, {"rate", "instructions/cycle/SM", {}}};
    for (const auto& sample : curve.samples) trace.add_row(sample.warps, sample.instructions_per_cycle);
    return trace;
}

/// Measures one surface for each kind of access. Adds what was measured to `outcome` even where it throws.
void measure(device::Device& device, int schedulers, const std::set<Mix>& mixes,
             const std::function<void(double, std::string_view)>& progress, results::Outcome& outcome) {
    std::map<std::string, std::vector<measure::MixIntensity>> intensities;
    for (const auto& mix : mixes) intensities[mix.access].push_back({.accesses = 1, .alpha = mix.alpha});
    progress(0, "loop length");
    const int loop_length = measure::fitting_loop_length(device);
    double done = 0;
    for (const auto& [access, of_access] : intensities) {
        const double share = static_cast<double>(of_access.size()) / static_cast<double>(mixes.size());
        measure::MixSurface surface;
        // Clang before 16 captures no structured binding by reference.
        const auto keep = [&, access = access] {
            for (const auto& curve : surface.curves) outcome.traces.push_back(trace_of(access, curve));
            outcome.warnings.insert(outcome.warnings.end(), surface.warnings.begin(), surface.warnings.end());
        };
        try {
            measure::add_to_surface(
                device,
                measure::plan_of({.access = measure::mix_access_named(access).value(),
                                  .intensities = of_access,
                                  .schedulers = schedulers,
                                  .max_warps = measure::max_warps_of(device),
                                  .loop_length = loop_length}),
                [&](double fraction, std::string_view what) { progress(done + share * fraction, what); }, surface);
        } catch (...) {
            keep();
            throw;
        }
        keep();
        done += share;
    }
}

}  // namespace

std::string mix_trace_name(const Mix& mix) { return fmt::format("{}/{}/{}", kMixRecord, mix.access, mix.alpha); }

scan::Record measure_mixes(device::Device& device, const scan::Scan& scan, const std::set<Mix>& mixes,
                           const std::function<void(double, std::string_view)>& progress) {
    return timed_record(kMixRecord, [&](results::Outcome& outcome) {
        const auto schedulers = static_cast<int>(scan.findings.number("issue.schedulers_per_sm").value_or(1));
        measure(device, schedulers, mixes, progress, outcome);
    });
}

}  // namespace gputomo::reproduce
