#include "measure/mix/model_plan.hpp"

#include "measure/mix/mix_sweeps.hpp"

namespace gputomo::measure {

MixPlan plan_of(const ModelMixes& mixes) {
    return {.accesses = {mixes.access},
            .intensities = mixes.intensities,
            .chains = {mixes.chains},
            .warps = mix_occupancies(mixes.schedulers, mixes.max_warps),
            .adds_alone = false,
            .loop_length = mixes.loop_length};
}

}  // namespace gputomo::measure
