// An experiment by the recipe: the warp size, asked of the driver.
#include "experiments/experiments.hpp"
#include "results/estimates.hpp"

namespace gputomo::experiments {
namespace recipe {
namespace {

Outcome run(Context& context) {
    context.progress(0, "asking");
    Outcome outcome;
    outcome.estimates.push_back(decided("topology.warp_size",
                                        context.device.attribute(device::Attribute::warp_size).value_or(0),
                                        {"recipe: device attribute", 0.9}));
    return outcome;
}

}  // namespace
}  // namespace recipe

Experiment recipe_experiment() {
    return {.id = "recipe",
            .title = "the warp size alone",
            .source = "docs/adding.md",
            .method = "registers-and-launch",
            .explanation = "The driver is asked for the number of threads of a warp.",
            .needs = {},
            .after = {},
            .provides = {"topology.warp_size"},
            .run = recipe::run};
}

}  // namespace gputomo::experiments
