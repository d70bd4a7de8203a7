#include "answer_rows.hpp"

#include "rows.hpp"

#include <vector>

namespace gputomo::answer {

namespace nb = nanobind;
using python::Rows;

// In the namespace of the structs, and in no unnamed one, so that object_of() finds them.

static nb::dict rows_of(const LaunchShape& shape) {
    return Rows()
        .row("kernel", shape.kernel)
        .row("grid", std::array{shape.grid.x, shape.grid.y, shape.grid.z})
        .row("block", std::array{shape.block.x, shape.block.y, shape.block.z})
        .row("dynamic_shared_bytes", shape.dynamic_shared_bytes)
        .row("shared_bytes", shape.shared_bytes)
        .row("registers_per_thread", shape.registers_per_thread)
        .dict();
}

static nb::dict rows_of(const Interval& interval) {
    return Rows().row("low_cycles", interval.low).row("high_cycles", interval.high).row("basis", interval.basis).dict();
}

static nb::dict rows_of(const Coverage& coverage) {
    return Rows()
        .row("blocks", coverage.blocks)
        .row("executed_blocks", coverage.executed_blocks)
        .row("timed_blocks", coverage.timed_blocks)
        .row("error", coverage.error)
        .row("machine_code", coverage.machine_code)
        .dict();
}

static nb::dict rows_of(const Time& time) {
    return Rows()
        .row("cycles", time.cycles)
        .row("microseconds", time.microseconds)
        .row("interval", time.interval)
        .row("launch_cycles", time.launch_cycles)
        .row("warm_cycles", time.warm_cycles)
        .dict();
}

static nb::dict rows_of(const Bound& bound) {
    return Rows().row("resource", bound.resource).row("cycles", bound.cycles).dict();
}

static nb::dict rows_of(const TimePart& part) {
    return Rows().row("what", part.what).row("cycles", part.cycles).dict();
}

static nb::dict rows_of(const Limiter& limiter) {
    return Rows()
        .row("resource", limiter.resource)
        .row("latency_cycles", limiter.latency_cycles)
        .row("bounds", limiter.bounds)
        .row("parts", limiter.parts)
        .row("used_sm", limiter.used_sm)
        .row("used_l1", limiter.used_l1)
        .row("used_l2", limiter.used_l2)
        .row("used_dram", limiter.used_dram)
        .dict();
}

static nb::dict rows_of(const Occupancy& occupancy) {
    return Rows()
        .row("blocks_per_sm", occupancy.blocks_per_sm)
        .row("warps_per_sm", occupancy.warps_per_sm)
        .row("max_warps_per_sm",
             occupancy.max_warps_per_sm > 0 ? std::optional(occupancy.max_warps_per_sm) : std::nullopt)
        .row("limited_by", occupancy.limited_by)
        .row("waves", occupancy.waves)
        .row("needed_warps_per_sm", occupancy.needed_warps)
        .row("achieved_warps_per_sm", occupancy.achieved_warps_per_sm)
        .row("tail_share", occupancy.tail_share)
        .dict();
}

static nb::dict rows_of(const CacheAccesses& accesses) {
    return Rows().row("hits", accesses.hits).row("misses", accesses.misses).dict();
}

static nb::dict rows_of(const Work& work) {
    return Rows()
        .row("warp_instructions", work.warp_instructions)
        .row("thread_instructions", work.thread_instructions)
        .row("transactions", work.transactions)
        .row("divergent_branches", work.divergent_branches)
        .row("shared_accesses", work.shared_accesses)
        .row("shared_time_ratio", work.shared_time_ratio)
        .row("bank_conflict_cycles", work.bank_conflict_cycles)
        .row("l1_bytes", work.l1_bytes)
        .row("l1_hit_rate", work.l1_hit_rate)
        .row("l2_read_bytes", work.l2_read_bytes)
        .row("l2_written_bytes", work.l2_written_bytes)
        .row("l2_atomic_bytes", work.l2_atomic_bytes)
        .row("dram_read_bytes", work.dram_read_bytes)
        .row("dram_written_bytes", work.dram_written_bytes)
        .row("dram_bytes", work.dram_bytes)
        .row("footprint_read_bytes", work.footprint_read_bytes)
        .row("footprint_written_bytes", work.footprint_written_bytes)
        .row("footprint_exact", work.footprint_exact)
        .row("flop", work.flop)
        .row("caches", work.caches)
        .dict();
}

static nb::dict rows_of(const Rate& rate) {
    return Rows()
        .row("what", rate.what)
        .row("per_second", rate.per_second)
        .row("ceiling_per_second", rate.ceiling)
        .dict();
}

static nb::dict rows_of(const Roofline& roofline) {
    return Rows()
        .row("type", roofline.type)
        .row("flop_per_second", roofline.flop_per_second)
        .row("flop_per_second_ceiling", roofline.flop_per_second_ceiling)
        .row("dram_bytes_per_second", roofline.dram_bytes_per_second)
        .row("dram_bytes_per_second_ceiling", roofline.dram_bytes_per_second_ceiling)
        .row("flop_per_byte", roofline.flop_per_byte)
        .dict();
}

static nb::dict rows_of(const Advice::Instruction& instruction) {
    return Rows()
        .row("address_bytes", instruction.address)
        .row("text", instruction.text)
        .row("file", instruction.source ? std::optional(instruction.source->at.file) : std::nullopt)
        .row("line", instruction.source ? std::optional(instruction.source->at.line) : std::nullopt)
        .dict();
}

static nb::dict rows_of(const Advice& advice) {
    return Rows()
        .row("id", advice.id)
        .row("change", advice.change)
        .row("factor", advice.factor)
        .row("instructions", advice.instructions)
        .dict();
}

static nb::dict rows_of(const Sensitivity& sensitivity) {
    return Rows()
        .row("path", sensitivity.path)
        .row("value", sensitivity.value)
        .row("evidence", sensitivity.evidence)
        .row("larger_cycles", sensitivity.larger_cycles)
        .row("smaller_cycles", sensitivity.smaller_cycles)
        .row("elasticity", sensitivity.elasticity)
        .dict();
}

/// Cycles by the name of the reason, most first.
static nb::dict dict_of(const costs::StallCycles& cycles) {
    nb::dict dict;
    for (const auto stall : by_cycles(cycles)) {
        const auto name = name_of(stall);
        dict[nb::str(name.data(), name.size())] = cycles[static_cast<std::size_t>(stall)];
    }
    return dict;
}

static nb::dict rows_of(const Instruction& one) {
    return Rows()
        .row("address_bytes", one.address)
        .row("text", one.text)
        .row("file", one.source ? std::optional(one.source->at.file) : std::nullopt)
        .row("line", one.source ? std::optional(one.source->at.line) : std::nullopt)
        .row("executed", one.executed)
        .row("share_of_wait", one.share_of_wait)
        .row("waits_for_bytes", one.waits_for)
        .row("stall_cycles", dict_of(one.cycles))
        .dict();
}

static nb::dict rows_of(const LineCost& line) {
    return Rows()
        .row("file", line.at.file)
        .row("line", line.at.line)
        .row("executed", line.executed)
        .row("share_of_wait", line.share_of_wait)
        .row("stall_cycles", dict_of(line.cycles))
        .dict();
}

static std::vector<Instruction> hot_of(const Answer& answer) {
    std::vector<Instruction> hot;
    for (const auto* const one : costliest(answer.instructions)) hot.push_back(*one);
    return hot;
}

}  // namespace gputomo::answer

namespace gputomo::launch {

static nanobind::dict rows_of(const NumberDifference& numbers) {
    return python::Rows()
        .row("type", name_of(numbers.type))
        .row("numbers", numbers.numbers)
        .row("without_size", numbers.without_size)
        .row("units_in_last_place", numbers.units)
        .row("relative", numbers.relative)
        .dict();
}

static nanobind::dict rows_of(const Difference& difference) {
    return python::Rows()
        .row("buffer", difference.buffer)
        .row("first_byte", difference.offset)
        .row("differing_bytes", difference.bytes)
        .row("compared_bytes", difference.compared)
        .row("found", difference.found)
        .row("expected", difference.expected)
        .row("as_numbers", difference.as_numbers)
        .row("tolerated", difference.tolerated)
        .dict();
}

}  // namespace gputomo::launch

namespace gputomo::python {

nanobind::dict rows_of(const answer::Answer& answer) {
    return Rows()
        .row("method", answer::name_of(answer.method))
        .row("launch", answer.launch)
        .row("gpu", answer.gpu)
        .row("caches", answer::name_of(answer.caches))
        .row("coverage", answer.coverage)
        .row("time", answer.time)
        .row("limiter", answer.limiter)
        .row("occupancy", answer.occupancy)
        .row("work", answer.work)
        .row("flop_rates", answer.flop_rates)
        .row("byte_rates", answer.byte_rates)
        .row("roofline", answer.roofline)
        .row("summary", answer.summary)
        .row("stall_cycles", answer::dict_of(stalls_of(answer.instructions)))
        .row("hot", hot_of(answer))
        .row("instructions", answer.instructions)
        .row("lines", lines_of(answer.instructions))
        .row("advice", answer.advice)
        .row("sensitivity", answer.sensitivity)
        .row("differences", answer.differences)
        .row("printed", answer.printed)
        .row("assumptions", answer.assumptions)
        .row("warnings", answer.warnings)
        .dict();
}

}  // namespace gputomo::python
