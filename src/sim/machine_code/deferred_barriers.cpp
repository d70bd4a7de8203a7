#include "sim/machine_code/deferred_barriers.hpp"

#include "sass/code.hpp"
#include "sass/fences.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/warp.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"

namespace gputomo::sim::machine_code {

bool defers_waiting(const Step& step) {
    return step.flow == Flow::block_barrier && step.instruction.form != nullptr &&
           step.instruction.value(sass::Modifier::defer_blocking) != 0 &&
           sass::text_of(step.instruction, 0).starts_with("BAR.SYNC");
}

bool passes_barriers(const Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const sass::Control& control = instruction.control;
    if (step.flow != Flow::next || instruction.form == nullptr || instruction.operation == sass::Operation::NOP)
        return false;
    // Products of warp groups read shared memory, which other warps may not have written yet.
    if (warpgroup::multiplies_warpgroup(instruction.operation) || waits_for_group(step) || arrives_at_group(step))
        return false;
    if (sass::waits_for_errors(instruction) || sass::shows_shared_stores(instruction) ||
        instruction.operation == sass::Operation::UTMACCTL)
        return false;
    return instruction.form->facts->what == sass::Class::compute && control.write_barrier == sass::kNoBarrier &&
           control.read_barrier == sass::kNoBarrier;
}

}  // namespace gputomo::sim::machine_code
