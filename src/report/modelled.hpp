// The report's section of measured throughput against occupancy with models of latency hiding over it (Volkov
// 2016, 4.5, 7.9, 7.10).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::report {

struct ModelName {
    std::string id;  ///< "volkov-basic"
    std::string title;
    std::string source;
    bool shown = false;  ///< drawn before the reader chooses
};

/// One mix of dependent adds and one other instruction, which models call the access.
struct ModelledMix {
    double alpha = 0;                   ///< adds for each access
    std::map<double, double> measured;  ///< instructions per cycle and SM, by warps per SM
    std::vector<std::map<double, double>>
        estimated;                       ///< `measured` as each model estimates it, in the order of Modelled::models
    std::optional<int> needed_measured;  ///< fewest warps per SM with 90% of the peak
    std::vector<std::optional<int>> needed_estimated;  ///< `needed_measured` by each model
};

/// All mixes with one access.
struct ModelledAccess {
    std::string id;                  ///< "global"
    std::string title;               ///< "streaming loads"
    std::string why_no_models;       ///< the reason where mixes have no estimates; otherwise empty or unused
    std::vector<ModelledMix> mixes;  ///< in the order of alpha
    std::vector<double> mean_error;  ///< for each model, the mean of estimated over measured or its reciprocal,
                                     ///< whichever is larger; empty without models
};

struct Modelled {
    std::vector<ModelName> models;
    std::vector<ModelledAccess> accesses;
    [[nodiscard]] bool empty() const { return accesses.empty(); }
};

/// Shows a table of the models, best first, in which the reader chooses those to draw. For each access it has plots of
/// the warps needed and of some mixes. Empty where nothing was measured.
[[nodiscard]] std::string modelled_section(const Modelled& modelled);

}  // namespace gputomo::report
