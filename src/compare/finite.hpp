// Numbers that JSON cannot hold.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>

namespace gputomo::compare {

/// JSON has no infinity, so a throughput that cannot be reached is null.
inline nlohmann::ordered_json finite(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace gputomo::compare
