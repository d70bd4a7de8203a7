#include "launch/prepared_launch.hpp"

#include "launch/module_variables.hpp"
#include "machine/sm_threads.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace gputomo::launch {
namespace {

std::vector<device::Address> addresses_of(const std::vector<MemoryRange>& buffers) {
    std::vector<device::Address> addresses;
    for (const MemoryRange& buffer : buffers) addresses.push_back(buffer.address);
    return addresses;
}

}  // namespace

PreparedLaunch::PreparedLaunch(const Launch& launch)
    : code_(launch.code), cubin_(std::as_bytes(std::span(code_))), memory_(~std::uint64_t{0}) {
    for (const Buffer& buffer : launch.buffers) place(buffer);
    program_ = sim::machine_code::prepare(cubin_, launch.kernel,
                                          [this](std::string_view section) { return section_address(section); });
    parameters_ = parameter_space(launch, addresses_of(buffers_), program_.parameter_bytes);
    for (const Buffer& buffer : launch.buffers)
        if (!buffer.variable.empty()) fill_variable(buffer);
    constexpr device::Texture kUsedBits = 0xFFFFFFFF;  // machine code reads the lower half of a handle
    for (const Texture& texture : launch.textures) textures_[texture.handle & kUsedBits] = texture.object;
    const auto& of_code = program_.cluster;
    if (launch.cluster && launch.cluster->count() == 0)
        throw InputError(fmt::format("launch of {}: clusters of {}x{}x{} blocks; expected 1 or more in each direction",
                                     launch.kernel, launch.cluster->x, launch.cluster->y, launch.cluster->z));
    has_clusters_ = (launch.cluster && launch.cluster->count() > 1) ||
                    std::ranges::any_of(of_code, [](std::uint32_t blocks) { return blocks > 1; });
    launch_.grid = launch.grid;
    launch_.block = launch.block;
    launch_.dynamic_shared = launch.dynamic_shared;
}

void PreparedLaunch::place(const Buffer& buffer) {
    if (!buffer.variable.empty()) {
        const auto symbol = symbol_of(cubin_, buffer.variable);
        const auto address = buffer.address.value_or(0);
        buffers_.push_back({address, buffer.bytes});
        // A variable of another module; the kernel reaches it by its address only.
        if (!symbol)
            memory_.allocate_at(address, buffer.bytes);
        else if (!constant_bank(symbol->section) && !sections_.contains(symbol->section))
            place_section(*cubin_.section(symbol->section), address - symbol->value);
        return;
    }
    if (buffer.address) memory_.allocate_at(*buffer.address, buffer.bytes);
    buffers_.push_back({buffer.address ? *buffer.address : memory_.allocate(buffer.bytes), buffer.bytes});
    if (buffer.fill_part)
        memory_.fill_when_reached(buffers_.back().address, buffer.fill_part);
    else if (buffer.fill)
        buffer.fill({bytes_of(buffers_.back()), static_cast<std::size_t>(buffer.bytes)});
}

void PreparedLaunch::place_section(const sass::Cubin::Section& section, std::optional<std::uint64_t> address) {
    if (address)
        memory_.allocate_at(*address, section.size);
    else
        address = memory_.allocate(section.size);
    if (!section.bytes.empty())
        std::memcpy(memory_.resolve(*address, section.size), section.bytes.data(), section.bytes.size());
    sections_.emplace(section.name, *address);
}

std::uint64_t PreparedLaunch::section_address(std::string_view name) {
    if (const auto known = sections_.find(name); known != sections_.end()) return known->second;
    const auto* const section = cubin_.section(name);
    if (section == nullptr || section->size == 0)
        throw InputError(fmt::format("the module has no section '{}'; expected one with variables", name));
    place_section(*section, {});
    return sections_.find(name)->second;
}

void PreparedLaunch::fill_variable(const Buffer& buffer) {
    if (!buffer.fill) return;
    const auto symbol = symbol_of(cubin_, buffer.variable);
    const auto bank = symbol ? constant_bank(symbol->section) : std::nullopt;
    if (!bank) {
        buffer.fill({bytes_of({buffer.address.value_or(0), buffer.bytes}), static_cast<std::size_t>(buffer.bytes)});
        return;
    }
    auto& words = program_.constants.at(*bank);
    if (symbol->value + buffer.bytes > 4 * words.size())
        throw InputError(fmt::format("{} lies at {:#x} of constant bank {}; expected a place within its {} bytes",
                                     buffer.name, symbol->value, *bank, 4 * words.size()));
    buffer.fill({reinterpret_cast<std::byte*>(words.data()) + symbol->value, static_cast<std::size_t>(buffer.bytes)});
}

sim::machine_code::FunctionalLaunch PreparedLaunch::launch() const {
    auto launch = launch_;
    launch.parameters = parameters_;
    launch.textures = &textures_;
    return launch;
}

sim::machine_code::FunctionalLaunch PreparedLaunch::launch_on(const machine::Machine& machine) const {
    auto launch = this->launch();
    const auto& topology = machine.topology;
    const auto& threads = machine::threads_of_sm(topology);
    launch.gpu = {.sms = static_cast<std::uint32_t>(topology.sms.value_or(0)),
                  .warps_of_sm = static_cast<std::uint32_t>(threads.value_or(0) / kWarpSize)};
    return launch;
}

std::byte* PreparedLaunch::bytes_of(const MemoryRange& range) const {
    auto* const found = memory_.resolve(range.address, range.bytes);
    if (found == nullptr)
        throw InputError(fmt::format("{} bytes at {:#x} are not in the launch's memory", range.bytes, range.address));
    return found;
}

std::vector<Difference> PreparedLaunch::compare(const std::vector<Buffer>& results, const Tolerance& tolerance) const {
    std::vector<Difference> all;
    for (const Buffer& buffer : results) {
        const auto* const made = memory_.resolve(buffer.address.value_or(0), buffer.bytes);
        if (made == nullptr) continue;  // a constant: no kernel writes it
        if (auto found = difference(buffer, {made, static_cast<std::size_t>(buffer.bytes)}, tolerance))
            all.push_back(std::move(*found));
    }
    return all;
}

}  // namespace gputomo::launch
