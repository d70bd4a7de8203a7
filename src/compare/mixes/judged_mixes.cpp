#include "compare/mixes/judged_mixes.hpp"

#include "measure/mix/mix_sweeps.hpp"

#include <algorithm>

namespace gputomo::compare {
namespace {

bool is_alone(const measure::MixShape& shape) { return shape.arithmetic_only || shape.alpha == 0; }

/// Fills `throughput` with instructions per cycle by warps. With `latencies`, it also fills the latency in cycles by
/// instructions per cycle, up to the peak (Little's law; Volkov 2016, 3.4).
void read_alone(const measure::MixCurve& curve, models::Curve& throughput, models::Curve* latencies) {
    double most = 0;
    for (const auto& sample : curve.samples) {
        throughput[sample.warps] = sample.instructions_per_cycle;
        if (latencies != nullptr && sample.instructions_per_cycle > most)
            (*latencies)[sample.instructions_per_cycle] =
                sample.warps * curve.shape.chains / sample.instructions_per_cycle;
        most = std::max(most, sample.instructions_per_cycle);
    }
}

/// The highest measured rate of accesses alone with any number of chains, in accesses per cycle and SM.
double best_alone(const measure::MixSurface& surface, measure::MixAccess access) {
    double most = 0;
    for (const auto& curve : surface.curves)
        if (!curve.shape.arithmetic_only && curve.shape.alpha == 0 && curve.shape.access == access)
            for (const auto& sample : curve.samples) most = std::max(most, sample.instructions_per_cycle);
    return most;
}

/// Latency of an access in cycles at the smallest measured number in flight (Little's law); 0 where the surface has no
/// curve of accesses alone.
double latency_alone(const measure::MixSurface& surface, measure::MixAccess access) {
    int fewest = 0;
    double latency = 0;
    for (const auto& curve : surface.curves) {
        if (curve.shape.arithmetic_only || curve.shape.alpha != 0 || curve.shape.access != access) continue;
        for (const auto& sample : curve.samples) {
            const int in_flight = sample.warps * curve.shape.chains;
            if (fewest > 0 && in_flight >= fewest) continue;
            fewest = in_flight;
            latency = in_flight / sample.instructions_per_cycle;
        }
    }
    return latency;
}

}  // namespace

measure::MixAccess mix_access(models::Access access) {
    switch (access) {
        case models::Access::shared: return measure::MixAccess::shared;
        case models::Access::sfu: return measure::MixAccess::sfu;
        case models::Access::l2: return measure::MixAccess::l2;
        case models::Access::l1: return measure::MixAccess::l1;
        case models::Access::tensor: return measure::MixAccess::tensor;
        default: return measure::MixAccess::global;
    }
}

std::vector<models::MeasuredMix> judged_mixes(const measure::MixSurface& surface, const MixChoice& choice,
                                              models::Parameters& p) {
    const auto access = mix_access(p.access);
    const auto occupancies = measure::mix_occupancies(p.schedulers, p.max_warps);
    std::vector<models::MeasuredMix> mixes;
    if (p.memory.throughput == 0) p.memory.throughput = best_alone(surface, access);
    if (p.memory.latency == 0) p.memory.latency = latency_alone(surface, access);
    for (const auto& curve : surface.curves) {
        const auto& shape = curve.shape;
        if (shape.chains != choice.chains || (!shape.arithmetic_only && shape.access != access)) continue;
        if (is_alone(shape)) {
            read_alone(curve, shape.arithmetic_only ? p.arithmetic_curve : p.memory_curve,
                       shape.arithmetic_only ? nullptr : &p.loaded_latency);
            continue;
        }
        const double alpha = static_cast<double>(shape.alpha) / shape.accesses;
        if (!choice.alphas.empty() && std::ranges::find(choice.alphas, alpha) == choice.alphas.end()) continue;
        auto& measured = mixes.emplace_back(models::MeasuredMix{{alpha, static_cast<double>(choice.chains)}, {}});
        for (const auto& sample : curve.samples)
            if (choice.every_occupancy || std::ranges::find(occupancies, sample.warps) != occupancies.end())
                measured.throughput[sample.warps] = sample.instructions_per_cycle;
    }
    std::ranges::sort(mixes, {}, [](const auto& measured) { return measured.mix.alpha; });
    return mixes;
}

}  // namespace gputomo::compare
