#include "predict/static/sass_code.hpp"

#include "sass/form.hpp"
#include "sass/table.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::predict {
namespace {

/// The integer pipeline: integer, logic, moves, conversions, shuffles, convergence.
constexpr std::string_view kInteger = "add.s32";

/// What a listing's opcode does and costs.
struct Meaning {
    std::string_view operation;  ///< PTX mnemonic whose cost applies; empty: the cost is unknown
    Kind kind = Kind::arithmetic;
    MemorySpace space = MemorySpace::global;
    bool load = false;
    bool has_result = true;  ///< the first operand of an arithmetic instruction
};

/// Opcodes of GPUs before Volta, which sass/table.cpp does not have.
struct OlderOpcode {
    std::string_view name;
    Meaning meaning;
};
constexpr OlderOpcode kOlderOpcodes[] = {
    {"FSWZADD", {"add.f32"}},
    {"FCMP", {"selp.f32"}},
    {"RRO", {"add.f32"}},
    {"DMNMX", {"max.f64"}},
    {"IMUL", {"mul.lo.s32"}},
    {"XMAD", {"mad.lo.s32"}},
    {"LDU", {"ld", Kind::memory, MemorySpace::global, true}},
    {"RED", {"red", Kind::memory}},
    {"SSY", {.operation = kInteger, .has_result = false}},
    {"SYNC", {.operation = kInteger, .has_result = false}},
    {"PBK", {.operation = kInteger, .has_result = false}},
    {"BRK", {.operation = kInteger, .has_result = false}},
    {"PCNT", {.operation = kInteger, .has_result = false}},
    {"CONT", {.operation = kInteger, .has_result = false}},
};

/// Opcodes that begin like this, of any generation, have unknown costs: calls, textures, surfaces, asynchronous copies.
constexpr std::string_view kUnknownFamilies[] = {"BRX",  "CAL",  "JCAL", "TEX",   "TLD",
                                                 "SULD", "SUST", "UTMA", "SYNCS", "UCGABAR"};

MemorySpace space_of(sass::MemorySpace space) {
    switch (space) {
        case sass::MemorySpace::shared: return MemorySpace::shared;
        case sass::MemorySpace::local: return MemorySpace::local;
        default: return MemorySpace::global;
    }
}

Kind kind_of(sass::Class what) {
    switch (what) {
        case sass::Class::memory: return Kind::memory;
        case sass::Class::block_barrier: return Kind::barrier;
        case sass::Class::branch: return Kind::branch;
        case sass::Class::exit: return Kind::exit;
        default: return Kind::arithmetic;
    }
}

Meaning meaning_of(std::string_view opcode) {
    if (const auto* const row = sass::row_named(opcode)) {
        const sass::Facts& facts = sass::facts_of(*row);
        return {.operation = facts.listed_as,
                .kind = kind_of(facts.what),
                .space = space_of(facts.space),
                .load = facts.access == sass::Access::load || facts.access == sass::Access::atomic,
                .has_result = sass::writes(row->operation)};
    }
    const auto* const older = std::ranges::find(kOlderOpcodes, opcode, &OlderOpcode::name);
    if (older != std::end(kOlderOpcodes)) return older->meaning;
    const bool unknown = std::ranges::any_of(kUnknownFamilies, [&](auto name) { return opcode.starts_with(name); });
    return unknown ? Meaning{} : Meaning{.operation = kInteger};
}

bool has(const ListedInstruction& instruction, std::string_view modifier) {
    return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), modifier) !=
           instruction.modifiers.end();
}

/// The PTX operation; that of MUFU depends on its modifier ("MUFU.EX2").
std::string operation_of(const ListedInstruction& from, const Meaning& meaning) {
    if (from.opcode != "MUFU") return std::string(meaning.operation);
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kFunctions{
        {{"RSQ", "rsqrt.approx.f32"},
         {"RCP", "rcp.approx.f32"},
         {"SQRT", "sqrt.approx.f32"},
         {"SIN", "sin.approx.f32"},
         {"COS", "cos.approx.f32"},
         {"LG2", "lg2.approx.f32"},
         {"EX2", "ex2.approx.f32"}}};
    for (const auto& [name, operation] : kFunctions)
        if (has(from, name)) return std::string(operation);
    return std::string(meaning.operation);
}

/// Bytes that a thread accesses.
int access_bytes(const ListedInstruction& from) {
    if (has(from, "128")) return 16;
    if (has(from, "64")) return 8;
    if (has(from, "U16") || has(from, "S16") || has(from, "16")) return 2;
    if (has(from, "U8") || has(from, "S8") || has(from, "8")) return 1;
    return 4;
}

class Translator {
public:
    Translator(const ListedFunction& function, std::string_view origin) : function_(function), origin_(origin) {}

    Code translate(std::string_view kernel) {
        Code code{.kernel = std::string(kernel),
                  .origin = std::string(origin_),
                  .instructions = {},
                  .labels = {},
                  .trip_counts = {},
                  .registers = 0,
                  .assumptions = {}};
        for (const auto& [name, index] : function_.labels) code.labels.insert({index, name});
        for (const auto& instruction : function_.instructions)
            code.instructions.push_back(translated(instruction, code));
        code.registers = numbers_.size();
        return code;
    }

private:
    [[noreturn]] void fail(const ListedInstruction& at, const std::string& what) const {
        throw InputError(fmt::format("{}:{}: {}\n    {}", origin_, at.line, what, at.text));
    }

    Instruction translated(const ListedInstruction& from, Code& code) {
        const Meaning meaning = meaning_of(from.opcode);
        if (meaning.operation.empty())
            fail(from, fmt::format("'{}' can't be predicted, because its cost is unknown; expected a kernel without it",
                                   from.opcode));
        Instruction to{.kind = meaning.kind,
                       .text = from.text,
                       .line = from.line,
                       .operation = operation_of(from, meaning),
                       .access = {},
                       .reads = {},
                       .writes = {},
                       .guarded = !from.guard.empty(),
                       .target = 0};
        if (!from.guard.empty()) to.reads.push_back(number(from.guard));
        if (meaning.kind == Kind::memory)
            to.access = Access{.space = meaning.space, .bytes = access_bytes(from), .load = meaning.load, .stride = {}};
        if (meaning.space == MemorySpace::local && to.access) to.access->stride = to.access->bytes;
        registers(from, to, meaning);
        if (to.kind == Kind::branch) to.target = target_of(from, code);
        // A predicate operand also makes the branch conditional: BRA P0, `(.L_x_1).
        if (to.kind == Kind::branch)
            for (const auto& operand : from.operands)
                to.guarded = to.guarded || (operand.kind == ListedOperand::Kind::predicate && !operand.reg.empty());
        return to;
    }

    std::uint32_t number(const std::string& name) {
        return numbers_.emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }

    /// Adds a register of `words` words: R2, R3, ...
    void add(const std::string& name, int words, std::vector<std::uint32_t>& into) {
        if (name.empty()) return;
        into.push_back(number(name));
        const auto digits = name.find_first_of("0123456789");
        std::uint32_t first = 0;
        std::from_chars(name.data() + digits, name.data() + name.size(), first);
        for (int i = 1; i < words; ++i)
            into.push_back(number(fmt::format("{}{}", name.substr(0, digits),
                                              static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i))));
    }

    /// Sets the registers that the instruction writes (the first operand and the predicates beside it) and reads (the
    /// other operands).
    void registers(const ListedInstruction& from, Instruction& to, const Meaning& meaning) {
        const bool results = has_result(from, to, meaning);
        const int words = to.access                                         ? std::max(1, to.access->bytes / 4)
                          : from.opcode.front() == 'D' || has(from, "WIDE") ? 2
                                                                            : 1;
        std::size_t i = 0;
        if (results) {
            const bool compares = from.opcode.find("SETP") != std::string::npos;
            while (i < from.operands.size() && from.operands[i].kind == ListedOperand::Kind::predicate &&
                   (!compares || i < 2))
                add(from.operands[i++].reg, 1, to.writes);
            if (!compares && i < from.operands.size() && from.operands[i].kind == ListedOperand::Kind::reg)
                add(from.operands[i++].reg, words, to.writes);
            while (!compares && i + 1 < from.operands.size() &&
                   from.operands[i].kind == ListedOperand::Kind::predicate && i > 0 && i < 3)
                add(from.operands[i++].reg, 1, to.writes);
        }
        const int read_words = to.access ? words : from.opcode.front() == 'D' ? 2 : 1;
        for (; i < from.operands.size(); ++i) {
            const auto& operand = from.operands[i];
            add(operand.reg, operand.wide ? 2 : operand.kind == ListedOperand::Kind::reg ? read_words : 1, to.reads);
            for (const auto& name : operand.also) add(name, 1, to.reads);
        }
    }

    [[nodiscard]] static bool has_result(const ListedInstruction& from, const Instruction& to, const Meaning& meaning) {
        if (to.kind == Kind::branch || to.kind == Kind::exit || (to.access && !to.access->load)) return false;
        if (to.kind == Kind::barrier) return has(from, "RED");
        return meaning.has_result;
    }

    std::size_t target_of(const ListedInstruction& from, Code& code) const {
        if (from.operands.empty()) fail(from, "a branch without a target; expected a label or an address");
        std::string name = from.operands.back().text;
        std::erase_if(name, [](char c) { return c == '`' || c == '(' || c == ')'; });
        if (const auto label = function_.labels.find(name); label != function_.labels.end()) return label->second;
        std::uint64_t address = 0;
        const std::string_view digits = name.starts_with("0x") ? std::string_view(name).substr(2) : std::string_view();
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
        if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
            fail(from, fmt::format("found the target '{}'; expected a label of the function or an address", name));
        for (std::size_t i = 0; i < function_.instructions.size(); ++i) {
            if (function_.instructions[i].address != address) continue;
            code.labels.insert({i, name});
            return i;
        }
        fail(from, fmt::format("found the target {}; expected the address of an instruction of the function", name));
    }

    const ListedFunction& function_;
    std::string_view origin_;
    std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace

Code code_from_listing(const std::vector<ListedFunction>& functions, std::string_view kernel, std::string_view origin) {
    std::vector<std::string_view> names;
    for (const auto& function : functions) {
        if (function.instructions.empty()) continue;
        if (function.name == kernel || (function.name.empty() && functions.size() == 1))
            return Translator(function, origin).translate(kernel);
        names.emplace_back(function.name);
    }
    throw InputError(
        fmt::format("{}: no function '{}'; expected {}", origin, kernel,
                    names.empty() ? "a listing with code" : fmt::format("one of {}", fmt::join(names, ", "))));
}

}  // namespace gputomo::predict
