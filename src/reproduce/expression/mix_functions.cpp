#include "reproduce/expression/mix_functions.hpp"

#include "models/cusp.hpp"
#include "models/evaluation.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace gputomo::reproduce {
namespace {

using Arguments = std::span<const Value>;
using Numbers = std::vector<double>;

constexpr double kWarp = kWarpSize;
/// A model may need more warps than an SM holds; the search for them ends here. A larger limit only takes longer.
constexpr int kMostWarps = 256;

template <class T>
const T& argument(const Value& value, std::string_view expected) {
    if (const auto* held = std::get_if<T>(&value)) return *held;
    throw InputError(fmt::format("found {} ({}) as an argument of a function of mixes; expected {}", kind_of(value),
                                 text_of(value), expected));
}
const std::string& text(const Value& value, std::string_view expected) {
    return argument<std::string>(value, expected);
}

/// The number of adds for each access; infinity for adds alone.
double alpha_of(const Value& value) {
    const auto* adds = std::get_if<std::string>(&value);
    if (adds != nullptr && *adds == "adds") return models::Mix::kArithmeticOnly;
    return argument<double>(value, "a number of adds for each access, or 'adds'");
}

/// The trace of kAloneExperiment that has the accesses alone.
std::string_view alone_name(models::Access access) {
    switch (access) {
        case models::Access::shared: return "occupancy/smem";
        case models::Access::sfu: return "occupancy/sfu";
        default: return "occupancy/stream";
    }
}

/// The curve of one kind of instruction alone, at occupancies that give each scheduler the same number of warps (Volkov
/// 2016, 7).
models::Curve curve_alone(const scan::Scan& scan, std::string_view name, int schedulers) {
    const auto *warps = scan.column(kAloneExperiment, name, "warps"),
               *rate = scan.column(kAloneExperiment, name, "rate");
    models::Curve curve;
    if (warps == nullptr || rate == nullptr) return curve;
    for (std::size_t i = 0; i < warps->size(); ++i)
        if (std::fmod((*warps)[i], schedulers) == 0) curve[(*warps)[i]] = (*rate)[i] / kWarp;
    return curve;
}

/// The models' parameters as the scan found them. Throws NotMeasured where one is missing.
models::Parameters parameters_of(const scan::Scan& scan, const Value& access) {
    try {
        auto p = models::parameters_of(scan::describe(scan), models::access_named(text(access, "an access")), "models");
        p.arithmetic_curve = curve_alone(scan, "occupancy/add", p.schedulers);
        p.memory_curve = curve_alone(scan, alone_name(p.access), p.schedulers);
        for (const auto& [n, accesses] : p.memory_curve)  // latencies up to the peak, by Little's law
            if (p.loaded_latency.empty() || accesses > p.loaded_latency.rbegin()->first)
                p.loaded_latency[accesses] = n / accesses;
        return p;
    } catch (const InputError& missing) {
        throw NotMeasured(missing.what());
    }
}

/// Instructions per cycle and SM by warps.
models::Curve measured(const scan::Scan& scan, const models::Parameters& p, double alpha) {
    models::Curve curve = alpha == 0 ? p.memory_curve : std::isinf(alpha) ? p.arithmetic_curve : models::Curve{};
    const auto access = models::name_of(p.access);
    if (curve.empty() && alpha > 0 && std::isfinite(alpha)) {
        const auto name = mix_trace_name({std::string(access), static_cast<int>(alpha)});
        const auto *warps = scan.column(kMixRecord, name, "warps"), *rate = scan.column(kMixRecord, name, "rate");
        if (warps != nullptr && rate != nullptr)
            for (std::size_t i = 0; i < warps->size(); ++i) curve[(*warps)[i]] = (*rate)[i];
    }
    if (curve.empty()) throw NotMeasured(fmt::format("not measured: the mix of {} with alpha {}", access, alpha));
    return curve;
}
models::Curve measured(const scan::Scan& scan, Arguments a) {
    return measured(scan, parameters_of(scan, a[0]), alpha_of(a[1]));
}

Value warps(const scan::Scan& scan, Arguments a) {
    Numbers out;
    for (const auto& [n, rate] : measured(scan, a)) out.push_back(n);
    return out;
}

Value rate(const scan::Scan& scan, Arguments a) {
    Numbers out;
    for (const auto& [n, rate] : measured(scan, a)) out.push_back(rate);
    return out;
}

Value peak(const scan::Scan& scan, Arguments a) {
    return models::peak_instructions_per_cycle(parameters_of(scan, a[0]), {.alpha = alpha_of(a[1])});
}

Value estimate(const scan::Scan& scan, Arguments a) {
    const auto& model = models::find_model(text(a[0], "the id of a model"));
    const auto p = parameters_of(scan, a[1]);
    const models::Mix mix{.alpha = alpha_of(a[2])};
    Numbers out;
    for (const auto& [n, rate] : measured(scan, p, mix.alpha))
        out.push_back(models::solve(model, p, mix, n).instructions_per_cycle);
    return out;
}

Value needed(const scan::Scan& scan, Arguments a) {
    const auto& model = models::find_model(text(a[0], "the id of a model"));
    const double alpha = alpha_of(a[2]);
    const auto found =
        models::warps_to_reach(model, parameters_of(scan, a[1]), {.alpha = alpha}, models::kHidden, kMostWarps);
    if (!found)
        throw NotMeasured(fmt::format("{} does not reach {}% of the peak at alpha {} with up to {} warps", model.id,
                                      100 * models::kHidden, alpha, kMostWarps));
    return static_cast<double>(*found);
}

/// The curve at the occupancies of `like`. A curve with larger steps between its occupancies would
/// otherwise seem to need more warps.
models::Curve at_warps_of(const models::Curve& like, const models::Curve& curve) {
    models::Curve out;
    for (const auto& [n, unused] : like) out[n] = models::value_at(curve, n);
    return out;
}

Value cusp(const scan::Scan& scan, Arguments a) {
    auto p = parameters_of(scan, a[0]);
    std::vector<models::MeasuredMix> mixes;
    for (const double alpha : argument<Numbers>(a[1], "a list of numbers"))
        mixes.push_back({{.alpha = alpha}, measured(scan, p, alpha)});
    if (mixes.empty()) throw InputError("mix_cusp of no mixes; expected at least one");
    for (auto* alone : {&p.memory_curve, &p.arithmetic_curve}) {
        if (alone->empty()) throw NotMeasured("not measured: accesses and adds alone");
        *alone = at_warps_of(mixes.front().throughput, *alone);
    }
    return models::cusp_of(models::measured_needs(p, mixes))->above_both_ends;
}

constexpr std::array kMixFunctions{
    MixFunction{"mix_warps", MixForm::measured, true, warps},
    MixFunction{"mix_rate", MixForm::measured, true, rate},
    MixFunction{"mix_peak", MixForm::measured, false, peak},
    MixFunction{"mix_estimate", MixForm::estimated, true, estimate},
    MixFunction{"mix_needed", MixForm::estimated, false, needed},
    MixFunction{"mix_cusp", MixForm::several, true, cusp},
};

}  // namespace

const MixFunction* find_mix_function(std::string_view name) {
    const auto* found = std::ranges::find(kMixFunctions, name, &MixFunction::name);
    return found == kMixFunctions.end() ? nullptr : found;
}

std::string alternatives_to_access(std::string_view access) {
    for (const auto known : {models::Access::global, models::Access::shared, models::Access::sfu})
        if (models::name_of(known) == access) return {};
    return "'global', 'shared' or 'sfu'";
}

/// The coefficients of contention are not listed: they come with the experiment of accesses alone.
std::set<std::string> leaves_of_mixes(std::string_view access) {
    std::set<std::string> leaves{"topology.sms",
                                 "topology.max_threads_per_sm",
                                 "topology.warp_size",
                                 "clock.sm_mhz",
                                 "issue.schedulers_per_sm",
                                 "issue.issue_interval",
                                 "operations[add.f32].latency",
                                 "operations[add.f32].throughput"};
    if (access == "global")
        leaves.insert({"paths.global.memory_latency", "paths.global.warp_latency", "memory.read_bandwidth",
                       "memory.peak_bandwidth"});
    if (access == "shared") leaves.insert({"shared.latency", "shared.warp_latency", "shared.bytes_per_cycle"});
    if (access == "sfu") leaves.insert({"pipelines.sfu.latency", "pipelines.sfu.warp_latency", "pipelines.sfu.lanes"});
    return leaves;
}

}  // namespace gputomo::reproduce
