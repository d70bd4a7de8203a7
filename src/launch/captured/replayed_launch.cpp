#include "launch/captured/replayed_launch.hpp"

#include "launch/captured/captured_code.hpp"
#include "launch/captured/captured_textures.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace gputomo::launch {

using capture::Buffer;

std::string lost_by_reduction(const capture::Launch& launch) {
    if (!launch.reduction) return {};
    const auto& [unproven, approximate] = std::tie(launch.reduction->unproven, launch.reduction->approximate);
    return unproven.empty() || approximate.empty() ? unproven + approximate : unproven + "; " + approximate;
}

ReplayedLaunch::ReplayedLaunch(const capture::Capture& capture, const capture::Launch& launch)
    : shape_(shape_of(launch)),
      code_(code_of(capture, shape_)),
      cubin_(std::as_bytes(std::span(code_))),
      memory_(~std::uint64_t{0}) {
    check_replayable(capture, launch);
    const auto& name = capture.kernels[static_cast<std::size_t>(shape_.kernel)].name;
    capture::MemoryReader reader(capture);
    place(*launch.buffers, reader);
    program_ =
        sim::machine_code::prepare(cubin_, name, [this](std::string_view section) { return section_address(section); });
    parameters_ = parameters_of(shape_, name, program_.parameter_bytes);
    for (const auto& buffer : *launch.buffers)
        if (buffer.space == "variable") place_variable(buffer, reader);
    for (const auto& texture : launch.textures) {
        const sim::TextureObject object = texture_object_of(texture);
        // A texture object that cannot be simulated is missing where a kernel reads it.
        if (refusal_of(object).empty()) textures_[static_cast<std::uint32_t>(texture.handle)] = object;
    }
}

void ReplayedLaunch::place(const std::vector<Buffer>& buffers, capture::MemoryReader& reader) {
    for (const auto& buffer : buffers) {
        if (buffer.space == "variable") {
            const auto symbol = symbol_of(cubin_, buffer.name);
            // A variable of another module; the kernel reaches it by its address only.
            if (!symbol) {
                memory_.allocate_at(buffer.address, buffer.bytes);
            } else if (!constant_bank(symbol->section) && !sections_.contains(symbol->section)) {
                place_section(*cubin_.section(symbol->section), buffer.address - symbol->value);
            }
            continue;
        }
        memory_.allocate_at(buffer.address, buffer.bytes);
        reader.read(buffer, {bytes_of(buffer), static_cast<std::size_t>(buffer.bytes)});
    }
}

void ReplayedLaunch::place_section(const device::Cubin::Section& section, std::optional<std::uint64_t> address) {
    if (address)
        memory_.allocate_at(*address, section.size);
    else
        address = memory_.allocate(section.size);
    if (!section.bytes.empty())
        std::memcpy(memory_.resolve(*address, section.size), section.bytes.data(), section.bytes.size());
    sections_.emplace(section.name, *address);
}

std::uint64_t ReplayedLaunch::section_address(std::string_view name) {
    if (const auto known = sections_.find(name); known != sections_.end()) return known->second;
    const auto* const section = cubin_.section(name);
    if (section == nullptr || section->size == 0)
        throw InputError(fmt::format("the module has no section '{}'; expected one with variables", name));
    place_section(*section, {});
    return sections_.find(name)->second;
}

void ReplayedLaunch::place_variable(const Buffer& buffer, capture::MemoryReader& reader) {
    const auto symbol = symbol_of(cubin_, buffer.name);
    const auto bank = symbol ? constant_bank(symbol->section) : std::nullopt;
    if (!bank) {
        reader.read(buffer, {bytes_of(buffer), static_cast<std::size_t>(buffer.bytes)});
        return;
    }
    auto& words = program_.constants.at(*bank);
    if (symbol->value + buffer.bytes > 4 * words.size())
        throw InputError(fmt::format("{} lies at {:#x} of constant bank {}; expected a place within its {} bytes",
                                     name_of(buffer), symbol->value, *bank, 4 * words.size()));
    reader.read(buffer,
                {reinterpret_cast<std::byte*>(words.data()) + symbol->value, static_cast<std::size_t>(buffer.bytes)});
}

sim::machine_code::FunctionalLaunch ReplayedLaunch::launch() const {
    const auto dim = [](const std::array<std::uint32_t, 3>& three) {
        return device::Dim3{three[0], three[1], three[2]};
    };
    sim::machine_code::FunctionalLaunch launch;
    launch.grid = dim(shape_.grid);
    launch.block = dim(shape_.block);
    launch.dynamic_shared = shape_.shared_bytes;
    launch.parameters = parameters_;
    launch.textures = &textures_;
    return launch;
}

std::byte* ReplayedLaunch::bytes_of(const Buffer& buffer) const {
    auto* const found = memory_.resolve(buffer.address, buffer.bytes);
    if (found == nullptr) throw InputError(fmt::format("{} is not in the launch's memory", name_of(buffer)));
    return found;
}

std::optional<Difference> difference(const Buffer& expected, std::span<const std::byte> made,
                                     capture::MemoryReader& reader) {
    const std::string content = reader.read(expected);
    Difference found{.buffer = name_of(expected), .compared = expected.bytes};
    for (std::uint64_t i = 0; i < expected.bytes; ++i) {
        const int is = std::to_integer<int>(made[i]), was = static_cast<unsigned char>(content[i]);
        if (is == was) continue;
        if (found.bytes++ == 0) found.offset = i, found.found = is, found.expected = was;
    }
    if (found.bytes == 0) return std::nullopt;
    return found;
}

std::vector<Difference> ReplayedLaunch::compare(const std::vector<Buffer>& results,
                                                capture::MemoryReader& reader) const {
    std::vector<Difference> all;
    for (const auto& buffer : results) {
        if (!buffer.omitted.empty()) continue;
        const auto* const made = memory_.resolve(buffer.address, buffer.bytes);
        if (made == nullptr) continue;  // a constant: no kernel writes it
        if (auto found = difference(buffer, {made, static_cast<std::size_t>(buffer.bytes)}, reader))
            all.push_back(std::move(*found));
    }
    return all;
}

}  // namespace gputomo::launch
