#include "answer/simulated.hpp"

#include "device/kernel_info.hpp"
#include "launch/captured/captured_code.hpp"
#include "launch/captured/captured_textures.hpp"
#include "launch/captured/prune.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace gputomo::answer {
namespace {

device::Dim3 dimensions_of(const std::array<std::uint32_t, 3>& three) { return {three[0], three[1], three[2]}; }

Bytes size_of(std::uint64_t bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }

/// Puts the constants of the launch into the code, from where a kernel reads them.
void set_constant(std::string& code, const capture::Buffer& buffer, capture::MemoryReader& reader) {
    const device::Cubin cubin(std::as_bytes(std::span(code)));
    const auto symbol = launch::symbol_of(cubin, buffer.name);
    if (!symbol || !launch::constant_bank(symbol->section)) return;
    const auto& section = *cubin.section(symbol->section);
    if (symbol->value + buffer.bytes > section.bytes.size())
        throw InputError(fmt::format("{} lies at {:#x} of {}; expected a place within its {} bytes",
                                     launch::name_of(buffer), symbol->value, section.name, section.bytes.size()));
    const std::uint64_t at = section.offset + symbol->value;
    reader.read(buffer, std::as_writable_bytes(std::span(code)).subspan(at, buffer.bytes));
}

void copy(sim::SimulatedDevice& gpu, const capture::Buffer& buffer, device::Address to, capture::MemoryReader& reader) {
    const std::string content = reader.read(buffer);
    gpu.copy_to_device(to, std::as_bytes(std::span(content)));
}

Simulated simulate_on(sim::SimulatedDevice& gpu, const capture::Capture& capture, const capture::Launch& launch,
                      const SimulationRequest& request) {
    const auto& shape = launch::shape_of(launch);
    launch::check_replayable(capture, launch);
    const auto& name = capture.kernels[static_cast<std::size_t>(shape.kernel)].name;
    // Other kernels of the module may need what is not simulated.
    std::string code = launch::pruned(launch::code_of(capture, shape), name);
    capture::MemoryReader reader(capture);
    for (const auto& buffer : *launch.buffers) {
        if (buffer.space == "variable") {
            set_constant(code, buffer, reader);
            continue;
        }
        gpu.allocate_at(buffer.address, size_of(buffer.bytes));
        copy(gpu, buffer, buffer.address, reader);
    }
    for (const auto& texture : launch.textures)
        if (const auto object = launch::texture_object_of(texture); refusal_of(object).empty())
            gpu.texture_at(texture.handle, object);
    const device::Cubin cubin(std::as_bytes(std::span(code)));
    const auto module = gpu.load(code);
    // A variable keeps its place in the module, which is not its address on the GPU.
    const auto variable = [&](const capture::Buffer& buffer) -> std::optional<device::Address> {
        const auto symbol = launch::symbol_of(cubin, buffer.name);
        if (!symbol || launch::constant_bank(symbol->section)) return std::nullopt;
        return module->symbol(buffer.name).address;
    };
    for (const auto& buffer : *launch.buffers)
        if (buffer.space == "variable")
            if (const auto address = variable(buffer)) copy(gpu, buffer, *address, reader);
    device::Launch asked{.grid = dimensions_of(shape.grid), .block = dimensions_of(shape.block)};
    asked.dynamic_shared = size_of(shape.shared_bytes);
    asked.time_limit = request.time_limit;
    const auto info = device::kernel_info(cubin, name);
    const auto packed = launch::parameters_of(shape, name, info.parameter_bytes);
    for (const auto& parameter : info.parameters)
        asked.arguments.add_at(parameter.offset, std::span(packed).subspan(parameter.offset, parameter.bytes));
    Simulated simulated;
    simulated.elapsed = module->kernel(name).launch(asked).elapsed;
    simulated.counters = gpu.counters();
    simulated.code = gpu.executed_code();
    simulated.blocks = gpu.sampled_blocks();
    if (!request.compares_results) return simulated;
    if (!launch.results)
        throw InputError(
            fmt::format("the launch of '{}' has no results to compare with; capture it with --results", name));
    for (const auto& buffer : *launch.results) {
        const auto address = buffer.space == "variable" ? variable(buffer) : buffer.address;
        if (!address || !buffer.omitted.empty()) continue;
        std::vector<std::byte> made(buffer.bytes);
        gpu.copy_to_host(made, *address);
        if (const auto found = launch::difference(buffer, made, reader)) simulated.differences.push_back(*found);
    }
    return simulated;
}

}  // namespace

Simulated simulate(const GpuMaker& make_gpu, const capture::Capture& capture, const capture::Launch& launch,
                   const SimulationRequest& request) {
    const auto run = [&](const std::optional<sim::SamplingPlan>& sampling) {
        const auto gpu = make_gpu();
        gpu->sample(sampling);
        return simulate_on(*gpu, capture, launch, request);
    };
    if (!request.sampling || request.compares_results) return run(std::nullopt);
    try {
        return run(request.sampling);
    } catch (const sim::SamplingError&) {
        return run(std::nullopt);
    }
}

}  // namespace gputomo::answer
