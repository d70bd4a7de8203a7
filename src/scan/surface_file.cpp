#include "scan/surface_file.hpp"

#include "files/json_node.hpp"
#include "files/output_file.hpp"
#include "machine/origin_json.hpp"
#include "scan/gzip.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::scan {
namespace {

using files::Json;
using files::JsonNode;
using measure::MixAccess;
using measure::MixCurve;
using measure::MixSample;
using measure::MixSurface;

constexpr std::string_view kAddsAlone = "none";

/// Rounds to five decimal places. Repeated measurements differ in the third, so more digits would only be noise.
double rounded(double value) { return std::round(value * 1e5) / 1e5; }

template <class Value>
Json column(const std::vector<MixSample>& samples, Value value) {
    Json list = Json::array();
    for (const auto& sample : samples) list.push_back(value(sample));
    return list;
}

Json curve_json(const MixCurve& curve) {
    const auto& shape = curve.shape;
    Json json{{"access", shape.arithmetic_only ? kAddsAlone : name_of(shape.access)}};
    if (!shape.arithmetic_only) json["accesses"] = shape.accesses, json["alpha"] = shape.alpha;
    json["ilp"] = shape.chains;
    json["turn"] = shape.loop_length;
    if (curve.sm_mhz) json["sm_mhz"] = *curve.sm_mhz;
    json["warps"] = column(curve.samples, [](const auto& s) { return s.warps; });
    json["instructions_per_cycle"] =
        column(curve.samples, [](const auto& s) { return rounded(s.instructions_per_cycle); });
    json["slowest"] = column(curve.samples, [](const auto& s) { return rounded(s.slowest); });
    return json;
}

int small(const JsonNode& node, int least) {
    constexpr std::uint64_t kMost = 100'000;
    const auto value = node.natural();
    if (value < static_cast<std::uint64_t>(least) || value > kMost)
        node.fail(fmt::format("a whole number from {} to {}", least, kMost));
    return static_cast<int>(value);
}

measure::MixShape shape_from(const JsonNode& node) {
    measure::MixShape shape{.chains = small(node.at("ilp"), 1)};
    if (const auto loop_length = node.find("turn")) shape.loop_length = small(*loop_length, 1);
    const auto name = node.at("access").text();
    shape.arithmetic_only = name == kAddsAlone;
    if (shape.arithmetic_only) return shape;
    const auto access = measure::mix_access_named(name);
    if (!access) node.at("access").fail(fmt::format("a kind of access ({}) or none", measure::mix_access_names()));
    shape.access = *access;
    shape.accesses = small(node.at("accesses"), 1);
    shape.alpha = small(node.at("alpha"), 0);
    return shape;
}

MixCurve curve_from(const JsonNode& node) {
    MixCurve curve{.shape = shape_from(node), .sm_mhz = {}, .samples = {}};
    if (const auto clock = node.find("sm_mhz")) curve.sm_mhz = clock->number();
    const auto warps = node.at("warps").elements();
    const auto rates = node.at("instructions_per_cycle").samples(), slowest = node.at("slowest").samples();
    if (rates.size() != warps.size() || slowest.size() != warps.size())
        node.at("instructions_per_cycle").fail(fmt::format("{} numbers, as in warps and slowest", warps.size()));
    for (std::size_t i = 0; i < warps.size(); ++i)
        curve.samples.push_back(
            {.warps = small(warps[i], 1), .instructions_per_cycle = rates[i], .slowest = slowest[i]});
    return curve;
}

}  // namespace

std::string to_json(const MixSurface& surface) {
    Json json{{"schema", kSurfaceSchema}};
    if (surface.origin) machine::add_origin(json, *surface.origin);
    json["gpu"] = surface.gpu;
    json["sms"] = surface.sms;
    json["max_warps"] = surface.max_warps;
    if (surface.sm_mhz) json["sm_mhz"] = *surface.sm_mhz;
    json["checked_kernels"] = surface.checked_kernels;
    json["warnings"] = surface.warnings;
    std::string text = json.dump(1);
    text.resize(text.size() - 2);  // without "\n}"
    text += ",\n \"curves\": [";
    for (std::size_t i = 0; i < surface.curves.size(); ++i)
        text += fmt::format("{}\n  {}", i == 0 ? "" : ",", curve_json(surface.curves[i]).dump());
    return text + "\n ]\n}\n";
}

MixSurface surface_from_json(std::string_view text, std::string_view origin) {
    const auto json = parse_json<Json>(text, origin, "a surface of throughputs");
    try {
        const JsonNode node(json, "");
        if (node.at("schema").text() != kSurfaceSchema) node.at("schema").fail(kSurfaceSchema);
        MixSurface surface{.gpu = node.at("gpu").text(),
                           .sms = small(node.at("sms"), 1),
                           .max_warps = small(node.at("max_warps"), 1),
                           .sm_mhz = {},
                           .curves = {}};
        if (const auto clock = node.find("sm_mhz")) surface.sm_mhz = clock->number();
        const std::string member(machine::kOriginMember);
        if (const auto found = node.find(member)) surface.origin = machine::origin_from(found->json(), member);
        surface.checked_kernels = small(node.at("checked_kernels"), 0);
        surface.warnings = node.at("warnings").texts();
        for (const auto& curve : node.at("curves").elements()) surface.curves.push_back(curve_from(curve));
        return surface;
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

MixSurface load_surface(const std::filesystem::path& file) {
    const auto content = read_file(file, "a surface of throughputs");
    return surface_from_json(is_gzip(content) ? gunzip(content, file.string()) : content, file.string());
}

void save_surface(const MixSurface& surface, const std::filesystem::path& file) {
    const auto text = to_json(surface);
    files::write_whole(file, file.extension() == ".gz" ? gzip(text) : text);
}

}  // namespace gputomo::scan
