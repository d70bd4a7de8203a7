#include "launch/captured/captured_launch.hpp"

#include "launch/captured/captured_textures.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace gputomo::launch {
namespace {

device::Dim3 dimensions_of(const std::array<std::uint32_t, 3>& three) { return {three[0], three[1], three[2]}; }

/// "the device buffer at 0x7f00", "the variable 'table'"
std::string name_of(const capture::Buffer& buffer) {
    if (buffer.space == "variable") return fmt::format("the variable '{}'", buffer.name);
    return fmt::format("the {} buffer at {:#x}", buffer.space, buffer.address);
}

const capture::Shape& shape_of(const capture::Launch& launch) {
    if (!launch.kernel)
        throw InputError(
            "the launch starts a graph; expected one of a kernel, since memory between the kernels of a "
            "graph is not captured");
    return *launch.kernel;
}

/// The code of the launch's kernel.
std::string code_of(const capture::Capture& capture, const capture::Shape& shape, CodeKind kind) {
    const auto& kernel = capture.kernels[static_cast<std::size_t>(shape.kernel)];
    if (!kernel.module) throw InputError(fmt::format("kernel '{}' has no code: {}", kernel.name, kernel.missing));
    const auto& module = capture.modules[static_cast<std::size_t>(*kernel.module)];
    if (module.format != "cubin" && kind == CodeKind::machine_code)
        throw InputError(fmt::format("kernel '{}' has no machine code: its module is {}; expected a cubin", kernel.name,
                                     module.format));
    return capture::read_module(capture, module);
}

void check_memory(const capture::Launch& launch, const std::string& kernel) {
    if (!launch.buffers)
        throw InputError(
            fmt::format("the launch of '{}' has no memory{}{}; expected one that `capture --launches` chose", kernel,
                        launch.no_buffers.empty() ? "" : ": ", launch.no_buffers));
    for (const auto& buffer : *launch.buffers)
        if (!buffer.omitted.empty())
            throw InputError(fmt::format("{} has no content: {}. Capture the launch again with a larger --max-memory",
                                         name_of(buffer), buffer.omitted));
}

std::vector<Argument> arguments_of(const capture::Shape& shape, const std::string& kernel) {
    if (!shape.parameters)
        throw InputError(
            fmt::format("the launch of '{}' has no parameters: its driver was too old to say how large "
                        "they are",
                        kernel));
    std::vector<Argument> arguments;
    for (const auto& parameter : *shape.parameters) {
        const auto bytes = std::as_bytes(std::span(parameter.bytes));
        arguments.push_back({.offset = parameter.offset, .bytes = {bytes.begin(), bytes.end()}, .buffer = {}});
    }
    return arguments;
}

/// Buffers without content are left out.
std::vector<Buffer> buffers_of(const std::vector<capture::Buffer>& captured,
                               const std::shared_ptr<capture::MemoryReader>& reader) {
    std::vector<Buffer> buffers;
    for (const auto& buffer : captured) {
        if (!buffer.omitted.empty()) continue;
        const bool variable = buffer.space == "variable";
        buffers.push_back({.name = name_of(buffer),
                           .bytes = buffer.bytes,
                           .address = buffer.address,
                           .variable = variable ? buffer.name : std::string(),
                           .space = buffer.space == "host" ? device::MemorySpace::host : device::MemorySpace::device,
                           .is_array = buffer.space == "array",
                           .fill = [&buffer, reader](std::span<std::byte> to) { reader->read(buffer, to); }});
    }
    return buffers;
}

}  // namespace

std::string lost_by_reduction(const capture::Launch& launch) {
    if (!launch.reduction) return {};
    const auto& [unproven, approximate] = std::tie(launch.reduction->unproven, launch.reduction->approximate);
    return unproven.empty() || approximate.empty() ? unproven + approximate : unproven + "; " + approximate;
}

Launch captured_launch(const capture::Capture& capture, const capture::Launch& launch, CodeKind kind) {
    const auto& shape = shape_of(launch);
    const auto& kernel = capture.kernels[static_cast<std::size_t>(shape.kernel)].name;
    Launch made{.code = code_of(capture, shape, kind),
                .kernel = kernel,
                .origin = {},
                .grid = dimensions_of(shape.grid),
                .block = dimensions_of(shape.block),
                .dynamic_shared = shape.shared_bytes,
                .not_proven = lost_by_reduction(launch)};
    if (shape.cluster && *shape.cluster != std::array<std::uint32_t, 3>{1, 1, 1})
        made.cluster = dimensions_of(*shape.cluster);
    made.cooperative = shape.cooperative;
    check_memory(launch, kernel);
    made.arguments = arguments_of(shape, kernel);
    const auto reader = std::make_shared<capture::MemoryReader>(capture);
    made.buffers = buffers_of(*launch.buffers, reader);
    if (launch.results) made.results = buffers_of(*launch.results, reader);
    for (const auto& texture : launch.textures)
        // A texture object that cannot be simulated is missing where a kernel reads it.
        if (const auto object = texture_object_of(texture); refusal_of(object).empty())
            made.textures.push_back({texture.handle, object});
    return made;
}

}  // namespace gputomo::launch
