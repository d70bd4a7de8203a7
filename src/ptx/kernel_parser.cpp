#include "ptx/kernel_parser.hpp"

#include "ptx/literals.hpp"
#include "ptx/names.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace gputomo::ptx {
namespace {

// Limits that keep small damaged texts from taking much memory or stack. Compilers stay far below them.
constexpr std::size_t kMostRegisters = 1u << 20;
constexpr std::size_t kDeepestScope = 256;
constexpr std::size_t kLongestVector = 16;

/// `ld.global.b32 {%r1}, [%rd1]` loads a vector of one element, as Triton writes it: the element alone is meant.
void unwrap_single_elements(Instruction& instruction) {
    const bool takes_vectors = instruction.opcode == Opcode::ld || instruction.opcode == Opcode::ldu ||
                               instruction.opcode == Opcode::st || instruction.opcode == Opcode::atom ||
                               instruction.opcode == Opcode::red;
    if (!takes_vectors || instruction.vector_width != 1) return;
    const auto unwrap = [](Operand& operand) {
        auto* const vector = std::get_if<VectorRef>(&operand.value);
        if (vector == nullptr || vector->elements.size() != 1) return;
        Operand element = std::move(vector->elements.front());
        operand = std::move(element);
    };
    std::ranges::for_each(instruction.destinations, unwrap);
    std::ranges::for_each(instruction.sources, unwrap);
}

}  // namespace

KernelParser::KernelParser(TokenStream& in, const Module& module, Kernel& kernel, Unknown unknown)
    : in_(in), module_(module), kernel_(kernel), unknown_(unknown) {
    scopes_.emplace_back();
    for (const Variable& parameter : kernel.parameters) {
        scopes_[0].variables.emplace(parameter.name, parameter.name);
        names_.insert(parameter.name);
    }
    for (const Variable& variable : module.variables) names_.insert(variable.name);
}

void KernelParser::parse_body() {
    in_.expect("{");
    depth_ = 1;
    while (depth_ > 0) statement();
    resolve_labels();
}

void KernelParser::statement() {
    if (in_.peek().kind == TokenKind::end)
        in_.fail(fmt::format("the text ends inside kernel '{}'; expected '}}'", kernel_.name));
    if (in_.take("{")) return open_scope();
    if (in_.take("}")) {
        --depth_;
        scope_ = scopes_[scope_].parent;
        return;
    }
    if (in_.take(";")) return;
    if (in_.peek().kind == TokenKind::dot_word) return directive();
    if (label()) return;
    instruction();
}

void KernelParser::open_scope() {
    if (++depth_ > kDeepestScope) in_.fail(fmt::format("scopes nested too deeply; expected at most {}", kDeepestScope));
    scopes_.emplace_back();
    scopes_.back().parent = scope_;
    scope_ = scopes_.size() - 1;
}

void KernelParser::directive() {
    const std::string_view name = in_.peek().text;
    if (name == ".reg") return registers();
    if (name == ".shared" || name == ".local" || name == ".param") return variables();
    if (name == ".loc" || name == ".file") return in_.skip_line();
    if (name == ".pragma") return in_.skip_statement();
    if (name == ".section") {
        in_.next();
        return in_.skip_block();
    }
    in_.fail(fmt::format(
        "unknown directive '{}' in a kernel; expected .reg, .shared, .local, .param, .loc, .file or .pragma", name));
}

void KernelParser::registers() {
    in_.next();
    const auto type = in_.peek().kind == TokenKind::dot_word ? type_named(in_.peek().text.substr(1)) : std::nullopt;
    if (!type || *type == Type::b8 || *type == Type::u8 || *type == Type::s8)
        in_.fail(fmt::format("unknown register type '{}'; expected .pred, .b32, .u32, .f32, ...", in_.peek().text));
    in_.next();
    do {
        const std::string name = in_.name("a register's name");
        if (!in_.take("<")) {
            declare_register(name, *type);
            continue;
        }
        const auto count = in_.whole_number("the number of registers", kMostRegisters);
        in_.expect(">");
        for (std::int64_t i = 0; i < count; ++i) declare_register(name + std::to_string(i), *type);
    } while (in_.take(","));
    in_.expect(";");
}

void KernelParser::declare_register(const std::string& name, Type type) {
    if (kernel_.registers.size() >= kMostRegisters)
        in_.fail(fmt::format("too many registers; expected at most {}", kMostRegisters));
    const auto index = static_cast<std::uint32_t>(kernel_.registers.size());
    if (!scopes_[scope_].registers.emplace(name, index).second)
        in_.fail_last(fmt::format("register '{}' is declared twice; expected another name", name));
    kernel_.registers.push_back({unused(name), type});
}

std::string KernelParser::unused(const std::string& name) {
    std::string candidate = name;
    for (int& number = suffixes_[name]; !names_.insert(candidate).second;)
        candidate = fmt::format("{}${}", name, ++number);
    return candidate;
}

void KernelParser::variables() {
    const int line = in_.peek().line;
    for (Variable& variable : parse_variables(in_, false)) {
        const std::string name = unused(variable.name);
        if (!scopes_[scope_].variables.emplace(variable.name, name).second)
            in_.fail_at(line, fmt::format("'{}' is declared twice; expected another name", variable.name));
        if (!variable.initial.empty())
            in_.fail_at(line, fmt::format("'{}' has initial values; expected them of .global and .const variables only",
                                          variable.name));
        variable.name = name;
        kernel_.variables.push_back(std::move(variable));
    }
}

bool KernelParser::label() {
    if (in_.peek().kind != TokenKind::word || in_.peek(1).text != ":" || in_.peek(1).kind != TokenKind::mark)
        return false;
    const std::string name = in_.name("a label");
    in_.next();
    if (in_.is(".callprototype") || in_.is(".calltargets")) {
        in_.skip_statement();
        return true;
    }
    if (scopes_[scope_].labels.contains(name))
        in_.fail_last(fmt::format("label '{}' is placed twice; expected another name", name));
    const std::string own = unused(name);
    scopes_[scope_].labels.emplace(name, own);
    if (in_.is(".branchtargets"))
        branch_targets(own);
    else
        kernel_.labels.emplace(own, kernel_.body.size());
    return true;
}

void KernelParser::branch_targets(const std::string& table) {
    const int line = in_.next().line;
    auto& targets = kernel_.branch_targets[table];
    do {
        label_uses_.push_back({.source = targets.size(), .table = table, .scope = scope_, .line = line});
        targets.push_back(in_.name("a label"));
    } while (in_.take(","));
    in_.expect(";");
}

std::optional<Register> KernelParser::find_register(const std::string& name) const {
    for (std::size_t scope = scope_;; scope = scopes_[scope].parent) {
        const auto found = scopes_[scope].registers.find(name);
        if (found != scopes_[scope].registers.end()) return Register{found->second};
        if (scope == 0) return std::nullopt;
    }
}

Register KernelParser::register_named(const std::string& name, std::string_view what) const {
    const auto found = find_register(name);
    if (!found) in_.fail_last(fmt::format("unknown register '{}'; expected {}", name, what));
    return *found;
}

std::optional<std::string> KernelParser::find_symbol(const std::string& name) const {
    for (std::size_t scope = scope_;; scope = scopes_[scope].parent) {
        const auto found = scopes_[scope].variables.find(name);
        if (found != scopes_[scope].variables.end()) return found->second;
        if (scope == 0) break;
    }
    const auto global = std::ranges::find(module_.variables, name, &Variable::name);
    if (global != module_.variables.end()) return name;
    if (std::ranges::find(module_.functions, name) != module_.functions.end()) return name;
    return std::nullopt;
}

const Lookup& KernelParser::look_up_cached(const std::string& mnemonic) {
    const auto known = known_.find(mnemonic);
    if (known != known_.end()) return known->second;
    auto found = look_up(mnemonic);
    if (!found) in_.fail(why_unknown(mnemonic));
    return known_.emplace(mnemonic, std::move(*found)).first->second;
}

std::optional<Guard> KernelParser::guard() {
    if (!in_.take("@")) return std::nullopt;
    const bool is_negated = in_.take("!");
    const Register predicate = register_named(in_.name("a predicate"), "a predicate after '@'");
    if (kernel_.registers[predicate.index].type != Type::pred)
        in_.fail_last("the guard is no predicate; expected a .pred register");
    return Guard{predicate, is_negated};
}

void KernelParser::instruction() {
    const auto its_guard = guard();
    if (unknown_ == Unknown::is_error) return known_instruction(its_guard);
    const std::size_t begin = in_.position();
    try {
        known_instruction(its_guard);
    } catch (const InputError& error) {
        in_.go_to(begin);
        keep_unknown(its_guard, begin, error.what());
    }
}

void KernelParser::keep_unknown(const std::optional<Guard>& its_guard, std::size_t begin, const std::string& why) {
    const int line = in_.peek().line;
    int depth = 0;
    for (; depth > 0 || !in_.is(";"); in_.next()) {
        if (in_.is("{")) ++depth;
        if (in_.is("}") && --depth < 0) in_.fail(fmt::format("{}\n  and no ';' ends it", why));
        if (in_.peek().kind == TokenKind::end) in_.fail("the text ends in an instruction; expected ';'");
    }
    Instruction unknown;
    unknown.opcode = Opcode::unknown;
    unknown.modifiers.push_back(in_.text_from(begin));
    unknown.guard = its_guard;
    unknown.line = line;
    unknown.refusal = why;
    in_.next();
    kernel_.body.push_back(std::move(unknown));
}

void KernelParser::known_instruction(const std::optional<Guard>& its_guard) {
    const int line = in_.peek().line;
    if (in_.peek().kind != TokenKind::word)
        in_.fail(fmt::format("unexpected '{}'; expected an instruction", in_.peek().text));
    std::string mnemonic{in_.peek().text};
    for (std::size_t i = 1; in_.peek(i).kind == TokenKind::dot_word; ++i) mnemonic += in_.peek(i).text;
    const Lookup& found = look_up_cached(mnemonic);
    in_.next();
    while (in_.peek().kind == TokenKind::dot_word) in_.next();

    Instruction instruction = found.instruction;
    instruction.guard = its_guard;
    instruction.line = line;
    if (instruction.opcode == Opcode::call)
        call_operands(instruction);
    else
        operands(*found.form, instruction);
    unwrap_single_elements(instruction);
    if (!in_.is(";"))
        in_.fail_at(line, fmt::format("unexpected '{}' after '{}'; expected ';'", in_.peek().text, mnemonic));
    round_literals(instruction);
    if (const auto fault = operand_fault(instruction, kernel_.registers))
        in_.fail_at(line, fmt::format("'{}': {}", mnemonic, *fault));
    in_.next();
    note_label_uses(*found.form, instruction);
    kernel_.body.push_back(std::move(instruction));
}

void KernelParser::operands(const Form& form, Instruction& instruction) {
    std::vector<Operand> all;
    bool second_destination = false;
    const bool takes_label = form.operands.ends_with('L');
    if (!in_.is(";")) {
        all.push_back(operand(takes_label));
        if (in_.take("|")) {
            second_destination = true;
            all.push_back(operand(false));
        }
        while (in_.take(",")) {
            all.push_back(operand(takes_label));
            if (all.size() > 2 * kLongestVector)
                in_.fail_last(fmt::format("too many operands; expected at most {}", 2 * kLongestVector));
        }
    }
    divide(form, instruction, std::move(all), second_destination);
}

void KernelParser::divide(const Form& form, Instruction& instruction, std::vector<Operand> all,
                          bool second_destination) {
    std::size_t destinations = second_destination ? 1 : 0;
    bool may_have_second = false;
    for (const OperandRule& rule : operand_rules(form)) {
        destinations += rule.destination ? 1 : 0;
        may_have_second = may_have_second || rule.optional_second;
    }
    if (second_destination && !may_have_second) in_.fail("unexpected '|'; expected one destination");
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto* fetch = std::get_if<VectorRef>(&all[i].value);
        // address() returns the address of a texture as the vector {address, coordinates}.
        if (fetch && !fetch->elements.empty() && std::holds_alternative<AddressRef>(fetch->elements[0].value)) {
            if (instruction.opcode != Opcode::tex) in_.fail("unexpected ',' in an address; expected ']'");
            for (Operand& part : fetch->elements) instruction.sources.push_back(std::move(part));
        } else {
            (i < destinations ? instruction.destinations : instruction.sources).push_back(std::move(all[i]));
        }
    }
}

void KernelParser::call_operands(Instruction& instruction) {
    const auto list = [this](std::vector<Operand>& to) {
        in_.expect("(");
        if (in_.take(")")) return;
        do to.push_back(operand(false));
        while (in_.take(","));
        in_.expect(")");
    };
    if (in_.is("(")) {
        list(instruction.destinations);
        in_.expect(",");
    }
    instruction.sources.push_back(operand(false));
    if (!in_.take(",")) return;
    list(instruction.sources);
    if (in_.take(",")) in_.name("a prototype");
}

Operand KernelParser::operand(bool is_label) {
    if (in_.is("{")) return vector();
    if (in_.is("[")) return address();
    if (in_.take("!")) return {PredicateRef{register_named(in_.name("a predicate"), "a predicate after '!'"), true}};
    if (in_.peek().kind == TokenKind::word) return word(is_label);
    return number();
}

Operand KernelParser::word(bool is_label) {
    std::string name = in_.name("an operand");
    if (name == "_") return {SinkRef{}};
    if (name == "WARP_SZ") return {Immediate{kWarpSize, false}};
    if (const auto reg = find_register(name)) return {*reg};
    if (name[0] == '%') {
        std::string full = name;
        if (in_.peek().kind == TokenKind::dot_word) full += in_.next().text;
        if (const auto special = special_register_named(full)) return {*special};
        in_.fail_last(fmt::format(
            "unknown register '{}'; expected one that a .reg directive declares or a special register", full));
    }
    if (is_label) return {SymbolRef{std::move(name)}};
    if (auto symbol = find_symbol(name)) return {SymbolRef{std::move(*symbol)}};
    in_.fail_last(fmt::format("unknown name '{}'; expected a register, a variable or a number", name));
}

Operand KernelParser::vector() {
    in_.expect("{");
    VectorRef result;
    if (in_.is("{") || in_.is("[")) in_.fail("unexpected bracket in a vector; expected registers and numbers");
    do {
        if (in_.is("{") || in_.is("[")) in_.fail("unexpected bracket in a vector; expected registers and numbers");
        result.elements.push_back(operand(false));
        if (result.elements.size() > kLongestVector)
            in_.fail_last(fmt::format("vector too long; expected at most {} elements", kLongestVector));
    } while (in_.take(","));
    in_.expect("}");
    return {std::move(result)};
}

Operand KernelParser::address() {
    in_.expect("[");
    AddressRef result;
    if (in_.peek().kind == TokenKind::word) {
        Operand base = word(false);
        if (const auto* reg = std::get_if<Register>(&base.value))
            result.base = *reg;
        else if (auto* symbol = std::get_if<SymbolRef>(&base.value))
            result.base = std::move(*symbol);
        else
            in_.fail_last("unexpected operand as an address; expected a register or a variable");
    }
    const bool has_base = result.base.index() != 0;
    bool minus = false;
    if (has_base && (in_.is("+") || in_.is("-"))) minus = in_.next().text == "-";
    if (in_.is("-") || in_.peek().kind == TokenKind::number || !has_base) {
        const Operand offset = number();
        const auto& value = std::get<Immediate>(offset.value);
        if (value.is_float) in_.fail_last("unexpected fraction as an address; expected a whole number");
        result.offset = static_cast<std::int64_t>(minus ? negated(value).bits : value.bits);
    }
    Operand made{std::move(result)};
    if (in_.take(",")) {
        VectorRef fetch;
        fetch.elements.push_back(std::move(made));
        if (in_.is("[")) in_.fail("unexpected '['; expected the coordinates");
        fetch.elements.push_back(operand(false));
        made = {std::move(fetch)};
    }
    in_.expect("]");
    return made;
}

Operand KernelParser::number() {
    const bool minus = in_.take("-");
    const auto value = in_.peek().kind == TokenKind::number ? parse_literal(in_.peek().text) : std::nullopt;
    if (!value) in_.fail(fmt::format("unexpected '{}'; expected an operand", in_.peek().text));
    in_.next();
    return {minus ? negated(*value) : *value};
}

/// Rounds decimal fractions in f32 instructions to the nearest float.
void KernelParser::round_literals(Instruction& instruction) const {
    if (size_of(literal_type(instruction)) != Bytes{4}) return;
    for (Operand& source : instruction.sources) {
        auto* literal = std::get_if<Immediate>(&source.value);
        if (literal && literal->is_float) literal->bits = widen_float_bits(narrow_float_bits(literal->bits));
    }
}

void KernelParser::note_label_uses(const Form& form, const Instruction& instruction) {
    if (!form.operands.ends_with('L')) return;
    label_uses_.push_back({.instruction = kernel_.body.size(),
                           .source = instruction.sources.size() - 1,
                           .scope = scope_,
                           .line = instruction.line});
}

void KernelParser::resolve_labels() {
    for (const LabelUse& use : label_uses_) {
        std::string& name = use.table.empty()
                                ? std::get<SymbolRef>(kernel_.body[use.instruction].sources[use.source].value).name
                                : kernel_.branch_targets[use.table][use.source];
        const bool wants_table = use.table.empty() && kernel_.body[use.instruction].opcode == Opcode::brx;
        std::size_t scope = use.scope;
        while (scope != 0 && !scopes_[scope].labels.contains(name)) scope = scopes_[scope].parent;
        const auto found = scopes_[scope].labels.find(name);
        if (found == scopes_[scope].labels.end() || kernel_.branch_targets.contains(found->second) != wants_table)
            in_.fail_at(use.line, fmt::format("unknown label '{}'; expected {} of kernel '{}'", name,
                                              wants_table ? "a .branchtargets list" : "a label", kernel_.name));
        name = found->second;
    }
}

}  // namespace gputomo::ptx
