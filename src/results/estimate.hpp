// What an experiment deduces: one leaf of the machine description with its uncertainty.
#pragma once

#include "results/value.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::results {

struct Estimate {
    /// Path of the leaf, as machine/machine.hpp spells it: "caches.l1.capacity".
    std::string path;
    Knowledge knowledge = Knowledge::known;
    /// Holds when `knowledge` is known.
    Value value;
    /// The values that remain possible when `knowledge` is undecided; none means that nothing is ruled out.
    std::vector<Value> candidates;
    /// The experiment and the rule that gave the value, in words.
    std::string method;
    /// Probability that the value is right, 0..1.
    double confidence = 0;
    /// [low, high], in the unit of the leaf.
    std::optional<std::array<double, 2>> interval;
    std::string note;

    [[nodiscard]] bool known() const { return knowledge == Knowledge::known; }
};

}  // namespace gputomo::results
