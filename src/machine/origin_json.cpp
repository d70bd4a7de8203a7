#include "machine/origin_json.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace gputomo::machine {
namespace {

using Json = nlohmann::ordered_json;
using results::MeasuredGpu;
using results::Origin;
using results::State;

/// A text of `Struct` and its name in JSON.
template <class Struct>
struct TextMember {
    const char* name;
    std::string Struct::*text;
    const char* doc;
};
constexpr TextMember<Origin> kOriginTexts[] = {
    {"version", &Origin::version, "version of gputomo that wrote the file"},
    {"commit", &Origin::commit, "commit of its sources; \"unknown\" where they were not in git"},
    {"command", &Origin::command, "command line"},
    {"date", &Origin::date, "start of the command, in UTC (ISO 8601)"},
};
constexpr TextMember<MeasuredGpu> kGpuTexts[] = {
    {"name", &MeasuredGpu::name, "name of the GPU"},
    {"device", &MeasuredGpu::device, "device of the command line, such as cuda:0"},
    {"uuid", &MeasuredGpu::uuid, "UUID of the GPU"},
    {"pci_bus_id", &MeasuredGpu::pci_bus_id, "place on the PCI bus"},
    {"driver", &MeasuredGpu::driver, "version of the driver"},
    {"cuda", &MeasuredGpu::cuda, "version of CUDA that the driver supports"},
    {"description", &MeasuredGpu::description, "SHA-256 of the description that a simulated GPU was made from"},
};

[[noreturn]] void refuse(std::string_view path, const Json& found, std::string_view expected) {
    throw InputError(fmt::format(
        "{}: found {}; expected {}", path,
        found.is_structured() ? found.type_name() : found.dump(-1, ' ', false, Json::error_handler_t::replace),
        expected));
}

template <class Struct, std::size_t N>
void write_texts(const Struct& from, const TextMember<Struct> (&members)[N], Json& to) {
    for (const auto& member : members)
        if (!(from.*member.text).empty()) to[member.name] = from.*member.text;
}

template <class Struct, std::size_t N>
void read_texts(const Json& from, const TextMember<Struct> (&members)[N], std::string_view path, Struct& to) {
    if (!from.is_object()) refuse(path, from, "an object");
    for (const auto& member : members) {
        if (!from.contains(member.name)) continue;
        const auto& text = from.at(member.name);
        if (!text.is_string()) refuse(fmt::format("{}.{}", path, member.name), text, "a string");
        to.*member.text = text.template get<std::string>();
    }
}

Json state_json(const State& state) {
    Json json = Json::object();
    for (const auto& [name, value] : state) std::visit([&, &key = name](const auto& v) { json[key] = v; }, value);
    return json;
}

results::Value value_from(const Json& json, const std::string& path) {
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& j) { return j.is_string(); }))
        return json.get<std::vector<std::string>>();
    refuse(path, json, "a number, a string, true, false or a list of strings");
}

State state_from(const Json& json, const std::string& path) {
    if (!json.is_object()) refuse(path, json, "an object");
    State state;
    for (const auto& [name, value] : json.items())
        state.emplace_back(name, value_from(value, fmt::format("{}.{}", path, name)));
    return state;
}

Json gpu_json(const MeasuredGpu& gpu) {
    Json json = Json::object();
    write_texts(gpu, kGpuTexts, json);
    if (!gpu.before.empty()) json["before"] = state_json(gpu.before);
    if (!gpu.after.empty()) json["after"] = state_json(gpu.after);
    return json;
}

MeasuredGpu gpu_from(const Json& json, const std::string& path) {
    MeasuredGpu gpu;
    read_texts(json, kGpuTexts, path, gpu);
    if (json.contains("before")) gpu.before = state_from(json.at("before"), path + ".before");
    if (json.contains("after")) gpu.after = state_from(json.at("after"), path + ".after");
    return gpu;
}

/// One run, without those that it was merged with, so that hostile input cannot nest them.
Origin run_from(const Json& json, std::string_view path) {
    Origin origin;
    read_texts(json, kOriginTexts, path, origin);
    if (json.contains("gpu")) origin.gpu = gpu_from(json.at("gpu"), fmt::format("{}.gpu", path));
    return origin;
}

template <class Struct, std::size_t N>
Json texts_schema(const TextMember<Struct> (&members)[N]) {
    Json properties = Json::object();
    for (const auto& member : members) properties[member.name] = {{"type", "string"}, {"description", member.doc}};
    return properties;
}

}  // namespace

Json origin_json(const Origin& origin) {
    Json json = Json::object();
    write_texts(origin, kOriginTexts, json);
    if (origin.gpu) json["gpu"] = gpu_json(*origin.gpu);
    for (const auto& earlier : origin.merged) json["merged"].push_back(origin_json(earlier));
    return json;
}

Origin origin_from(const Json& json, std::string_view path) {
    Origin origin = run_from(json, path);
    if (!json.contains("merged")) return origin;
    const auto& merged = json.at("merged");
    if (!merged.is_array()) refuse(fmt::format("{}.merged", path), merged, "a list");
    for (const auto& earlier : merged)
        origin.merged.push_back(run_from(earlier, fmt::format("{}.merged[{}]", path, origin.merged.size())));
    return origin;
}

void add_origin(Json& json, const Origin& origin) { json[std::string(kOriginMember)] = origin_json(origin); }

Json origin_schema() {
    const Json state = {
        {"type", "object"},
        {"description",
         "state of the GPU before or after: sm_mhz, memory_mhz, temperature_celsius, power_watt, throttle_reasons, "
         "ecc, ecc_uncorrected, other_processes; what NVML does not report is missing"}};
    Json gpu = texts_schema(kGpuTexts);
    gpu["before"] = state;
    gpu["after"] = state;
    Json properties = texts_schema(kOriginTexts);
    properties["gpu"] = {{"type", "object"}, {"properties", gpu}};
    properties["merged"] = {{"type", "array"},
                            {"description", "earlier runs from which values of this file come"},
                            {"items", {{"$ref", "#/properties/origin"}}}};
    return {{"type", "object"},
            {"description", "where and when the description was measured; a diff does not compare it"},
            {"properties", properties}};
}

}  // namespace gputomo::machine
