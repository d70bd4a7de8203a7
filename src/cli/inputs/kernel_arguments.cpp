#include "cli/inputs/kernel_arguments.hpp"

#include "ptx/names.hpp"
#include "sass/kernel_info.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

namespace gputomo::cli {
namespace {

/// Whether a parameter takes a value: one of bits (b32) takes any, others only their own kind.
bool is_kind_of(std::string_view parameter, std::string_view argument) {
    const auto is_float = [](std::string_view type) { return type.starts_with('f'); };
    return parameter.empty() || parameter.starts_with('b') || is_float(parameter) == is_float(argument);
}

/// A scalar type by its name, and how its text becomes bytes.
struct Scalar {
    std::string_view type;
    std::vector<std::byte> (*bytes)(std::string_view text, const std::string& where);
};
template <class T>
std::vector<std::byte> bytes_of(std::string_view text, const std::string& where) {
    const T value = number<T>(text, where);
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    return {begin, begin + sizeof value};
}
constexpr Scalar kScalars[] = {{"u32", bytes_of<std::uint32_t>}, {"s32", bytes_of<std::int32_t>},
                               {"u64", bytes_of<std::uint64_t>}, {"s64", bytes_of<std::int64_t>},
                               {"f32", bytes_of<float>},         {"f64", bytes_of<double>}};

launch::Buffer buffer_of(const std::string& size_and_file, const std::string& where) {
    const auto colon = size_and_file.find(':');
    const auto bytes = number<std::int64_t>(std::string_view(size_and_file).substr(0, colon), where);
    if (bytes <= 0) throw InputError(where + ": expected a positive number of bytes");
    launch::Buffer buffer{.name = where, .bytes = static_cast<std::uint64_t>(bytes)};
    if (colon == std::string::npos) return buffer;
    auto content = read_file(size_and_file.substr(colon + 1), "the content of a buffer", std::size_t{4} << 30);
    if (content.size() > static_cast<std::size_t>(bytes))
        throw InputError(
            fmt::format("{}: the file has {} bytes; expected at most the size of the buffer", where, content.size()));
    buffer.fill = [shared = std::make_shared<const std::string>(std::move(content))](std::span<std::byte> to) {
        std::memcpy(to.data(), shared->data(), shared->size());
    };
    return buffer;
}

void add_argument(const std::string& text, KernelArguments& to) {
    const std::string where = "--arg " + text;
    const auto colon = text.find(':');
    if (colon == std::string::npos) throw InputError(where + ": expected TYPE:VALUE or buf:BYTES[:FILE]");
    const std::string type = text.substr(0, colon), rest = text.substr(colon + 1);
    if (type == "buf") {
        to.values.push_back({.bytes = std::vector<std::byte>(sizeof(device::Address)), .buffer = to.buffers.size()});
        to.buffers.push_back(buffer_of(rest, where));
        return;
    }
    for (const auto& scalar : kScalars)
        if (scalar.type == type) {
            to.values.push_back({.bytes = scalar.bytes(rest, where), .buffer = {}});
            return;
        }
    throw InputError(fmt::format("{}: no type '{}'; expected u32, s32, u64, s64, f32, f64 or buf", where, type));
}

}  // namespace

Signature signature_of(const ptx::Kernel& kernel) {
    Signature signature;
    std::string out;
    for (const auto& parameter : kernel.parameters) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", ptx::name_of(parameter.type), parameter.name);
        const bool is_array = parameter.size != ptx::size_of(parameter.type);
        signature.parameters.push_back({parameter.name, static_cast<std::size_t>(parameter.size.count()),
                                        is_array ? "" : std::string(ptx::name_of(parameter.type))});
    }
    signature.text = fmt::format("{}({})", kernel.name, out);
    return signature;
}

Signature signature_of(const sass::Cubin& cubin, const std::string& name, const std::string& file) {
    std::vector<std::string> kernels;
    for (const auto& function : cubin.kernels())
        if (sass::is_kernel(cubin, function)) kernels.push_back(function);
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end())
        throw InputError(fmt::format(
            "{}: no kernel '{}'; expected {}", file, name,
            kernels.empty() ? "a cubin with a kernel" : fmt::format("one of {}", fmt::join(kernels, ", "))));
    Signature signature;
    std::string out;
    for (const auto& parameter : sass::kernel_info(cubin, name).parameters) {
        const auto number = signature.parameters.size();
        out += fmt::format("{}{} bytes", out.empty() ? "" : ", ", parameter.bytes);
        signature.parameters.push_back({fmt::format("parameter {}", number), parameter.bytes, {}, parameter.offset});
    }
    signature.text = fmt::format("{}({})", name, out);
    return signature;
}

KernelArguments parse_arguments(const std::vector<std::string>& texts, const Signature& signature) {
    if (texts.size() != signature.parameters.size())
        throw InputError(fmt::format("--arg: found {} arguments; expected {}, one for each parameter of {}",
                                     texts.size(), signature.parameters.size(), signature.text));
    KernelArguments arguments;
    std::uint64_t end = 0;  // of the arguments before
    for (std::size_t i = 0; i < texts.size(); ++i) {
        add_argument(texts[i], arguments);
        auto& argument = arguments.values.back();
        const auto given = argument.bytes.size();
        const auto& parameter = signature.parameters[i];
        argument.offset = parameter.offset.value_or((end + given - 1) / given * given);
        end = argument.offset + given;
        if (given != parameter.bytes)
            throw InputError(fmt::format("--arg {}: has {} bytes; expected the {} of {} in {}", texts[i], given,
                                         parameter.bytes, parameter.name, signature.text));
        const auto type = std::string_view(texts[i]).substr(0, texts[i].find(':'));
        if (!is_kind_of(parameter.type, type))
            throw InputError(fmt::format("--arg {}: has the type {}; expected the {} of {} in {}", texts[i], type,
                                         parameter.type, parameter.name, signature.text));
    }
    return arguments;
}

DeviceArguments place_arguments(const KernelArguments& arguments, device::Device& device) {
    DeviceArguments placed;
    std::vector<device::Address> addresses;
    for (const auto& buffer : arguments.buffers) {
        auto& made = placed.buffers.emplace_back(device, Bytes(static_cast<std::int64_t>(buffer.bytes)));
        addresses.push_back(made.address());
        if (!buffer.fill) continue;
        std::vector<std::byte> content(buffer.bytes);
        buffer.fill(content);
        made.write(std::span<const std::byte>(content));
    }
    for (const auto& argument : arguments.values)
        placed.packed.add_at(argument.offset, launch::value_of(argument, addresses));
    return placed;
}

device::Dim3 dimensions(std::string_view text, const std::string& option) {
    device::Dim3 d;
    std::string_view rest = text;
    for (auto* to : {&d.x, &d.y, &d.z}) {
        const auto comma = rest.find(',');
        const auto part = rest.substr(0, comma);
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), *to);
        if (error != std::errc{} || end != part.data() + part.size() || *to == 0) break;
        if (comma == std::string_view::npos) return d;
        rest.remove_prefix(comma + 1);
    }
    throw InputError(fmt::format("{} {}: expected X[,Y,Z], whole numbers from 1 to {}", option, text,
                                 std::numeric_limits<std::uint32_t>::max()));
}

void check_limit(const device::Device& gpu, device::Attribute attribute, std::uint64_t asked, std::string_view option,
                 std::string_view unit) {
    const auto most = gpu.attribute(attribute);
    if (most && asked > static_cast<std::uint64_t>(*most))
        throw InputError(fmt::format("{}: found {} {}; expected at most {}, the limit of {}", option, asked, unit,
                                     *most, gpu.name()));
}

LaunchShape launch_shape(const ShapeOptions& options, const device::Device& gpu) {
    using enum device::Attribute;
    for (const auto& [option, text, what] :
         {std::tuple("--grid", options.grid, "blocks"), std::tuple("--block", options.block, "threads of a block")})
        if (text.empty())
            throw InputError(fmt::format("{}: missing; expected the {} of the launch, X[,Y,Z]", option, what));
    const LaunchShape shape{dimensions(options.grid, "--grid"), dimensions(options.block, "--block")};
    const auto grid = "--grid " + options.grid, block = "--block " + options.block;
    check_limit(gpu, max_grid_x, shape.grid.x, grid, "blocks in x");
    check_limit(gpu, max_grid_y, shape.grid.y, grid, "blocks in y");
    check_limit(gpu, max_grid_z, shape.grid.z, grid, "blocks in z");
    check_limit(gpu, max_threads_per_block, shape.block.count(), block, "threads");
    check_limit(gpu, max_block_x, shape.block.x, block, "threads in x");
    check_limit(gpu, max_block_y, shape.block.y, block, "threads in y");
    check_limit(gpu, max_block_z, shape.block.z, block, "threads in z");
    return shape;
}

const ptx::Kernel& find_kernel(const ptx::Module& module, const std::string& name, const std::string& file) {
    const auto found = std::find_if(module.kernels.begin(), module.kernels.end(),
                                    [&](const ptx::Kernel& k) { return k.name == name; });
    if (found != module.kernels.end()) return *found;
    std::vector<std::string_view> names;
    for (const auto& kernel : module.kernels) names.emplace_back(kernel.name);
    throw InputError(
        fmt::format("{}: no kernel '{}'; expected {}", file, name,
                    names.empty() ? "a file with an .entry" : fmt::format("one of {}", fmt::join(names, ", "))));
}

void refuse_number(std::string_view text, const std::string& where, std::string_view expected) {
    throw InputError(fmt::format("{}: found '{}'; expected {}", where, text, expected));
}

}  // namespace gputomo::cli
