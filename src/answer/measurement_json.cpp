#include "answer/measurement_json.hpp"

#include <nlohmann/json.hpp>

namespace gputomo::answer {
namespace {

using Json = nlohmann::ordered_json;

Json three(const device::Dim3& of) { return {of.x, of.y, of.z}; }

Json time_json(const std::optional<MeasuredTime>& time, std::optional<double> launch_cycles) {
    if (!time) return {};
    const auto us = [&](double cycles) { return time->sm_mhz > 0 ? Json(cycles / time->sm_mhz) : Json(); };
    const double whole = time->cycles + launch_cycles.value_or(0);
    return {{"cycles", launch_cycles ? Json(whole) : Json()},
            {"microseconds", launch_cycles ? us(whole) : Json()},
            {"cycles_beyond_empty", time->cycles},
            {"microseconds_beyond_empty", us(time->cycles)},
            {"lowest_cycles_beyond_empty", time->lowest_cycles},
            {"highest_cycles_beyond_empty", time->highest_cycles},
            {"event_microseconds", time->event_microseconds},
            {"sm_mhz", time->sm_mhz},
            {"repetitions", time->repetitions}};
}

device::Dim3 three_from(const Json& json) {
    return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(), json.at(2).get<std::uint32_t>()};
}

std::optional<MeasuredTime> time_from(const Json& json) {
    if (json.is_null()) return std::nullopt;
    return MeasuredTime{.repetitions = json.at("repetitions"),
                        .cycles = json.at("cycles_beyond_empty"),
                        .microseconds = json.at("microseconds_beyond_empty").is_null()
                                            ? 0
                                            : json.at("microseconds_beyond_empty").get<double>(),
                        .lowest_cycles = json.at("lowest_cycles_beyond_empty"),
                        .highest_cycles = json.at("highest_cycles_beyond_empty"),
                        .event_microseconds = json.at("event_microseconds"),
                        .sm_mhz = json.at("sm_mhz")};
}

}  // namespace

Json measurement_json(const Measurement& measured, std::optional<double> launch_cycles) {
    Json differences;
    if (measured.differences) {
        differences = Json::array();
        for (const auto& different : *measured.differences)
            differences.push_back({{"buffer", different.buffer},
                                   {"first_byte", different.offset},
                                   {"bytes", different.bytes},
                                   {"compared_bytes", different.compared}});
    }
    return {{"kernel", measured.launch.kernel},
            {"grid", three(measured.launch.grid)},
            {"block", three(measured.launch.block)},
            {"dynamic_shared_bytes", measured.launch.dynamic_shared_bytes},
            {"cold", time_json(measured.cold, launch_cycles)},
            {"warm", time_json(measured.warm, launch_cycles)},
            {"launch_cycles", launch_cycles ? Json(*launch_cycles) : Json()},
            {"changed_buffers", measured.changed_buffers},
            {"restored", measured.restored},
            {"moved_buffers", measured.moved_buffers},
            {"moved_pointers", measured.moved_pointers},
            {"differences", differences},
            {"throttle_reasons", measured.state.throttle_reasons ? Json(*measured.state.throttle_reasons) : Json()},
            {"warnings", measured.warnings}};
}

Json overhead_json(const MeasuredOverhead& overhead) {
    return {{"empty_kernel_cycles", overhead.cycles},
            {"no_kernel_cycles", overhead.nothing_cycles},
            {"event_microseconds", overhead.event_microseconds}};
}

Measurement measurement_from(const Json& json) {
    Measurement made{.launch = {.kernel = json.at("kernel"),
                                .grid = three_from(json.at("grid")),
                                .block = three_from(json.at("block")),
                                .dynamic_shared_bytes = json.at("dynamic_shared_bytes")},
                     .cold = time_from(json.at("cold")),
                     .warm = time_from(json.at("warm")),
                     .changed_buffers = json.at("changed_buffers"),
                     .restored = json.at("restored"),
                     .moved_buffers = json.at("moved_buffers"),
                     .moved_pointers = json.at("moved_pointers"),
                     .differences = {},
                     .state = {},
                     .warnings = json.at("warnings")};
    if (const Json& differences = json.at("differences"); !differences.is_null()) {
        made.differences.emplace();
        for (const Json& different : differences)
            made.differences->push_back({.buffer = different.at("buffer"),
                                         .offset = different.at("first_byte"),
                                         .bytes = different.at("bytes"),
                                         .compared = different.at("compared_bytes"),
                                         .as_numbers = {}});
    }
    if (const Json& reasons = json.at("throttle_reasons"); !reasons.is_null())
        made.state.throttle_reasons = reasons.get<std::vector<std::string>>();
    return made;
}

MeasuredOverhead overhead_from(const Json& json) {
    return {.cycles = json.at("empty_kernel_cycles"),
            .nothing_cycles = json.at("no_kernel_cycles"),
            .event_microseconds = json.at("event_microseconds")};
}

}  // namespace gputomo::answer
