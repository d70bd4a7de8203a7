// Models of latency hiding judged on measured instruction mixes: what `gputomo evaluate` computes and shows.
#pragma once

#include "compare/mixes/judged_mixes.hpp"
#include "device/device.hpp"
#include "machine/machine.hpp"
#include "measure/mix/mix_surface.hpp"
#include "models/cusp.hpp"
#include "models/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::compare {

/// Ids of the experiments that together measure every parameter of the models.
[[nodiscard]] const std::vector<std::string>& parameter_experiments();

/// The models' parameters of `machine`. Throws InputError that begins with `origin` where the description lacks one, or
/// does not say how many threads an SM holds.
[[nodiscard]] models::Parameters evaluation_parameters(const machine::Machine& machine, models::Access access,
                                                       const std::string& origin);

struct MixRequest {
    int chains = 1;           ///< independent dependence chains of each warp
    std::vector<int> alphas;  ///< arithmetic instructions for each access; empty selects a standard series
    bool quick = false;       ///< takes a shorter standard series
    /// Instructions in one iteration of the mixes' loop; by default 720, or the most that instruction fetch sustains.
    std::optional<int> loop_length;
};

/// Measures the requested mixes of `p.access` and adds. Where SMs share the memory, or `p` lacks its throughput, it
/// also measures accesses alone, which give the latency under load and the peak rate. Reports progress as a fraction
/// from 0 to 1; errors are those of device::Kernel::launch.
[[nodiscard]] measure::MixSurface measure_mixes(device::Device& device, const models::Parameters& p,
                                                const MixRequest& request,
                                                const std::function<void(double, std::string_view)>& progress);

/// The fewest warps with 90% of the peak, mix by mix: measured, or as a model estimates (Volkov 2016, Fig. 4.6).
struct NeededWarps {
    std::string_view source;  ///< "measured", or the id of a model
    models::Needs needs;
};

struct MixEvaluation {
    models::Parameters parameters;
    std::vector<models::MeasuredMix> mixes;
    std::vector<models::Evaluation> models;
    std::vector<NeededWarps> needed;  ///< the measured ones first
};

/// Judges every model on the surface's mixes that `choice` selects. Throws InputError that begins with `origin` where
/// the surface has no such mix, or neither it nor `parameters` has the throughput of the access.
[[nodiscard]] MixEvaluation evaluate(const measure::MixSurface& surface, models::Parameters parameters,
                                     const MixChoice& choice, const std::string& origin);

/// For the terminal.
[[nodiscard]] std::string evaluation_table(const MixEvaluation& evaluation);
/// Schema gputomo-evaluation-1. What is not finite or was not reached is null.
[[nodiscard]] nlohmann::ordered_json evaluation_json(const MixEvaluation& evaluation);

}  // namespace gputomo::compare
