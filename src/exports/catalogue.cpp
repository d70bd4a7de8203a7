#include "exports/exports.hpp"

#include <array>

namespace gputomo::exports {

std::span<const Format> catalogue() {
    static constexpr std::array kRows = {
        Format{"accel-sim", "options of the Accel-Sim simulator, each with its provenance", accel_sim},
        Format{"flat", "one JSON object keyed by path", flat_json},
        Format{"csv", "one row per leaf", csv},
    };
    return kRows;
}

}  // namespace gputomo::exports
