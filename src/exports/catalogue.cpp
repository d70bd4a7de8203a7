#include "exports/exports.hpp"

#include <array>

namespace gputomo::exports {

std::span<const Format> catalogue() {
    static constexpr std::array kRows = {
        Format{"accel-sim", "options of the simulator Accel-Sim, each with its provenance", accel_sim},
        Format{"gpgpu-sim", "the same without those of traces", gpgpu_sim},
        Format{"llmcompass", "hardware file of LLMCompass", llmcompass},
        Format{"tilelang", "fields of TileLang's carver", tilelang},
        Format{"roofline", "ceilings of compute and memory", roofline},
        Format{"flat", "one JSON object keyed by path", flat_json},
        Format{"csv", "one row per leaf", csv},
    };
    return kRows;
}

}  // namespace gputomo::exports
