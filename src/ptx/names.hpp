// PTX spellings of types, state spaces, opcodes and special registers.
#pragma once

#include "ptx/ir.hpp"

#include <optional>
#include <string_view>

namespace gputomo::ptx {

/// "u32" for Type::u32 (no dot); empty for Type::none.
[[nodiscard]] std::string_view name_of(Type type);
/// "global", "const", ...; empty for none and generic.
[[nodiscard]] std::string_view name_of(Space space);
/// "add", "and", "cp", ...
[[nodiscard]] std::string_view name_of(Opcode opcode);
/// "%tid.x"
[[nodiscard]] std::string_view name_of(SpecialRegister reg);

[[nodiscard]] std::optional<Type> type_named(std::string_view name);
/// Accepts "shared::cta" and "param::entry", too.
[[nodiscard]] std::optional<Space> space_named(std::string_view name);
[[nodiscard]] std::optional<Opcode> opcode_named(std::string_view name);
[[nodiscard]] std::optional<SpecialRegister> special_register_named(std::string_view name);

/// Size of one element; 0 for none and pred.
[[nodiscard]] Bytes size_of(Type type);
[[nodiscard]] bool is_float(Type type);
[[nodiscard]] bool is_bits(Type type);
/// Type::u64 for clock64, globaltimer and gridid, else Type::u32.
[[nodiscard]] Type type_of(SpecialRegister reg);

}  // namespace gputomo::ptx
