#include "scan/kernels_file.hpp"

#include "files/json_node.hpp"
#include "machine/origin_json.hpp"
#include "units/error.hpp"
#include "units/file.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace gputomo::scan {
namespace {

using files::Json;
using files::JsonNode;

Json kernel_json(const MeasuredKernel& kernel) {
    Json samples = Json::array();
    for (const auto& s : kernel.samples)
        samples.push_back(
            {{"blocks", s.blocks}, {"warps", s.warps}, {"warps_per_cycle", s.warps_per_cycle}, {"sm_mhz", s.sm_mhz}});
    return {{"id", kernel.id}, {"threads", kernel.threads}, {"registers", kernel.registers}, {"samples", samples}};
}

int count(const JsonNode& node) {
    constexpr std::uint64_t kMost = 1 << 20;
    const auto value = node.natural();
    if (value < 1 || value > kMost) node.fail(fmt::format("a whole number from 1 to {}", kMost));
    return static_cast<int>(value);
}

double positive(const JsonNode& node) {
    const double value = node.number();
    if (!(value > 0)) node.fail("a number above 0");
    return value;
}

MeasuredKernel kernel_from(const JsonNode& node) {
    MeasuredKernel kernel{.id = node.at("id").text(),
                          .threads = count(node.at("threads")),
                          .registers = count(node.at("registers")),
                          .samples = {}};
    for (const auto& s : node.at("samples").elements())
        kernel.samples.push_back({.blocks = count(s.at("blocks")),
                                  .warps = count(s.at("warps")),
                                  .warps_per_cycle = positive(s.at("warps_per_cycle")),
                                  .sm_mhz = positive(s.at("sm_mhz"))});
    if (kernel.samples.empty()) node.at("samples").fail("at least one sample");
    return kernel;
}

}  // namespace

std::string to_json(const MeasuredKernels& measured) {
    Json kernels = Json::array();
    for (const auto& kernel : measured.kernels) kernels.push_back(kernel_json(kernel));
    Json json{{"schema", kKernelsSchema}};
    if (measured.origin) machine::add_origin(json, *measured.origin);
    json["gpu"] = measured.gpu;
    json["sms"] = measured.sms;
    json["kernels"] = std::move(kernels);
    return json.dump(1) + "\n";
}

MeasuredKernels kernels_from_json(std::string_view text, std::string_view origin) {
    const auto json = parse_json<Json>(text, origin, "throughputs of kernels");
    try {
        const JsonNode node(json, "");
        if (node.at("schema").text() != kKernelsSchema) node.at("schema").fail(kKernelsSchema);
        MeasuredKernels measured{
            .gpu = node.at("gpu").text(), .sms = count(node.at("sms")), .kernels = {}, .origin = {}};
        const std::string member(machine::kOriginMember);
        if (const auto found = node.find(member)) measured.origin = machine::origin_from(found->json(), member);
        for (const auto& kernel : node.at("kernels").elements()) measured.kernels.push_back(kernel_from(kernel));
        return measured;
    } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

MeasuredKernels load_kernels(const std::filesystem::path& file) {
    return kernels_from_json(read_file(file, "throughputs of kernels"), file.string());
}

}  // namespace gputomo::scan
