#include "sim/machine_code/stall_kind.hpp"

#include "sass/form.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"

#include <algorithm>

namespace gputomo::sim::machine_code {
namespace {

using costs::Stall;
using costs::StallKind;

constexpr StallKind kSharedAccess{Stall::short_scoreboard, Stall::mio_throttle, Stall::mio_throttle},
    kGlobalAccess{Stall::long_scoreboard, Stall::lg_throttle, Stall::lg_throttle},
    kTextureAccess{Stall::long_scoreboard, Stall::tex_throttle, Stall::tex_throttle};

/// Threads of a warp that go on elsewhere, or wait for others.
StallKind of_flow(Flow flow) {
    const bool meets = flow == Flow::block_barrier || flow == Flow::cluster_arrive || flow == Flow::cluster_wait ||
                       flow == Flow::warp_barrier;
    return {.hold = meets ? Stall::barrier : Stall::branch_resolving};
}

bool waits_for_products(const Step& step) {
    return std::ranges::any_of(step.instruction.operands(), [](const sass::Operand& operand) {
        return operand.kind == sass::OperandKind::group_barrier;
    });
}

}  // namespace

StallKind stall_kind_of(const Step& step) {
    if (step.flow != Flow::next) return of_flow(step.flow);
    if (step.instruction.form == nullptr) return {};
    const sass::Facts& facts = *step.instruction.form->facts;
    if (warpgroup::multiplies_warpgroup(step.instruction.operation)) return {Stall::gmma, Stall::gmma, Stall::gmma};
    switch (facts.what) {
        case sass::Class::memory: return facts.accesses_shared() ? kSharedAccess : kGlobalAccess;
        case sass::Class::shared_barrier:
            return {Stall::short_scoreboard, Stall::mio_throttle, Stall::short_scoreboard};
        case sass::Class::constant: return kSharedAccess;
        case sass::Class::texture: return kTextureAccess;
        case sass::Class::copy:
        case sass::Class::copy_barrier:
        case sass::Class::bulk_copy:
        case sass::Class::bulk_group: return kGlobalAccess;
        case sass::Class::wait: return {.hold = waits_for_products(step) ? Stall::gmma : Stall::long_scoreboard};
        case sass::Class::sleep: return {.hold = Stall::sleeping};
        default: break;
    }
    const bool is_special = facts.unit == sass::Unit::sfu || facts.unit == sass::Unit::exchange;
    return {Stall::short_scoreboard, is_special ? Stall::mio_throttle : Stall::math_pipe_throttle, Stall::wait};
}

}  // namespace gputomo::sim::machine_code
