// Throughput against occupancy with models of latency hiding over it (Volkov 2016, 4.5, 7.9, 7.10), as a section of the
// report.
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
    bool shown = false;  ///< before the reader chooses
};

/// Adds that wait for each other and for one other instruction.
struct ModelledMix {
    double alpha = 0;                                  ///< adds for each other instruction
    std::map<double, double> measured;                 ///< instructions per cycle and SM by warps of an SM
    std::vector<std::map<double, double>> estimated;   ///< the same of each model
    std::optional<int> needed_measured;                ///< warps for 90% of the peak
    std::vector<std::optional<int>> needed_estimated;  ///< by model
};

/// All mixes with one other instruction.
struct ModelledAccess {
    std::string id;     ///< "global"
    std::string title;  ///< "streaming loads"
    std::string why_no_models;
    std::vector<ModelledMix> mixes;  ///< by alpha
    std::vector<double> mean_error;  ///< of each model: estimate over measured or its reciprocal, whichever is larger;
                                     ///< empty without models
};

struct Modelled {
    std::vector<ModelName> models;
    std::vector<ModelledAccess> accesses;
    [[nodiscard]] bool empty() const { return accesses.empty(); }
};

/// A table of models by how far off they are, in which those to draw are chosen; for each access the warps needed and
/// some mixes. Empty where there is nothing.
[[nodiscard]] std::string modelled_section(const Modelled& modelled);

}  // namespace gputomo::report
