// A performance model by the recipe: what it knows is one instruction a cycle.
#include "models/models.hpp"

namespace gputomo::models {

Model recipe() {
    return {.id = "recipe",
            .title = "one instruction a cycle",
            .source = "docs/adding.md",
            .solve = [](const Parameters&, const Group&, double) {
                return Solution{1, {{"rate", 1, "instructions/cycle"}}};
            }};
}

}  // namespace gputomo::models
