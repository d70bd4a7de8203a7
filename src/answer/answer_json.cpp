#include "answer/answer_text.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace gputomo::answer {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json json_of(const device::Dim3& three) { return {three.x, three.y, three.z}; }

Json json_of(const std::vector<Bound>& bounds) {
    Json json = Json::array();
    for (const auto& bound : bounds) json.push_back({{"resource", bound.resource}, {"cycles", bound.cycles}});
    return json;
}

Json json_of(const costs::StallCycles& cycles) {
    Json json = Json::object();
    for (const auto stall : by_cycles(cycles)) json[name_of(stall)] = cycles[static_cast<std::size_t>(stall)];
    return json;
}

Json json_of(const sass::SourceLine& line) { return {{"file", line.file}, {"line", line.line}}; }

Json json_of(const Instruction& one) {
    Json callers = Json::array();
    if (one.source)
        for (const auto& caller : one.source->callers) callers.push_back(json_of(caller));
    return {{"address", one.address},
            {"text", one.text},
            {"file", one.source ? Json(one.source->at.file) : Json()},
            {"line", one.source ? Json(one.source->at.line) : Json()},
            {"callers", callers},
            {"executed", one.executed},
            {"share_of_wait", one.share_of_wait},
            {"cycles", json_of(one.cycles)},
            {"waits_for", one.waits_for ? Json(*one.waits_for) : Json()}};
}

Json json_of(const std::vector<Instruction>& instructions) {
    Json json = Json::array();
    for (const auto& one : instructions) json.push_back(json_of(one));
    return json;
}

Json json_of(const std::vector<const Instruction*>& instructions) {
    Json json = Json::array();
    for (const auto* const one : instructions) json.push_back(json_of(*one));
    return json;
}

Json json_of(const std::vector<LineCost>& lines) {
    Json json = Json::array();
    for (const auto& line : lines) {
        auto one = json_of(line.at);
        one.update(
            {{"executed", line.executed}, {"share_of_wait", line.share_of_wait}, {"cycles", json_of(line.cycles)}});
        json.push_back(std::move(one));
    }
    return json;
}

Json json_of(const std::vector<Advice>& advice) {
    Json json = Json::array();
    for (const auto& one : advice) {
        Json instructions = Json::array();
        for (const auto& instruction : one.instructions)
            instructions.push_back({{"address", instruction.address},
                                    {"text", instruction.text},
                                    {"file", instruction.source ? Json(instruction.source->at.file) : Json()},
                                    {"line", instruction.source ? Json(instruction.source->at.line) : Json()}});
        json.push_back(
            {{"id", one.id}, {"change", one.change}, {"factor", one.factor}, {"instructions", instructions}});
    }
    return json;
}

Json json_of(const std::vector<Sensitivity>& sensitivity) {
    Json json = Json::array();
    for (const auto& one : sensitivity)
        json.push_back({{"path", one.path},
                        {"value", one.value},
                        {"evidence", one.evidence},
                        {"larger_cycles", one.larger_cycles},
                        {"smaller_cycles", one.smaller_cycles},
                        {"elasticity", one.elasticity}});
    return json;
}

Json json_of(const Occupancy& occupancy) {
    return {{"blocks_of_an_sm", occupancy.blocks_per_sm},
            {"warps_of_an_sm", occupancy.warps_per_sm},
            {"max_warps_of_an_sm", occupancy.max_warps_per_sm},
            {"limited_by", occupancy.limited_by},
            {"waves", occupancy.waves},
            {"achieved_warps_of_an_sm", json_of(occupancy.achieved_warps_per_sm)},
            {"tail_share", json_of(occupancy.tail_share)}};
}

Json json_of(const Work& work) {
    Json caches = Json::object();
    for (const auto& [cache, accesses] : work.caches)
        caches[cache] = {{"hits", accesses.hits}, {"misses", accesses.misses}};
    return {{"thread_instructions", work.thread_instructions},
            {"transactions", work.transactions},
            {"divergent_branches", json_of(work.divergent_branches)},
            {"l1_bytes", json_of(work.l1_bytes)},
            {"l1_hit_rate", json_of(work.l1_hit_rate)},
            {"l2_read_bytes", json_of(work.l2_read_bytes)},
            {"l2_written_bytes", json_of(work.l2_written_bytes)},
            {"l2_atomic_bytes", json_of(work.l2_atomic_bytes)},
            {"dram_bytes", work.dram_bytes},
            {"dram_read_bytes", json_of(work.dram_read_bytes)},
            {"dram_written_bytes", json_of(work.dram_written_bytes)},
            {"footprint_read_bytes", json_of(work.footprint_read_bytes)},
            {"footprint_written_bytes", json_of(work.footprint_written_bytes)},
            {"shared_accesses", json_of(work.shared_accesses)},
            {"shared_time_over_conflict_free", json_of(work.shared_time_ratio)},
            {"bank_conflict_cycles", json_of(work.bank_conflict_cycles)},
            {"flop", work.flop ? Json(*work.flop) : Json()},
            {"caches", work.caches.empty() ? Json() : caches}};
}

Json json_of(const std::vector<TimePart>& parts) {
    Json json = Json::array();
    for (const auto& part : parts) json.push_back({{"what", part.what}, {"cycles", part.cycles}});
    return json;
}

Json json_of(const std::optional<Interval>& interval) {
    if (!interval) return {};
    return {{"low", interval->low}, {"high", interval->high}, {"confidence", 0.9}, {"basis", interval->basis}};
}

Json json_of(const std::vector<Rate>& rates) {
    Json json = Json::array();
    for (const auto& rate : rates)
        json.push_back(
            {{"what", rate.what}, {"per_second", rate.per_second}, {"ceiling_per_second", json_of(rate.ceiling)}});
    return json;
}

Json json_of(const Roofline& roofline) {
    return {{"type", roofline.type},
            {"flop_per_second", json_of(roofline.flop_per_second)},
            {"flop_per_second_ceiling", json_of(roofline.flop_per_second_ceiling)},
            {"dram_bytes_per_second", roofline.dram_bytes_per_second},
            {"dram_bytes_per_second_ceiling", json_of(roofline.dram_bytes_per_second_ceiling)},
            {"flop_per_byte", json_of(roofline.flop_per_byte)}};
}

Json json_of(const launch::NumberDifference& numbers) {
    return {{"type", name_of(numbers.type)},
            {"differ", numbers.numbers},
            {"without_size", numbers.without_size},
            {"largest_units_in_last_place", numbers.units},
            {"largest_relative", numbers.relative}};
}

Json json_of(const std::vector<launch::Difference>& differences) {
    Json json = Json::array();
    for (const auto& different : differences)
        json.push_back({{"buffer", different.buffer},
                        {"first_byte", different.offset},
                        {"found", different.found},
                        {"expected", different.expected},
                        {"bytes", different.bytes},
                        {"compared_bytes", different.compared},
                        {"numbers", json_of(different.as_numbers)},
                        {"tolerated", different.tolerated}});
    return json;
}

}  // namespace

Json answer_json(const Answer& a) {
    const auto& limiter = a.limiter;
    Json used;
    if (limiter)
        used = {
            {"sm", limiter->used_sm}, {"l1", limiter->used_l1}, {"l2", limiter->used_l2}, {"dram", limiter->used_dram}};
    return {{"schema", "gputomo-answer-1"},
            {"method", name_of(a.method)},
            {"kernel", a.launch.kernel},
            {"gpu", a.gpu},
            {"grid", json_of(a.launch.grid)},
            {"block", json_of(a.launch.block)},
            {"dynamic_shared_bytes", a.launch.dynamic_shared_bytes},
            {"shared_bytes", a.launch.shared_bytes ? Json(*a.launch.shared_bytes) : Json()},
            {"registers_per_thread", a.launch.registers_per_thread ? Json(*a.launch.registers_per_thread) : Json()},
            {"summary", a.summary.empty() ? Json() : Json(a.summary)},
            {"cycles", a.time.cycles},
            {"cycles_interval", json_of(a.time.interval)},
            {"microseconds", a.time.microseconds},
            {"launch_cycles", json_of(a.time.launch_cycles)},
            {"caches", name_of(a.caches)},
            {"warm_cycles", json_of(a.time.warm_cycles)},
            {"instructions", a.work.warp_instructions},
            {"limiter", limiter ? Json(limiter->resource) : Json()},
            {"needed_warps", a.occupancy ? json_of(a.occupancy->needed_warps) : Json()},
            {"latency_cycles", limiter ? Json(limiter->latency_cycles) : Json()},
            {"bounds", limiter ? json_of(limiter->bounds) : Json()},
            {"time_parts", limiter ? json_of(limiter->parts) : Json()},
            {"used", used},
            {"roofline", json_of(a.roofline)},
            {"flop_rates", a.work.flop ? json_of(a.flop_rates) : Json()},
            {"byte_rates", json_of(a.byte_rates)},
            {"occupancy", a.occupancy ? json_of(*a.occupancy) : Json()},
            {"counters", json_of(a.work)},
            {"stalls", a.instructions.empty() ? Json() : json_of(stalls_of(a.instructions))},
            {"hot_instructions", a.instructions.empty() ? Json() : json_of(costliest(a.instructions))},
            {"executed_instructions", a.instructions.empty() ? Json() : json_of(a.instructions)},
            {"lines", a.instructions.empty() ? Json() : json_of(lines_of(a.instructions))},
            {"advice", a.advice ? json_of(*a.advice) : Json()},
            {"sensitivity", a.sensitivity ? json_of(*a.sensitivity) : Json()},
            {"sampled",
             {{"blocks", a.coverage.blocks},
              {"executed_blocks", a.coverage.executed_blocks},
              {"replayed_blocks", a.coverage.timed_blocks},
              {"error", json_of(a.coverage.error)},
              {"code", a.coverage.machine_code ? "sass" : "ptx"}}},
            {"differences", a.differences ? json_of(*a.differences) : Json()},
            {"printed", a.printed ? Json(*a.printed) : Json()},
            {"assumptions", a.assumptions},
            {"warnings", a.warnings}};
}

}  // namespace gputomo::answer
