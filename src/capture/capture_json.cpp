// The index of a capture as JSON.
#include "capture/capture.hpp"
#include "capture/json_values.hpp"
#include "capture/texture_json.hpp"
#include "units/error.hpp"
#include "units/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace gputomo::capture {
namespace {

using files::Json;
using files::JsonNode;

// Writing ------------------------------------------------------------------------------------------------------------

std::string hex(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

Json json_of(const Shape& shape) {
    Json json{{"kernel", shape.kernel}, {"grid", shape.grid}, {"block", shape.block}};
    if (shape.cluster) json["cluster"] = *shape.cluster;
    json["shared_bytes"] = shape.shared_bytes;
    if (shape.cooperative) json["cooperative"] = true;
    if (shape.parameters) {
        Json& list = json["parameters"] = Json::array();
        for (const auto& parameter : *shape.parameters)
            list.push_back({{"offset", parameter.offset}, {"value", hex(parameter.bytes)}});
    }
    return json;
}

Json json_of(const Buffer& buffer) {
    Json json{{"space", buffer.space}, {"address", fmt::format("{:#x}", buffer.address)}, {"bytes", buffer.bytes}};
    if (!buffer.name.empty()) json["name"] = buffer.name;
    if (!buffer.omitted.empty()) {
        json["omitted"] = buffer.omitted;
        return json;
    }
    Json& list = json["content"] = Json::array();
    for (const auto& part : buffer.content) {
        Json row{{"offset", part.offset}, {"bytes", part.bytes}};
        if (part.generated)
            row["generated"] = true;
        else if (part.fill)
            row["fill"] = fmt::format("{:#018x}", *part.fill);
        else
            row["file"] = part.file, row["at"] = part.at;
        if (part.period != 0) row["period"] = part.period;
        list.push_back(std::move(row));
    }
    return json;
}

Json json_of(const Texture& texture) {
    Json outside = Json::array();
    for (const auto beyond : texture.outside) outside.push_back(name_of(beyond));
    return {{"handle", fmt::format("{:#x}", texture.handle)},
            {"memory", name_of(texture.memory)},
            {"address", fmt::format("{:#x}", texture.address)},
            {"format", texture.format},
            {"channels", texture.channels},
            {"width", texture.width},
            {"height", texture.height},
            {"depth", texture.depth},
            {"pitch", texture.pitch},
            {"layered", texture.layered},
            {"outside", std::move(outside)},
            {"linear_filter", texture.linear_filter},
            {"normalized", texture.normalized},
            {"as_integer", texture.as_integer},
            {"border", texture.border}};
}

Json json_of(const Reduction& reduction) {
    Json json{{"instructions", reduction.instructions}, {"bytes", reduction.bytes}, {"kept", reduction.kept}};
    if (!reduction.whole.empty()) json["whole"] = reduction.whole;
    if (!reduction.unproven.empty()) json["unproven"] = reduction.unproven;
    if (!reduction.approximate.empty()) json["approximate"] = reduction.approximate;
    return json;
}

Json json_of(const Launch& launch) {
    Json json{{"process", launch.process}};
    if (launch.gpu) json["gpu"] = *launch.gpu;
    json["stream"] = launch.stream;
    json["thread"] = launch.thread;
    json["host_us"] = launch.host_us;
    if (launch.start_us) json["start_us"] = *launch.start_us;
    if (launch.us) json["us"] = *launch.us;
    if (launch.host_wait_us) json["host_wait_us"] = *launch.host_wait_us;
    if (!launch.after.empty()) json["after"] = launch.after;
    if (launch.kernel) json["launch"] = json_of(*launch.kernel);
    if (launch.graph) json["graph"] = *launch.graph;
    const auto add_buffers = [&](const char* name, const std::vector<Buffer>& buffers) {
        Json& list = json[name] = Json::array();
        for (const auto& buffer : buffers) list.push_back(json_of(buffer));
    };
    if (launch.buffers) add_buffers("buffers", *launch.buffers);
    if (launch.results) add_buffers("results", *launch.results);
    if (!launch.textures.empty()) {
        Json& list = json["textures"] = Json::array();
        for (const auto& texture : launch.textures) list.push_back(json_of(texture));
    }
    if (!launch.no_buffers.empty()) json["no_buffers"] = launch.no_buffers;
    if (launch.reduction) json["reduction"] = json_of(*launch.reduction);
    return json;
}

Json json_of(const Graph& graph) {
    Json nodes = Json::array(), others = Json::array();
    for (const auto& node : graph.nodes) nodes.push_back({{"launch", json_of(node.shape)}, {"after", node.after}});
    for (const auto& [type, count] : graph.others) others.push_back({{"type", type}, {"count", count}});
    return {{"nodes", std::move(nodes)}, {"others", std::move(others)}};
}

Json json_of(const Gpu& gpu) {
    return {{"name", gpu.name},
            {"uuid", gpu.uuid},
            {"sm", gpu.sm},
            {"multiprocessors", gpu.multiprocessors},
            {"clock_khz", gpu.clock_khz},
            {"memory_clock_khz", gpu.memory_clock_khz},
            {"memory_bytes", gpu.memory_bytes},
            {"driver", gpu.driver}};
}

Json json_of(const Process& process) { return {{"pid", process.pid}, {"command", process.command}}; }
Json json_of(const Module& module) {
    return {{"sha256", module.sha256}, {"file", module.file}, {"format", module.format}, {"bytes", module.bytes}};
}
Json json_of(const Kernel& kernel) {
    Json json{{"name", kernel.name}, {"readable", kernel.readable}};
    if (kernel.module) json["module"] = *kernel.module;
    if (!kernel.missing.empty()) json["missing"] = kernel.missing;
    return json;
}
Json json_of(const MemoryFile& file) { return {{"file", file.file}, {"bytes", file.bytes}}; }

/// A list with one line for each element: a capture may have a million launches.
template <class Element>
std::string list_of(const std::vector<Element>& elements) {
    std::string text = "[";
    for (const auto& element : elements)
        text += (text.size() == 1 ? "\n    " : ",\n    ") +
                json_of(element).dump(-1, ' ', false, Json::error_handler_t::replace);
    return text + (elements.empty() ? "]" : "\n  ]");
}

// Reading ------------------------------------------------------------------------------------------------------------

/// A whole number below `end`.
template <class Number>
Number index(const JsonNode& node, std::uint64_t end) {
    const auto value = node.natural();
    if (value >= end) node.fail(fmt::format("a number below {}", end));
    return static_cast<Number>(value);
}

std::uint64_t hexadecimal(const JsonNode& node) {
    const auto text = node.text();
    const bool digits = text.size() > 2 && text.size() <= 18 && text.starts_with("0x") &&
                        text.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
    if (!digits) node.fail("a hexadecimal number in quotes, such as \"0x7f00\"");
    return std::stoull(text, nullptr, 16);
}

/// The name of a file in a folder of the capture: a name that leads elsewhere is refused.
std::string file_in(const JsonNode& node, std::string_view folder) {
    const auto name = node.text();
    const auto rest = std::string_view(name).substr(std::min(name.size(), folder.size()));
    if (!name.starts_with(folder) || rest.empty() || rest.find('/') != std::string::npos || rest.starts_with('.'))
        node.fail(fmt::format("a file in {}", folder));
    return name;
}

Shape shape_of(const JsonNode& node, const Capture& capture) {
    Shape shape;
    shape.kernel = index<int>(node.at("kernel"), capture.kernels.size());
    shape.grid = three(node.at("grid"));
    shape.block = three(node.at("block"));
    if (const auto cluster = node.find("cluster")) shape.cluster = three(*cluster);
    shape.shared_bytes = small<std::uint32_t>(node.at("shared_bytes"));
    if (const auto cooperative = node.find("cooperative")) shape.cooperative = cooperative->flag();
    if (const auto parameters = node.find("parameters")) {
        shape.parameters.emplace();
        for (const auto& parameter : parameters->elements())
            shape.parameters->push_back({parameter.at("offset").natural(), bytes_of(parameter.at("value"))});
    }
    return shape;
}

Content content_of(const JsonNode& node, std::uint64_t expected_offset, const Capture& capture) {
    Content part{.offset = node.at("offset").natural(), .bytes = node.at("bytes").natural()};
    if (part.offset != expected_offset)
        node.at("offset").fail(fmt::format("{}, the end of the part before", expected_offset));
    if (const auto generated = node.find("generated"); generated && generated->flag()) {
        part.generated = true;
        return part;
    }
    if (const auto fill = node.find("fill")) {
        part.fill = hexadecimal(*fill);
        return part;
    }
    part.file = file_in(node.at("file"), "memory/");
    part.at = node.at("at").natural();
    const auto known = std::ranges::find(capture.memory, part.file, &MemoryFile::file);
    if (known == capture.memory.end()) node.at("file").fail("a file that the list \"memory\" names");
    if (const auto period = node.find("period")) {
        part.period = period->natural();
        if (part.period == 0) period->fail("a number of bytes that repeat");
    }
    const std::uint64_t stored = part.period == 0 ? part.bytes : part.period;
    if (stored > known->bytes || part.at > known->bytes - stored)
        node.at("at").fail(fmt::format("a part of the {} bytes of {}", known->bytes, part.file));
    return part;
}

Buffer buffer_of(const JsonNode& node, const Capture& capture) {
    Buffer buffer;
    buffer.space = node.at("space").text();
    if (buffer.space != "device" && buffer.space != "host" && buffer.space != "variable" && buffer.space != "array")
        node.at("space").fail("device, host, variable or array");
    if (const auto name = node.find("name")) buffer.name = name->text();
    buffer.address = hexadecimal(node.at("address"));
    buffer.bytes = node.at("bytes").natural();
    if (const auto omitted = node.find("omitted")) {
        buffer.omitted = omitted->text();
        if (buffer.omitted.empty()) omitted->fail("a reason");
        return buffer;
    }
    std::uint64_t end = 0;
    for (const auto& part : node.at("content").elements()) {
        buffer.content.push_back(content_of(part, end, capture));
        if (buffer.content.back().bytes > buffer.bytes - end) part.at("bytes").fail("a part within the buffer");
        end += buffer.content.back().bytes;
    }
    if (end != buffer.bytes) node.at("content").fail(fmt::format("parts of {} bytes together", buffer.bytes));
    return buffer;
}

Graph graph_of(const JsonNode& node, const Capture& capture) {
    Graph graph;
    for (const auto& element : node.at("nodes").elements()) {
        Graph::Node made{shape_of(element.at("launch"), capture), {}};
        for (const auto& after : element.at("after").elements())
            made.after.push_back(index<int>(after, graph.nodes.size()));
        graph.nodes.push_back(std::move(made));
    }
    for (const auto& other : node.at("others").elements())
        graph.others[small<int>(other.at("type"))] = small<int>(other.at("count"));
    return graph;
}

Launch launch_of(const JsonNode& node, const Capture& capture) {
    Launch launch;
    launch.process = index<int>(node.at("process"), capture.processes.size());
    if (const auto gpu = node.find("gpu")) launch.gpu = index<int>(*gpu, capture.gpus.size());
    launch.stream = small<int>(node.at("stream"));
    launch.thread = small<int>(node.at("thread"));
    launch.host_us = node.at("host_us").number();
    if (const auto start = node.find("start_us")) launch.start_us = start->number();
    if (const auto us = node.find("us")) launch.us = us->number();
    if (const auto waited = node.find("host_wait_us")) launch.host_wait_us = waited->number();
    if (const auto after = node.find("after"))
        for (const auto& other : after->elements())
            launch.after.push_back(index<std::uint64_t>(other, capture.launches.size()));
    if (const auto kernel = node.find("launch")) launch.kernel = shape_of(*kernel, capture);
    if (const auto graph = node.find("graph")) launch.graph = index<int>(*graph, capture.graphs.size());
    if (launch.kernel.has_value() == launch.graph.has_value()) node.fail("either \"launch\" or \"graph\"");
    const auto buffers_of = [&](const JsonNode& list) {
        std::vector<Buffer> buffers;
        for (const auto& buffer : list.elements()) buffers.push_back(buffer_of(buffer, capture));
        return buffers;
    };
    if (const auto buffers = node.find("buffers")) launch.buffers = buffers_of(*buffers);
    if (const auto results = node.find("results")) launch.results = buffers_of(*results);
    if (const auto textures = node.find("textures"))
        for (const auto& texture : textures->elements()) launch.textures.push_back(texture_of(texture, hexadecimal));
    if (const auto reason = node.find("no_buffers")) launch.no_buffers = reason->text();
    if (const auto reduction = node.find("reduction")) {
        launch.reduction = {reduction->at("instructions").natural(), reduction->at("bytes").natural(),
                            reduction->at("kept").natural()};
        if (const auto reason = reduction->find("whole")) launch.reduction->whole = reason->text();
        if (const auto reason = reduction->find("unproven")) launch.reduction->unproven = reason->text();
        if (const auto what = reduction->find("approximate")) launch.reduction->approximate = what->text();
    }
    return launch;
}

Gpu gpu_of(const JsonNode& node) {
    return {node.at("name").text(),
            node.at("uuid").text(),
            small<int>(node.at("sm")),
            small<int>(node.at("multiprocessors")),
            small<int>(node.at("clock_khz")),
            small<int>(node.at("memory_clock_khz")),
            node.at("memory_bytes").natural(),
            small<int>(node.at("driver"))};
}

Module module_of(const JsonNode& node) {
    Module module{node.at("sha256").text(), file_in(node.at("file"), "modules/"), node.at("format").text(),
                  node.at("bytes").natural()};
    if (module.format != "cubin" && module.format != "ptx") node.at("format").fail("cubin or ptx");
    return module;
}

Kernel kernel_of(const JsonNode& node, std::size_t modules) {
    Kernel kernel{node.at("name").text(), node.at("readable").text(), {}, {}};
    if (const auto module = node.find("module")) kernel.module = index<int>(*module, modules);
    if (const auto missing = node.find("missing")) kernel.missing = missing->text();
    if (kernel.module.has_value() != kernel.missing.empty()) node.fail("either \"module\" or \"missing\"");
    return kernel;
}

}  // namespace

std::string to_json(const Capture& capture) {
    const Header& header = capture.header;
    Json head{{"schema", kSchema},
              {"version", header.writer.version},
              {"commit", header.writer.commit},
              {"date", header.writer.date},
              {"command", header.command},
              {"exit_code", header.exit_code},
              {"wall_seconds", header.wall_seconds}};
    if (const auto& limit = header.memory_limit) {
        head["memory_limit"] = {
            {"bytes", limit->bytes}, {"launches_left_out", limit->launches}, {"bytes_left_out", limit->bytes_left_out}};
        if (limit->launches != 0) head["memory_limit"]["first_launch_left_out"] = limit->first;
    }
    std::string text = head.dump(2, ' ', false, Json::error_handler_t::replace);
    text.resize(text.rfind('\n'));
    const auto add = [&](std::string_view name, const std::string& list) {
        text += fmt::format(",\n  \"{}\": {}", name, list);
    };
    add("gpus", list_of(capture.gpus));
    add("processes", list_of(capture.processes));
    add("modules", list_of(capture.modules));
    add("kernels", list_of(capture.kernels));
    add("graphs", list_of(capture.graphs));
    add("memory", list_of(capture.memory));
    add("launches", list_of(capture.launches));
    return text + "\n}\n";
}

Capture from_json(std::string_view text, std::string_view origin) {
    const auto json = parse_json<Json>(text, origin, "the index of a capture");
    const JsonNode node(json, std::string(origin));
    if (node.at("schema").text() != kSchema) node.at("schema").fail(fmt::format("\"{}\"", kSchema));
    Capture capture;
    capture.header = {{node.at("version").text(), node.at("commit").text(), node.at("date").text()},
                      node.at("command").texts(),
                      small<int>(node.at("exit_code")),
                      node.at("wall_seconds").number(),
                      {}};
    if (const auto limit = node.find("memory_limit")) {
        auto& read = capture.header.memory_limit.emplace();
        read.bytes = limit->at("bytes").natural();
        read.launches = limit->at("launches_left_out").natural();
        read.bytes_left_out = limit->at("bytes_left_out").natural();
        if (read.launches != 0) read.first = limit->at("first_launch_left_out").natural();
    }
    for (const auto& gpu : node.at("gpus").elements()) capture.gpus.push_back(gpu_of(gpu));
    for (const auto& process : node.at("processes").elements())
        capture.processes.push_back({process.at("pid").natural(), process.at("command").texts()});
    for (const auto& module : node.at("modules").elements()) capture.modules.push_back(module_of(module));
    for (const auto& kernel : node.at("kernels").elements())
        capture.kernels.push_back(kernel_of(kernel, capture.modules.size()));
    for (const auto& graph : node.at("graphs").elements()) capture.graphs.push_back(graph_of(graph, capture));
    for (const auto& file : node.at("memory").elements())
        capture.memory.push_back({file_in(file.at("file"), "memory/"), file.at("bytes").natural()});
    for (const auto& launch : node.at("launches").elements()) capture.launches.push_back(launch_of(launch, capture));
    return capture;
}

}  // namespace gputomo::capture
