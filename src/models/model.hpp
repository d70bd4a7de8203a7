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

/// Back-to-back dependent instructions of every warp: one memory instruction (or what else Parameters::access says) and
/// `alpha` arithmetic ones, again and again (Volkov 2016, 4.1). Infinity: arithmetic alone.
struct Mix {
    double alpha = 0;
    /// Independent chains of such instructions in a warp. Models take them for as many warps (Volkov 2016, 6.3).
    double ilp = 1;

    static constexpr double kArithmeticOnly = std::numeric_limits<double>::infinity();
};

/// The repeating group of a mix: {1, alpha}, or {0, 1} where all is arithmetic.
struct Group {
    double memory = 1;
    double arithmetic = 0;
    [[nodiscard]] double instructions() const { return memory + arithmetic; }
};
[[nodiscard]] Group group_of(const Mix& mix);

/// A quantity that a model passes through, under its name in the paper.
struct Term {
    std::string_view name;
    double value = 0;
    std::string_view unit;
};

struct Solution {
    double instructions_per_cycle = 0;  ///< of one SM; negative or infinite where the model's formula gives that
    std::vector<Term> terms;

    /// The term of that name. Throws std::out_of_range.
    [[nodiscard]] double term(std::string_view name) const;
};

struct Model {
    std::string_view id;      ///< "volkov-basic"
    std::string_view title;   ///< one line for `gputomo list models`
    std::string_view source;  ///< paper and equations
    /// At `warps` warps per SM, which may be fractional.
    Solution (*solve)(const Parameters& parameters, const Group& group, double warps);
    /// Warps per SM that hide latency as the paper says it; nullptr where it gives throughput only.
    double (*needed_warps)(const Parameters& parameters, const Group& group) = nullptr;
};

/// All models, those of the thesis first.
[[nodiscard]] std::span<const Model> catalogue();
/// Throws InputError naming the models that exist.
[[nodiscard]] const Model& find_model(std::string_view id);

/// Throughput at `warps` warps per SM.
[[nodiscard]] Solution solve(const Model& model, const Parameters& parameters, const Mix& mix, double warps);

/// Throughputs of the parts of a mix, from its instructions per cycle and SM.
[[nodiscard]] double adds_per_cycle(const Mix& mix,
                                    double instructions_per_cycle);  ///< thread operations per cycle and SM
[[nodiscard]] double accesses_per_cycle(const Mix& mix,
                                        double instructions_per_cycle);  ///< memory instructions per cycle and SM

/// The most that the throughput limits allow, instructions per cycle and SM (Volkov 2016, 4.1).
[[nodiscard]] double peak_instructions_per_cycle(const Parameters& parameters, const Mix& mix);

/// The smallest whole number of warps per SM at which the model reaches `fraction` of the peak that throughput limits
/// allow (Volkov 2016, 4.5, Fig. 4.6: 0.9); nullopt where it does not up to `most`.
[[nodiscard]] std::optional<int> warps_to_reach(const Model& model, const Parameters& parameters, const Mix& mix,
                                                double fraction, int most);

/// As the paper's own formula says, if it has one; with ILP, warps are as many times fewer.
[[nodiscard]] std::optional<double> needed_warps(const Model& model, const Parameters& parameters, const Mix& mix);

}  // namespace gputomo::models
