// Decodes arithmetic instructions: modifiers, operands, and the function that computes them.
#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "sim/exec/decoder.hpp"
#include "sim/exec/named_modifiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

constexpr Named<Compare> kCompares[] = {
    {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},   {"gt", Compare::gt},
    {"ge", Compare::ge},   {"lo", Compare::lt},   {"ls", Compare::le},   {"hi", Compare::gt},   {"hs", Compare::ge},
    {"equ", Compare::equ}, {"neu", Compare::neu}, {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu},
    {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan}};
constexpr Named<Combine> kCombines[] = {{"and", Combine::and_}, {"or", Combine::or_}, {"xor", Combine::xor_}};
constexpr Named<Rounding> kRoundings[] = {{"rni", Rounding::integer_nearest},
                                          {"rzi", Rounding::integer_zero},
                                          {"rmi", Rounding::integer_down},
                                          {"rpi", Rounding::integer_up},
                                          {"rn", Rounding::nearest},
                                          {"rz", Rounding::zero},
                                          {"rm", Rounding::down},
                                          {"rp", Rounding::up}};
}  // namespace

void Decoder::decode_arithmetic(const ptx::Instruction& instruction, Operation& op) {
    if (instruction.opcode == Opcode::cvta) return decode_cvta(instruction, op);
    if (instruction.opcode == Opcode::mov && is_vector(instruction)) return decode_packing(instruction, op);
    op.rounding = static_cast<std::uint8_t>(first_named(instruction, kRoundings).value_or(Rounding::nearest));
    if (const auto compare = first_named(instruction, kCompares)) op.compare = static_cast<std::uint8_t>(*compare);
    if (const auto combine = first_named(instruction, kCombines)) op.combine = static_cast<std::uint8_t>(*combine);
    op.execute = function_of(instruction);
    if (op.execute == nullptr) fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
    decode_destinations(instruction, op);
    if (instruction.opcode == Opcode::lop3) return decode_lop3(instruction, op);
    decode_sources(instruction, op);
    const bool carries_in =
        instruction.opcode == Opcode::addc || instruction.opcode == Opcode::subc || instruction.opcode == Opcode::madc;
    if (carries_in) op.source[3] = carry();
    if (instruction.has("cc")) op.destination2 = carry();
    static constexpr Opcode kTogether[] = {Opcode::shfl, Opcode::vote, Opcode::match, Opcode::redux, Opcode::elect};
    if (instruction.has("sync") &&
        std::find(std::begin(kTogether), std::end(kTogether), instruction.opcode) != std::end(kTogether))
        op.members = slot(instruction.sources.back(), Type::u32);
}

ExecuteFunction Decoder::function_of(const ptx::Instruction& instruction) const {
    if (instruction.opcode == Opcode::cvt) {
        static constexpr std::string_view kHandled[] = {"rn",  "rz",  "rm",  "rp",  "rni",
                                                        "rzi", "rmi", "rpi", "ftz", "sat"};
        for (const auto& modifier : instruction.modifiers)
            if (std::find(std::begin(kHandled), std::end(kHandled), modifier) == std::end(kHandled)) return nullptr;
        const bool nearest = !instruction.has("rz") && !instruction.has("rm") && !instruction.has("rp");
        if (auto* half = nearest ? half_conversion_of(instruction.type, instruction.source_type) : nullptr) return half;
        return conversion_of(instruction.type, instruction.source_type);
    }
    if (auto* half = half_meaning_of(instruction)) return half;
    if (instruction.has("rz") || instruction.has("rm") || instruction.has("rp"))
        return directed_rounding_of(instruction);
    if (auto* plain = meaning_of(instruction)) return plain;
    return cross_lane_meaning_of(instruction);
}

bool Decoder::is_vector(const ptx::Instruction& mov) {
    return std::holds_alternative<ptx::VectorRef>(mov.destinations.at(0).value) ||
           std::holds_alternative<ptx::VectorRef>(mov.sources.at(0).value);
}

void Decoder::decode_packing(const ptx::Instruction& instruction, Operation& op) {
    const bool unpack = std::holds_alternative<ptx::VectorRef>(instruction.destinations[0].value);
    const auto& parts =
        std::get<ptx::VectorRef>(unpack ? instruction.destinations[0].value : instruction.sources[0].value).elements;
    const auto whole = static_cast<std::size_t>(ptx::size_of(instruction.type).count());
    if (parts.empty() || parts.size() > op.vector.size() || whole % parts.size() != 0)
        fail("expected a vector of 2 or 4 elements");
    op.elements = static_cast<std::uint8_t>(parts.size());
    op.execute = packing_of(whole / parts.size(), unpack);
    if (op.execute == nullptr) fail("elements of this size cannot be moved by the simulator");
    if (unpack)
        op.source[0] = slot(instruction.sources.at(0), instruction.type);
    else
        op.destination = slot(instruction.destinations.at(0), instruction.type);
    for (std::size_t i = 0; i < parts.size(); ++i)
        (unpack ? op.vector : op.source)[i] = slot(parts[i], instruction.type);
}

void Decoder::decode_lop3(const ptx::Instruction& instruction, Operation& op) {
    for (std::size_t i = 0; i < 3; ++i) op.source[i] = slot(instruction.sources.at(i), instruction.type);
    const auto* table = std::get_if<ptx::Immediate>(&instruction.sources.at(3).value);
    if (table == nullptr) fail("expected a number as truth table");
    op.mode = static_cast<std::uint8_t>(table->bits);
    if (instruction.sources.size() < 5) return;
    op.source[3] = slot(instruction.sources[4], Type::pred);
    if (const auto* predicate = std::get_if<ptx::PredicateRef>(&instruction.sources[4].value);
        predicate != nullptr && predicate->negated)
        op.negated_sources |= 1U << 3;
}

void Decoder::decode_cvta(const ptx::Instruction& instruction, Operation& op) {
    if (instruction.space == Space::param) fail("generic addresses of parameters cannot be simulated yet");
    const std::uint64_t base = instruction.space == Space::shared  ? kSharedWindow
                               : instruction.space == Space::local ? kLocalWindow
                                                                   : 0;
    ptx::Instruction add = instruction;
    add.opcode = instruction.has("to") ? Opcode::sub : Opcode::add;
    add.modifiers.clear();
    add.type = add.source_type = Type::u64;
    op.execute = meaning_of(add);
    decode_destinations(instruction, op);
    op.source[0] = slot(instruction.sources.at(0), Type::u64);
    op.source[1] = constant(base);
}

}  // namespace gputomo::sim
