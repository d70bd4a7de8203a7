#include "sim/machine_code/warpgroup_shape.hpp"

#include "sass/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace gputomo::sim::machine_code::warpgroup {
namespace {

using sass::Modifier;

/// "64x256x16"
std::string_view shape_of(const sass::Instruction& instruction) {
    for (const auto modifier :
         {Modifier::warpgroup_shape, Modifier::warpgroup_byte_shape, Modifier::warpgroup_integer_shape,
          Modifier::warpgroup_bit_shape, Modifier::sparse_group_shape, Modifier::sparse_byte_shape,
          Modifier::sparse_integer_shape})
        if (instruction.has(modifier)) return sass::text_of(modifier, instruction.value(modifier));
    return {};
}

/// The number behind the given `x` of the shape.
int number_behind(std::string_view shape, std::size_t separator) {
    int number = 0;
    if (separator != std::string_view::npos)
        std::from_chars(shape.data() + separator + 1, shape.data() + shape.size(), number);
    return number;
}

}  // namespace

bool multiplies_warpgroup(sass::Operation operation) {
    return operation == sass::Operation::HGMMA || operation == sass::Operation::QGMMA ||
           operation == sass::Operation::IGMMA || operation == sass::Operation::BGMMA;
}

bool is_sparse(const sass::Instruction& instruction) {
    return instruction.form->row->modifiers.find(".SP") != std::string_view::npos;
}

std::uint32_t selector_of(const sass::Instruction& instruction) {
    for (const sass::Operand& operand : instruction.operands())
        if (operand.kind == sass::OperandKind::immediate) return static_cast<std::uint32_t>(operand.value);
    return 0;
}

bool commits_products(const sass::Instruction& instruction) {
    return instruction.form != nullptr && multiplies_warpgroup(instruction.operation) &&
           std::ranges::any_of(instruction.operands(), [](const sass::Operand& operand) {
               return operand.kind == sass::OperandKind::group_barrier && operand.reg != sass::kNoBarrier;
           });
}

bool reads_a_from_registers(const sass::Instruction& instruction) {
    // Operands: accumulators, A, B.
    return instruction.operands()[1].kind == sass::OperandKind::reg;
}

int registers_of_operand(const sass::Instruction& instruction, std::size_t operand) {
    if (instruction.form == nullptr || !multiplies_warpgroup(instruction.operation)) return 1;
    constexpr int kRegistersOfA = 4;
    // Operands: accumulators, A, the descriptor of B where A is in registers, accumulators, and further ones.
    constexpr std::size_t kA = 1;
    if (operand == kA) return kRegistersOfA;
    if (operand > (reads_a_from_registers(instruction) ? 3U : 2U)) return 1;
    const bool halves = instruction.has(Modifier::accumulator) && instruction.value(Modifier::accumulator) == 0;
    return columns_of(instruction) / (halves ? 4 : 2);
}

std::string product_name(const sass::Instruction& instruction) {
    std::string_view sum = "s32", a = "b1", b = "b1";
    const auto text = [&](Modifier modifier) { return sass::text_of(modifier, instruction.value(modifier)); };
    if (instruction.operation == sass::Operation::HGMMA) {
        a = b = text(Modifier::multiplicand).empty() ? "F16" : text(Modifier::multiplicand);
        sum = text(Modifier::accumulator);
    } else if (instruction.operation == sass::Operation::QGMMA) {
        a = text(Modifier::byte_float_a), b = text(Modifier::byte_float_b), sum = text(Modifier::accumulator);
    } else if (instruction.operation == sass::Operation::IGMMA) {
        a = text(Modifier::integer_a), b = text(Modifier::integer_b);
    }
    std::string name = fmt::format("wgmma.{}m64n{}k{}.{}.{}.{}", is_sparse(instruction) ? "sp." : "",
                                   columns_of(instruction), depth_of(instruction), sum, a, b);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (reads_a_from_registers(instruction)) name += ".registers";
    return name;
}

int columns_of(const sass::Instruction& instruction) {
    const auto shape = shape_of(instruction);
    return number_behind(shape, shape.find('x'));
}

int depth_of(const sass::Instruction& instruction) {
    const auto shape = shape_of(instruction);
    return number_behind(shape, shape.rfind('x'));
}

}  // namespace gputomo::sim::machine_code::warpgroup
