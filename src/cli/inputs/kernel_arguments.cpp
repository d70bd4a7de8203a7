#include "cli/inputs/kernel_arguments.hpp"

#include "answer/fits.hpp"
#include "cli/inputs/tensor_argument.hpp"
#include "ptx/names.hpp"
#include "sass/code.hpp"
#include "sass/kernel_info.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

namespace gputomo::cli {
namespace {

/// Whether a parameter takes a value: one of bits (b32) takes any, others only their own kind.
bool is_kind_of(std::string_view parameter, std::string_view argument) {
    const auto is_float = [](std::string_view type) { return type.starts_with('f') || type == "bf16"; };
    return argument == "hex" || parameter.empty() || parameter.starts_with('b') ||
           is_float(parameter) == is_float(argument);
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
std::vector<std::byte> half_word(std::uint16_t bits) {
    return {static_cast<std::byte>(bits & 0xffU), static_cast<std::byte>(bits >> 8U)};
}

/// The number of 16 bits that is nearest, the even one of two, with a significand of `bits` bits beside the leading one
/// and exponents from `least` on.
std::uint16_t nearest(double value, int bits, int least) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double size = std::abs(value);
    if (size == 0) return sign;
    const int exponent = std::max(least, std::ilogb(size));
    // Subnormal numbers have no leading one; a significand that is rounded up carries into the exponent.
    const auto significand = static_cast<int>(std::nearbyint(std::ldexp(size, bits - exponent)));
    return static_cast<std::uint16_t>(sign | (((exponent - least) << bits) + significand));
}

std::vector<std::byte> half_of(std::string_view text, const std::string& where) {
    const auto value = number<double>(text, where);
    constexpr double kLargest = 65504;
    if (std::isnan(value)) return half_word(0x7e00);
    if (std::isinf(value)) return half_word(value > 0 ? 0x7c00 : 0xfc00);
    if (std::abs(value) > kLargest) refuse_number(text, where, "a number that f16 holds, of at most 65504");
    return half_word(nearest(value, 10, -14));
}

std::vector<std::byte> bfloat_of(std::string_view text, const std::string& where) {
    const auto value = number<double>(text, where);
    constexpr double kLargest = 3.3895313892515355e38;
    if (std::isnan(value)) return half_word(0x7fc0);
    if (std::isinf(value)) return half_word(value > 0 ? 0x7f80 : 0xff80);
    if (std::abs(value) > kLargest) refuse_number(text, where, "a number that bf16 holds, of at most 3.39e38");
    return half_word(nearest(value, 7, -126));
}

std::vector<std::byte> bool_of(std::string_view text, const std::string& where) {
    if (text == "true" || text == "1") return {std::byte{1}};
    if (text == "false" || text == "0") return {std::byte{0}};
    refuse_number(text, where, "true or false");
}

/// Two digits for each byte, in the order of memory.
std::vector<std::byte> hex_of(std::string_view text, const std::string& where) {
    std::vector<std::byte> bytes;
    if (text.empty() || text.size() % 2 != 0) refuse_number(text, where, "two hexadecimal digits for each byte");
    for (std::size_t at = 0; at < text.size(); at += 2) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, value, 16);
        if (error != std::errc{} || end != text.data() + at + 2)
            refuse_number(text, where, "two hexadecimal digits for each byte");
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

constexpr Scalar kScalars[] = {{"u8", bytes_of<std::uint8_t>},
                               {"s8", bytes_of<std::int8_t>},
                               {"u16", bytes_of<std::uint16_t>},
                               {"s16", bytes_of<std::int16_t>},
                               {"u32", bytes_of<std::uint32_t>},
                               {"s32", bytes_of<std::int32_t>},
                               {"u64", bytes_of<std::uint64_t>},
                               {"s64", bytes_of<std::int64_t>},
                               {"f32", bytes_of<float>},
                               {"f64", bytes_of<double>},
                               {"f16", half_of},
                               {"bf16", bfloat_of},
                               {"bool", bool_of},
                               {"hex", hex_of}};

std::vector<std::byte> scalar_of(std::string_view type, std::string_view text, const std::string& where) {
    const auto found = std::ranges::find(kScalars, type, &Scalar::type);
    if (found == std::end(kScalars))
        throw InputError(
            fmt::format("{}: no type '{}'; expected u8 to u64, s8 to s64, bool, f16, bf16, f32, f64, "
                        "struct, hex, buf or tensor",
                        where, type));
    return found->bytes(text, where);
}

/// Members TYPE:VALUE, divided by commas, where a C++ compiler puts them: each at a multiple of its size.
std::vector<std::byte> struct_of(std::string_view text, const std::string& where) {
    std::vector<std::byte> bytes;
    std::size_t alignment = 1;
    const auto pad = [&](std::size_t to) { bytes.resize((bytes.size() + to - 1) / to * to); };
    for (std::string_view rest = text;;) {
        const auto comma = rest.find(',');
        const auto member = rest.substr(0, comma);
        const auto colon = member.find(':');
        if (colon == std::string_view::npos || member.starts_with("hex:"))
            refuse_number(member, where, "members TYPE:VALUE, divided by commas");
        const auto value = scalar_of(member.substr(0, colon), member.substr(colon + 1), where);
        alignment = std::max(alignment, value.size());
        pad(value.size());
        bytes.insert(bytes.end(), value.begin(), value.end());
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    pad(alignment);
    return bytes;
}

launch::Buffer buffer_of(const std::string& size_and_file, const std::string& where) {
    const auto colon = size_and_file.find(':');
    const auto bytes = number<std::int64_t>(std::string_view(size_and_file).substr(0, colon), where);
    if (bytes <= 0) throw InputError(where + ": expected a positive number of bytes");
    launch::Buffer buffer{.name = where, .bytes = static_cast<std::uint64_t>(bytes)};
    buffer.made_up = colon == std::string::npos;
    if (buffer.made_up) return buffer;
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
    if (colon == std::string::npos)
        throw InputError(where +
                         ": expected TYPE:VALUE, struct:TYPE:VALUE,..., hex:BYTES, buf:BYTES[:FILE] or "
                         "tensor:TYPE:SIZES:BOX[:SWIZZLE]");
    const std::string type = text.substr(0, colon), rest = text.substr(colon + 1);
    if (type == "buf") {
        to.values.push_back({.bytes = std::vector<std::byte>(sizeof(device::Address)), .buffer = to.buffers.size()});
        to.buffers.push_back(buffer_of(rest, where));
        return;
    }
    if (type == "tensor") {
        auto tensor = tensor_argument(rest, where);
        to.values.push_back({.bytes = std::move(tensor.map), .buffer = to.buffers.size()});
        to.buffers.push_back({.name = where, .bytes = tensor.bytes, .made_up = true});
        return;
    }
    to.values.push_back(
        {.bytes = type == "struct" ? struct_of(rest, where) : scalar_of(type, rest, where), .buffer = {}});
}

constexpr std::uint64_t kPointer = sizeof(device::Address);

bool names_symbol(const ptx::AddressRef& address, const std::string& name) {
    const auto* const symbol = std::get_if<ptx::SymbolRef>(&address.base);
    return symbol != nullptr && symbol->name == name;
}

bool names(const ptx::Operand& operand, const std::string& name) {
    if (const auto* const symbol = std::get_if<ptx::SymbolRef>(&operand.value)) return symbol->name == name;
    if (const auto* const address = std::get_if<ptx::AddressRef>(&operand.value)) return names_symbol(*address, name);
    if (const auto* const vector = std::get_if<ptx::VectorRef>(&operand.value))
        return std::ranges::any_of(vector->elements, [&](const auto& element) { return names(element, name); });
    return false;
}

bool reads(const ptx::Kernel& kernel, const std::string& parameter) {
    return std::ranges::any_of(kernel.body, [&](const ptx::Instruction& instruction) {
        const auto is_named = [&](const ptx::Operand& operand) { return names(operand, parameter); };
        const bool unknown =
            !instruction.refusal.empty() && std::ranges::any_of(instruction.modifiers, [&](const auto& text) {
                return text.find(parameter) != std::string::npos;
            });
        return unknown || std::ranges::any_of(instruction.sources, is_named) ||
               std::ranges::any_of(instruction.destinations, is_named);
    });
}

/// Whether machine code may read bytes [first, end) of constant bank 0. An instruction that is not known may.
bool reads_constants(const sass::Cubin& cubin, const std::string& kernel, std::uint64_t first, std::uint64_t end) {
    constexpr std::uint64_t kWidest = 16;
    const auto code = cubin.text(kernel).bytes;
    for (std::size_t at = 0; at + sass::kInstructionBytes <= code.size(); at += sass::kInstructionBytes) {
        try {
            const auto decoded = sass::decode(code.subspan(at, sass::kInstructionBytes), cubin.sm().value_or(0), at);
            for (const auto& operand : decoded.front().operands()) {
                if (operand.kind != sass::OperandKind::constant || operand.bank != 0) continue;
                const auto offset = static_cast<std::uint64_t>(operand.value);
                const auto text = sass::mnemonic_of(decoded.front());
                const std::uint64_t bytes = text.ends_with(".128")                                           ? kWidest
                                            : text.find(".64") != std::string::npos || text.starts_with("D") ? 8
                                                                                                             : 4;
                const bool indexed = (operand.has_reg && operand.reg != sass::kZeroRegister) ||
                                     (operand.has_uniform && operand.uniform != sass::kZeroUniformRegister);
                if (indexed || (offset < end && offset + bytes > first)) return true;
            }
        } catch (const InputError&) {
            return true;
        }
    }
    return false;
}

}  // namespace

Signature signature_of(const ptx::Kernel& kernel) {
    Signature signature;
    std::string out;
    std::uint64_t end = 0;  // of the parameters before
    for (const auto& parameter : kernel.parameters) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", ptx::name_of(parameter.type), parameter.name);
        const bool is_array = parameter.size != ptx::size_of(parameter.type);
        const auto alignment = static_cast<std::uint64_t>(
            std::max<std::int64_t>({1, parameter.alignment.count(), ptx::size_of(parameter.type).count()}));
        end = (end + alignment - 1) / alignment * alignment;
        signature.parameters.push_back({parameter.name, static_cast<std::size_t>(parameter.size.count()),
                                        is_array ? "" : std::string(ptx::name_of(parameter.type)), end});
        end += static_cast<std::uint64_t>(parameter.size.count());
    }
    for (auto last = kernel.parameters.rbegin(); last != kernel.parameters.rend(); ++last) {
        if (last->size.count() != static_cast<std::int64_t>(kPointer) || reads(kernel, last->name)) break;
        ++signature.unread_pointers;
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
    const auto info = sass::kernel_info(cubin, name);
    if (info.block) signature.block = device::Dim3{(*info.block)[0], (*info.block)[1], (*info.block)[2]};
    for (const auto& parameter : info.parameters) {
        const auto number = signature.parameters.size();
        out += fmt::format("{}{} bytes", out.empty() ? "" : ", ", parameter.bytes);
        signature.parameters.push_back({fmt::format("parameter {}", number), parameter.bytes, {}, parameter.offset});
    }
    for (auto last = info.parameters.rbegin(); last != info.parameters.rend(); ++last) {
        const std::uint64_t first = info.parameter_offset + last->offset;
        if (last->bytes != kPointer || reads_constants(cubin, name, first, first + last->bytes)) break;
        ++signature.unread_pointers;
    }
    signature.text = fmt::format("{}({})", name, out);
    return signature;
}

KernelArguments parse_arguments(const std::vector<std::string>& given_texts, const Signature& signature) {
    auto texts = given_texts;
    const bool hides =
        texts.size() + kHiddenPointers == signature.parameters.size() && signature.unread_pointers >= kHiddenPointers;
    if (hides) texts.insert(texts.end(), kHiddenPointers, "u64:0");
    if (texts.size() != signature.parameters.size())
        throw InputError(fmt::format("--arg: found {} arguments; expected {}, one for each parameter of {}",
                                     texts.size(), signature.parameters.size(), signature.text));
    KernelArguments arguments;
    if (hides) arguments.hidden = kHiddenPointers;
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

LaunchShape launch_shape(const ShapeOptions& given, const device::Device& gpu,
                         const std::optional<device::Dim3>& only_block) {
    ShapeOptions options = given;
    const auto only = only_block ? fmt::format("{},{},{}", only_block->x, only_block->y, only_block->z) : "";
    if (options.block.empty()) options.block = only;
    for (const auto& [option, text, what] :
         {std::tuple("--grid", options.grid, "blocks"), std::tuple("--block", options.block, "threads of a block")})
        if (text.empty())
            throw InputError(fmt::format("{}: missing; expected the {} of the launch, X[,Y,Z]", option, what));
    const LaunchShape shape{dimensions(options.grid, "--grid"), dimensions(options.block, "--block")};
    const auto block = "--block " + options.block;
    if (only_block &&
        (shape.block.x != only_block->x || shape.block.y != only_block->y || shape.block.z != only_block->z))
        throw InputError(
            fmt::format("{}: the code is for blocks of {} alone; expected that, or no --block", block, only));
    answer::check_shape(gpu, shape.grid, shape.block, 0,
                        {.grid = "--grid " + options.grid, .block = block, .shared = {}});
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
