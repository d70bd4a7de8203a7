// Williams et al. 2009: the roofline model, whose throughput bounds know no latency and no occupancy.
#include "models/models.hpp"

#include <algorithm>
#include <limits>

namespace gputomo::models {
namespace {

Solution solve_roofline(const Parameters& p, const Group& group, double /*warps*/) {
    const auto limit = [](double rate, double count) {
        return count > 0 ? rate / count : std::numeric_limits<double>::infinity();
    };
    const double memory = limit(p.memory.throughput, group.memory);
    const double compute = limit(p.arithmetic.throughput, group.arithmetic);
    return {std::min(memory, compute) * group.instructions(),
            {{"memory_roof", memory, "groups/cycle"}, {"compute_roof", compute, "groups/cycle"}}};
}

}  // namespace

Model roofline() {
    return {.id = "roofline",
            .title = "memory and compute roofs",
            .source = "Williams et al. 2009; Volkov 2016, 3.5",
            .solve = solve_roofline};
}

}  // namespace gputomo::models
