#include "launch/placed_launch.hpp"

#include "device/cubin.hpp"
#include "device/kernel_info.hpp"
#include "launch/module_variables.hpp"
#include "launch/prune.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace gputomo::launch {
namespace {

/// Names the file of the code, where it has one, in what is wrong with it.
std::unique_ptr<device::Module> load(device::Device& gpu, const std::string& code, const std::string& origin) {
    try {
        return gpu.load(code);
    } catch (const InputError& e) {
        if (origin.empty()) throw;
        throw InputError(fmt::format("{}: {}", origin, e.what()));
    }
}

Bytes size_of(std::uint64_t bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }

}  // namespace

PlacedLaunch::PlacedLaunch(sim::SimulatedDevice& gpu, const Launch& launch)
    : gpu_(gpu), code_(launch.code), is_cubin_(device::is_cubin(code_)) {
    // Other kernels of the module may need what is not simulated.
    if (is_cubin_) code_ = pruned(code_, launch.kernel);
    addresses_.resize(launch.buffers.size());
    // Memory with an address of its own comes before the module, which takes what is free.
    for (const Buffer& buffer : launch.buffers)
        if (buffer.address) place(buffer);
    for (const Texture& texture : launch.textures) gpu_.texture_at(texture.handle, texture.object);
    module_ = load(gpu_, code_, launch.origin);
    kernel_ = &module_->kernel(launch.kernel);
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
        const Buffer& buffer = launch.buffers[i];
        sizes_.push_back(buffer.bytes);
        if (!buffer.variable.empty()) {
            if (const auto address = variable_address(buffer)) fill(buffer, *address);
            addresses_[i] = buffer.address.value_or(0);
        } else if (buffer.address) {
            addresses_[i] = *buffer.address;
        } else {
            addresses_[i] = gpu_.allocate(size_of(buffer.bytes));
            fill(buffer, addresses_[i]);
        }
    }
    launch_.grid = launch.grid;
    launch_.block = launch.block;
    launch_.dynamic_shared = size_of(launch.dynamic_shared);
    set_arguments(launch);
}

void PlacedLaunch::place(const Buffer& buffer) {
    if (!buffer.variable.empty()) return fill_constants(buffer);
    gpu_.allocate_at(*buffer.address, size_of(buffer.bytes));
    fill(buffer, *buffer.address);
}

void PlacedLaunch::fill(const Buffer& buffer, device::Address to) {
    if (!buffer.fill) return;
    std::vector<std::byte> content(buffer.bytes);
    buffer.fill(content);
    gpu_.copy_to_device(to, content);
}

/// Puts the constants of the launch into the code, from where a kernel reads them.
void PlacedLaunch::fill_constants(const Buffer& buffer) {
    const device::Cubin cubin(std::as_bytes(std::span(code_)));
    const auto symbol = symbol_of(cubin, buffer.variable);
    if (!buffer.fill || !symbol || !constant_bank(symbol->section)) return;
    const auto& section = *cubin.section(symbol->section);
    if (symbol->value + buffer.bytes > section.bytes.size())
        throw InputError(fmt::format("{} lies at {:#x} of {}; expected a place within its {} bytes", buffer.name,
                                     symbol->value, section.name, section.bytes.size()));
    const std::uint64_t begin = section.offset + symbol->value;
    buffer.fill(std::as_writable_bytes(std::span(code_)).subspan(begin, buffer.bytes));
}

std::optional<device::Address> PlacedLaunch::variable_address(const Buffer& buffer) const {
    if (buffer.variable.empty()) return buffer.address;
    const auto symbol = symbol_of(device::Cubin(std::as_bytes(std::span(code_))), buffer.variable);
    if (!symbol || constant_bank(symbol->section)) return std::nullopt;
    return module_->symbol(buffer.variable).address;
}

void PlacedLaunch::set_arguments(const Launch& launch) {
    if (!is_cubin_) {
        for (const Argument& argument : launch.arguments)
            launch_.arguments.add_at(argument.offset, value_of(argument, addresses_));
        return;
    }
    const auto info = device::kernel_info(device::Cubin(std::as_bytes(std::span(code_))), launch.kernel);
    const auto space = parameter_space(launch, addresses_, info.parameter_bytes);
    for (const auto& parameter : info.parameters)
        launch_.arguments.add_at(parameter.offset, std::span(space).subspan(parameter.offset, parameter.bytes));
}

device::LaunchResult PlacedLaunch::run(std::chrono::milliseconds time_limit) {
    launch_.time_limit = time_limit;
    return kernel_->launch(launch_);
}

std::vector<std::byte> PlacedLaunch::content(std::size_t index) const {
    std::vector<std::byte> bytes(sizes_.at(index));
    gpu_.copy_to_host(bytes, addresses_[index]);
    return bytes;
}

std::vector<Difference> PlacedLaunch::compare(const std::vector<Buffer>& results, const Tolerance& tolerance) const {
    std::vector<Difference> all;
    for (const Buffer& buffer : results) {
        const auto address = variable_address(buffer);
        if (!address) continue;
        std::vector<std::byte> made(buffer.bytes);
        gpu_.copy_to_host(made, *address);
        if (auto found = difference(buffer, made, tolerance)) all.push_back(std::move(*found));
    }
    return all;
}

}  // namespace gputomo::launch
