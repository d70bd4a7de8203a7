// PTX: loads, stores, atomics and texture fetches.
#include "sim/exec/atomic.hpp"
#include "sim/sm/ptx/ptx_engine.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

using ptx::Space;

AccessKind access_kind_of(Kind kind) {
    switch (kind) {
        case Kind::store: return AccessKind::store;
        case Kind::atomic: return AccessKind::atomic;
        default: return AccessKind::load;
    }
}

costs::AtomicClass atomic_class_of(const Operation& op) {
    if (op.kind != Kind::atomic) return costs::AtomicClass::integer;
    if (static_cast<Atomic>(op.mode) == Atomic::compare_swap) return costs::AtomicClass::compare_swap;
    if (op.type == ptx::Type::f32) return costs::AtomicClass::floating;
    return op.type == ptx::Type::f64 ? costs::AtomicClass::double_precision : costs::AtomicClass::integer;
}

MemoryInstruction memory_instruction_of(const Operation& op, Space space) {
    return {.kind = access_kind_of(op.kind),
            .space = space,
            .bytes = bytes_of(op),
            .element_bytes = op.bytes,
            .moves_data = op.elements != 0,
            .texture = op.kind == Kind::texture,
            .skips_near = op.bypass_near,
            .read_only = op.read_only,
            .atomic_class = atomic_class_of(op)};
}

}  // namespace

AccessTimes PtxEngine::time_memory(Warp& warp, const MemoryInstruction& instruction, std::uint32_t mask, double now) {
    const auto number = static_cast<std::uint32_t>(&warp - of_warps_.data());
    const AccessTimes times =
        time_access(warp, number, {.instruction = instruction, .addresses = lane_data_.addresses, .mask = mask},
                    program_.local_bytes, now);
    warp.scoreboard.memory_done = std::max(warp.scoreboard.memory_done, times.done);
    return times;
}

void PtxEngine::issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask == 0) return warp.paths.advance(warp.paths.current().pc + 1);
    const WarpInstruction instruction{op, warp.registers.data(), mask};
    const Space space = space_of(instruction);
    const DataSpaces spaces{.shared = blocks_[warp.block].shared,
                            .local = warp.local,
                            .local_bytes = program_.local_bytes,
                            .parameters = parameters_,
                            .global = setup_.memory};
    resolve(instruction, space, spaces, lane_data_);
    move_data(instruction, lane_data_);
    AccessTimes times;
    if (space == Space::param) {
        times.done = now + kernel_.costs[op.cost].last_latency;
        warp.scoreboard.memory_done = std::max(warp.scoreboard.memory_done, times.done);
    } else {
        times = time_memory(warp, memory_instruction_of(op, space), mask, now);
    }
    write_back(warp.scoreboard, op.written_slots(), times.done, times.later_for_cores);
    if (units_.operands.load_limit != 0 && op.kind == Kind::load && op.elements != 0)
        warp.scoreboard.loads.push_back(times.done);
    warp.paths.advance(warp.paths.current().pc + 1);
}

void PtxEngine::issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask != 0) {
        fetch_texels({op, warp.registers.data(), mask}, setup_.textures, setup_.memory, lane_data_);
        const AccessTimes times = time_memory(warp, memory_instruction_of(op, Space::global), mask, now);
        write_back(warp.scoreboard, op.written_slots(), times.done);
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

}  // namespace gputomo::sim
