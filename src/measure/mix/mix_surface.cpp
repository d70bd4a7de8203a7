#include "measure/mix/mix_surface.hpp"

#include "measure/kernel/device_facts.hpp"
#include "measure/mix/fitting_loop_length.hpp"
#include "measure/mix/mix_arrays.hpp"
#include "measure/mix/mix_sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

namespace gputomo::measure {
namespace {

/// Longer loops exceed the instruction caches.
constexpr int kMostInstructions = 1100;
/// NVML reports the clock in steps of 15 MHz; a change below 1% is at most one step.
constexpr double kSteadyClock = 0.01;
/// Least time in us for which streams are counted. An H200's memory pauses for 0.85 us every 100 us. A pause takes 2%
/// of a window of 35 us that it falls into, and nothing of others; in 200 us there are always two.
constexpr double kWindowUs = 200;
/// Two kinds of load hit the same level if their latencies differ by less than this share.
constexpr double kSameLevel = 0.1;

class Surveyor {
public:
    Surveyor(device::Device& device, const MixPlan& plan, MixSurface& surface)
        : device_(device), plan_(plan), arrays_(device), surface_(surface) {}

    void run(const std::function<void(double, std::string_view)>& progress) {
        surface_.gpu = device_.name();
        surface_.sms = static_cast<int>(sms_of(device_));
        surface_.max_warps = max_warps_of(device_);
        if (const auto khz = device_.attribute(device::Attribute::clock_rate_khz))
            surface_.sm_mhz = static_cast<double>(*khz) / 1000;
        progress(0, "loop lengths");
        const auto shapes = shapes_of_plan(plan_.loop_length ? *plan_.loop_length : fitting_loop_length(device_));
        for (std::size_t i = 0; i < shapes.size(); ++i) {
            if (plan_.seconds > 0 && elapsed() > plan_.seconds) {
                surface_.warnings.push_back(
                    fmt::format("{} of {} mixes were left out: the time limit of {} s had passed", shapes.size() - i,
                                shapes.size(), plan_.seconds));
                break;
            }
            progress(static_cast<double>(i) / static_cast<double>(shapes.size()), shapes[i].name());
            add(shapes[i]);
        }
    }

private:
    [[nodiscard]] double elapsed() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

    [[nodiscard]] double least_window_us() const {
        const Budget budget = plan_.budget.value_or(usual_budget(device_));
        return plan_.window_us.value_or(budget == Budget::full ? kWindowUs : 0);
    }

    /// Cycles from a load to a dependent load, with one warp on each SM.
    double latency(MixAccess access) {
        const auto found = latencies_.find(access);
        if (found != latencies_.end()) return found->second;
        MixThroughput mix(device_, {.access = access, .alpha = 0}, arrays_.of(access));
        return latencies_[access] = mix.cycles_of_one_warp().value_or(1);
    }

    /// Whether the device has this unit or this cache level. A level exists if its latency is lower than the next
    /// one's.
    bool exists(MixAccess access) {
        if (access == MixAccess::tensor) return device_.executes_mma();
        if (access == MixAccess::l2) return latency(MixAccess::l2) < (1 - kSameLevel) * latency(MixAccess::global);
        if (access == MixAccess::l1)
            return latency(MixAccess::l1) <
                   (1 - kSameLevel) * std::min(latency(MixAccess::l2), latency(MixAccess::global));
        return true;
    }

    std::vector<MixShape> shapes_of_plan(int loop_length) {
        std::vector<MixShape> shapes;
        std::vector<MixAccess> accesses;
        for (const MixAccess access : plan_.accesses) {
            if (exists(access))
                accesses.push_back(access);
            else
                surface_.warnings.push_back(
                    fmt::format("mixes with {} were left out: the device has no such unit, or the cache is not faster "
                                "than the next level",
                                name_of(access)));
        }
        for (const int chains : plan_.chains) {
            if (plan_.adds_alone)
                shapes.push_back({.chains = chains, .arithmetic_only = true, .loop_length = loop_length});
            for (const MixAccess access : accesses) {
                for (const auto& intensity : plan_.intensities) {
                    const MixShape shape{.access = access,
                                         .alpha = intensity.alpha,
                                         .chains = chains,
                                         .accesses = intensity.accesses,
                                         .loop_length = loop_length};
                    const bool fits = shape.instructions() <= kMostInstructions,
                               conflicts = access == MixAccess::shared_conflict;
                    if (fits && !(conflicts && shape.alpha > 0))
                        shapes.push_back(shape);  // loads alone (Volkov 2016, 6.2)
                }
            }
        }
        return shapes;
    }

    void add(const MixShape& shape) try {
        MixThroughput mix(device_, shape, arrays_.of(shape.access));
        if (surface_.sm_mhz) mix.set_least_window(least_window_us() * *surface_.sm_mhz);
        surface_.checked_kernels +=
            std::ranges::any_of(mix.compiled().code_checks(),
                                [](const auto& check) { return check.result == results::CodeResult::passed; })
                ? 1
                : 0;
        MixCurve curve{.shape = shape, .sm_mhz = {}, .samples = {}};
        for (const bool last : {false, true}) {
            const auto before = device_.clock_state();
            curve.samples.clear();
            for (const int warps : plan_.warps)
                if (const auto sample = mix.sample(warps)) curve.samples.push_back(*sample);
            const auto after = device_.clock_state();
            curve.sm_mhz = after.sm_mhz;
            if (!before.sm_mhz || !after.sm_mhz || std::abs(*after.sm_mhz / *before.sm_mhz - 1) < kSteadyClock) break;
            if (last)
                surface_.warnings.push_back(
                    fmt::format("{}: the SM clock moved from {:.0f} to {:.0f} MHz, in the repetition too", shape.name(),
                                *before.sm_mhz, *after.sm_mhz));
        }
        surface_.curves.push_back(std::move(curve));
    } catch (const CodeMismatch& mismatch) {
        surface_.warnings.emplace_back(fmt::format("{}: left out: expected {}; found {}", shape.name(),
                                                   mismatch.check().expected, mismatch.check().found));
    }

    device::Device& device_;
    const MixPlan& plan_;
    MixArrays arrays_;
    MixSurface& surface_;
    std::map<MixAccess, double> latencies_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<MixIntensity> mix_intensities() {
    std::vector<MixIntensity> all{{1, 0}, {8, 1}, {4, 1}, {2, 1}};
    for (const int alpha : mix_alphas(false)) all.push_back({1, alpha});
    return all;
}

MixSurface measure_surface(device::Device& device, const MixPlan& plan,
                           const std::function<void(double, std::string_view)>& progress) {
    MixSurface surface;
    add_to_surface(device, plan, progress, surface);
    return surface;
}

void add_to_surface(device::Device& device, const MixPlan& plan,
                    const std::function<void(double, std::string_view)>& progress, MixSurface& surface) {
    Surveyor(device, plan, surface).run(progress);
}

}  // namespace gputomo::measure
