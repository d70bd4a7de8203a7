#include "measure/mix/fixed_work_mix.hpp"

#include "measure/kernel/device_facts.hpp"
#include "measure/mix/mix_code.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Loads from shared memory need this much.
constexpr Bytes kLeastShared{256};

}  // namespace

ptx::KernelBuilder fixed_work_mix_kernel(ptx::Target target, const MixShape& shape) {
    ptx::KernelBuilder k("lives_" + shape.name(), target);
    const LineArguments lines = line_parameters(k);
    const Reg iterations = k.param(Type::u32, "iterations"), zero = k.param(Type::f32, "zero"),
              records = k.param(Type::u64, "records");
    MixCode code(k, shape);
    code.start(lines, zero);
    const Reg warp = k.reg(Type::u32), first_lane = k.reg(Type::pred);
    k("shr.u32", warp, k.thread_index(), 5);
    const Reg record = k.element(records, warp, Bytes{sizeof(WarpLifetime)});
    const Reg start = k.clock_after(code.last());
    k.loop(iterations, [&] { code.append_iteration(zero); });
    const Reg end = k.clock_after(code.sum());
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    k.when(first_lane)("st.global.u32", Mem{record, offsetof(WarpLifetime, sm)}, k.special(SpecialRegister::smid));
    k.when(first_lane)("st.global.u32", Mem{record, offsetof(WarpLifetime, start)}, start);
    k.when(first_lane)("st.global.u32", Mem{record, offsetof(WarpLifetime, end)}, end);
    return k;
}

FixedWorkMix::FixedWorkMix(device::Device& device, const MixShape& shape, LinkedArray& array)
    : device_(device),
      shape_(shape),
      array_(array),
      kernel_(device, fixed_work_mix_kernel(target_of(device), shape), expected_code(shape)),
      sms_(sms_of(device)) {}

std::vector<WarpLifetime> FixedWorkMix::run(const Work& work) {
    const auto grid = sms_ * static_cast<std::uint32_t>(work.blocks.per_sm * work.rounds);
    const std::int64_t warps = std::int64_t{grid} * work.blocks.warps,
                       lines = std::int64_t{work.iterations} * shape_.lines();
    const std::int64_t first_line = shape_.reads_lines() ? array_.take(warps, lines) : 0;
    const device::Buffer records(device_, Bytes{warps * static_cast<std::int64_t>(sizeof(WarpLifetime))});
    device::Arguments arguments;
    array_.add_to(arguments, first_line, lines);
    arguments.add(work.iterations).add(kMixZero).add(records.address());
    // If the SM's warps are as many as fit, shared memory need not limit the blocks. Its allocation units might
    // exclude one more block than intended.
    const bool full = work.blocks.per_sm * work.blocks.warps >= max_warps_of(device_);
    kernel_.launch({grid}, {static_cast<std::uint32_t>(work.blocks.warps * kWarpSize)}, arguments,
                   full ? kLeastShared : shared_for(device_, work.blocks.per_sm));
    return records.read<WarpLifetime>(static_cast<std::size_t>(warps));
}

double FixedWorkMix::rate(const Work& work, const OccupancyHistory& history) const {
    const double warps = work.blocks.per_sm * work.blocks.warps * work.rounds;
    return warps * work.iterations * shape_.instructions() / history.cycles;
}

std::uint32_t FixedWorkMix::iterations_for(double cycles) {
    // Iterations of the run from which the others are extrapolated.
    constexpr std::uint32_t kTried = 2;
    return std::max(1U, static_cast<std::uint32_t>(cycles * kTried / history_of(run({{1, 1}, 1, kTried})).cycles));
}

}  // namespace gputomo::measure
