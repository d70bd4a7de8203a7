// The way of a warp through a kernel: straight runs of instructions, and loops with their trip counts.
#pragma once

#include "predict/code.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace gputomo::predict {

struct Loop;
/// One instruction by its index, or a loop.
using Step = std::variant<std::size_t, std::shared_ptr<const Loop>>;

struct Loop {
    std::size_t head = 0;  ///< first instruction
    double trips = 1;
    std::vector<Step> body;
};

struct PathChoices {
    std::map<std::string, double> trip_counts;  ///< by label
    std::set<std::string> taken;                ///< labels of conditional forward branches that are taken
};

struct Path {
    std::vector<Step> steps;
    std::vector<std::string> assumptions;  ///< branches that were taken to fall through
};

/// Conditional forward branches fall through unless chosen otherwise: most kernels leave early only where there is no
/// work. Throws InputError naming each loop without a trip count and the option that gives one, a choice that names no
/// label, and control flow that is no nest of loops.
[[nodiscard]] Path path_of(const Code& code, const PathChoices& choices);

/// How often each instruction is executed.
[[nodiscard]] std::vector<double> executions(const Code& code, const Path& path);

}  // namespace gputomo::predict
