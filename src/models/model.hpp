// One model of latency hiding: a workload and a GPU's parameters in, throughput against occupancy out. The catalogue
// lists them all.
#pragma once

#include "models/parameters.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::models {

/// An instruction mix: every warp repeats a group of dependent instructions, one memory instruction (or what
/// Parameters::access says instead) and `alpha` arithmetic ones (Volkov 2016, 4.1).
struct Mix {
    double alpha = 0;  ///< kArithmeticOnly: no memory instructions
    /// Independent chains of such instructions in a warp. Models treat each chain as a warp (Volkov 2016, 6.3).
    double ilp = 1;

    static constexpr double kArithmeticOnly = std::numeric_limits<double>::infinity();
};

/// Instructions of a mix's repeating group: {1, alpha}, or {0, 1} for arithmetic alone.
struct Group {
    double memory = 1;
    double arithmetic = 0;
    [[nodiscard]] double instructions() const { return memory + arithmetic; }
};
[[nodiscard]] Group group_of(const Mix& mix);

/// An intermediate quantity of a model, under its name in the paper.
struct Term {
    std::string_view name;
    double value = 0;
    std::string_view unit;
};

struct Solution {
    double instructions_per_cycle = 0;  ///< of one SM; may be negative or infinite if the model's formula is
    std::vector<Term> terms;

    /// The value of the term with that name. Throws std::out_of_range if there is none.
    [[nodiscard]] double term(std::string_view name) const;
};

struct Model {
    std::string_view id;      ///< "volkov-basic"
    std::string_view title;   ///< one line for `gputomo list models`
    std::string_view source;  ///< paper and equations
    /// At `warps` warps per SM, which may be fractional.
    Solution (*solve)(const Parameters& parameters, const Group& group, double warps);
    /// Warps per SM that hide latency by the paper's own formula; nullptr if it gives throughput only.
    double (*needed_warps)(const Parameters& parameters, const Group& group) = nullptr;
};

/// All models, those of Volkov 2016 first.
[[nodiscard]] std::span<const Model> catalogue();
/// Throws InputError naming the models that exist.
[[nodiscard]] const Model& find_model(std::string_view id);

/// Throughput at `warps` warps per SM.
[[nodiscard]] Solution solve(const Model& model, const Parameters& parameters, const Mix& mix, double warps);

/// Arithmetic thread operations per cycle and SM of a mix that runs at `instructions_per_cycle` per SM.
[[nodiscard]] double adds_per_cycle(const Mix& mix, double instructions_per_cycle);
/// Memory instructions per cycle and SM of a mix that runs at `instructions_per_cycle` per SM.
[[nodiscard]] double accesses_per_cycle(const Mix& mix, double instructions_per_cycle);

/// The peak that throughput limits allow, in instructions per cycle and SM (Volkov 2016, 4.1).
[[nodiscard]] double peak_instructions_per_cycle(const Parameters& parameters, const Mix& mix);

/// The smallest number of warps per SM at which the model reaches `fraction` of peak_instructions_per_cycle() (Volkov
/// 2016, 4.5, Fig. 4.6: 0.9). Returns nullopt if `most` warps do not.
[[nodiscard]] std::optional<int> warps_to_reach(const Model& model, const Parameters& parameters, const Mix& mix,
                                                double fraction, int most);

/// Warps per SM by the paper's own formula, if it has one, divided by the mix's ILP.
[[nodiscard]] std::optional<double> needed_warps(const Model& model, const Parameters& parameters, const Mix& mix);

}  // namespace gputomo::models
