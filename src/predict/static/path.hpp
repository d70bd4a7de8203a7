// The path of a warp through a kernel: straight-line code and nested loops with trip counts.
#pragma once

#include "predict/static/code.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace gputomo::predict {

struct Loop;
/// An instruction, by its index, or a loop.
using Step = std::variant<std::size_t, std::shared_ptr<const Loop>>;

struct Loop {
    std::size_t head = 0;  ///< index of its first instruction
    double trips = 1;
    std::vector<Step> body;
};

struct PathChoices {
    std::map<std::string, double> trip_counts;  ///< by label
    std::set<std::string> taken;                ///< labels of conditional forward branches that are taken
    std::set<std::string> untaken = {};         ///< labels of those that are not taken
    /// Refuses conditional forward branches over a loop that are in neither set: whether that loop runs decides the
    /// time.
    bool refuses_guesses = false;
};

struct Path {
    std::vector<Step> steps;
    std::vector<std::string> assumptions;  ///< branches that are assumed to fall through, one sentence each
};

/// Conditional forward branches fall through unless chosen otherwise, because most kernels leave early only if there is
/// no work. Each such assumption is listed. Throws InputError for a choice of an unknown label and for control flow
/// that is no nest of loops. For loops without a trip count it names the option that gives one.
[[nodiscard]] Path path_of(const Code& code, const PathChoices& choices);

/// Executions of each instruction by one warp.
[[nodiscard]] std::vector<double> executions(const Code& code, const Path& path);

}  // namespace gputomo::predict
