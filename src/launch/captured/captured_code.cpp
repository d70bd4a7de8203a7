#include "launch/captured/captured_code.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace gputomo::launch {

const capture::Shape& shape_of(const capture::Launch& launch) {
    if (!launch.kernel)
        throw InputError(
            "the launch starts a graph; expected one of a kernel, since memory between the kernels of a "
            "graph is not captured");
    return *launch.kernel;
}

std::string code_of(const capture::Capture& capture, const capture::Shape& shape) {
    const auto& kernel = capture.kernels[static_cast<std::size_t>(shape.kernel)];
    if (!kernel.module) throw InputError(fmt::format("kernel '{}' has no code: {}", kernel.name, kernel.missing));
    const auto& module = capture.modules[static_cast<std::size_t>(*kernel.module)];
    if (module.format != "cubin")
        throw InputError(fmt::format("kernel '{}' has no machine code: its module is {}; expected a cubin", kernel.name,
                                     module.format));
    return capture::read_module(capture, module);
}

void check_replayable(const capture::Capture& capture, const capture::Launch& launch) {
    const auto& shape = shape_of(launch);
    const auto& name = capture.kernels[static_cast<std::size_t>(shape.kernel)].name;
    if (!launch.buffers)
        throw InputError(
            fmt::format("the launch of '{}' has no memory{}{}; expected one that `capture --launches` chose", name,
                        launch.no_buffers.empty() ? "" : ": ", launch.no_buffers));
    if (shape.cluster && *shape.cluster != std::array<std::uint32_t, 3>{1, 1, 1})
        throw InputError(fmt::format("the launch of '{}' has clusters of {}x{}x{} blocks, which are not simulated",
                                     name, (*shape.cluster)[0], (*shape.cluster)[1], (*shape.cluster)[2]));
    for (const auto& buffer : *launch.buffers)
        if (!buffer.omitted.empty())
            throw InputError(fmt::format("{} has no content: {}. Capture the launch again with a larger --max-memory",
                                         name_of(buffer), buffer.omitted));
}

std::vector<std::byte> parameters_of(const capture::Shape& shape, std::string_view kernel, std::uint64_t bytes) {
    if (!shape.parameters)
        throw InputError(
            fmt::format("the launch of '{}' has no parameters: its driver was too old to say how large "
                        "they are",
                        kernel));
    std::vector<std::byte> all(bytes);
    for (const auto& parameter : *shape.parameters) {
        if (parameter.offset > all.size() || parameter.bytes.size() > all.size() - parameter.offset)
            throw InputError(
                fmt::format("kernel '{}': a parameter of {} bytes at {}; expected one within the {} bytes "
                            "that its code takes",
                            kernel, parameter.bytes.size(), parameter.offset, all.size()));
        std::memcpy(all.data() + parameter.offset, parameter.bytes.data(), parameter.bytes.size());
    }
    return all;
}

std::optional<std::size_t> constant_bank(std::string_view section) {
    constexpr std::string_view kPrefix = ".nv.constant";
    if (!section.starts_with(kPrefix)) return std::nullopt;
    section.remove_prefix(kPrefix.size());
    std::size_t bank = 0;
    const auto read = std::from_chars(section.data(), section.data() + section.size(), bank);
    if (read.ec != std::errc() || read.ptr != section.data() + section.size()) return std::nullopt;
    return bank;
}

std::optional<device::Cubin::Symbol> symbol_of(const device::Cubin& cubin, std::string_view name) {
    for (auto& symbol : cubin.symbols())
        if (symbol.name == name && !symbol.section.empty()) return symbol;
    return std::nullopt;
}

std::string name_of(const capture::Buffer& buffer) {
    if (buffer.space == "variable") return fmt::format("the variable '{}'", buffer.name);
    return fmt::format("the {} buffer at {:#x}", buffer.space, buffer.address);
}

}  // namespace gputomo::launch
