#include "ptx/printer.hpp"

#include "ptx/instructions.hpp"
#include "ptx/literals.hpp"
#include "ptx/names.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <variant>

namespace gputomo::ptx {
namespace {

class KernelPrinter {
public:
    explicit KernelPrinter(const Kernel& kernel) : kernel_(kernel) {}

    [[nodiscard]] std::string instruction(const Instruction& in) const {
        std::string text;
        if (in.guard) text += fmt::format("@{}{} ", in.guard->negated ? "!" : "", reg(in.guard->predicate));
        if (in.opcode == Opcode::unknown) return text + in.modifiers.at(0) + ";";
        text += mnemonic_of(in);
        if (in.opcode == Opcode::call) return text + call(in) + ";";
        const bool second = in.destinations.size() == 2;
        std::string_view separator = " ";
        const auto append = [&](const Operand& operand) {
            text += separator;
            text += this->operand(in, operand);
            separator = ", ";
        };
        for (const Operand& destination : in.destinations) {
            append(destination);
            if (second) separator = "|";
        }
        if (second) separator = ", ";
        if (in.opcode == Opcode::tex) return text + texture(in) + ";";
        for (const Operand& source : in.sources) append(source);
        return text + ";";
    }

    void body(std::string& out) const {
        registers(out);
        for (const Variable& variable : kernel_.variables) out += fmt::format("\t{};\n", declaration(variable));
        for (const auto& [name, targets] : kernel_.branch_targets)
            out += fmt::format("{}: .branchtargets {};\n", name, fmt::join(targets, ", "));
        std::multimap<std::size_t, std::string_view> labels;
        for (const auto& [name, position] : kernel_.labels) labels.emplace(position, name);
        for (std::size_t i = 0; i <= kernel_.body.size(); ++i) {
            const auto [first, last] = labels.equal_range(i);
            for (auto label = first; label != last; ++label) out += fmt::format("{}:\n", label->second);
            if (i < kernel_.body.size()) out += fmt::format("\t{}\n", instruction(kernel_.body[i]));
        }
    }

    static std::string declaration(const Variable& v) {
        std::string text = fmt::format("{}.{} .align {} .{} {}", v.is_extern ? ".extern " : "", name_of(v.space),
                                       v.alignment.count(), name_of(v.type), v.name);
        const std::int64_t elements = size_of(v.type) == Bytes{0} ? 0 : v.size / size_of(v.type);
        if (v.is_extern && v.size == Bytes{0}) return text + "[]";
        if (elements != 1 || !v.initial.empty()) text += fmt::format("[{}]", elements);
        if (!v.initial.empty()) text += " = " + initializer(v);
        return text;
    }

private:
    [[nodiscard]] const std::string& reg(Register r) const { return kernel_.registers.at(r.index).name; }

    [[nodiscard]] std::string call(const Instruction& in) const {
        const auto list = [&](std::span<const Operand> operands) {
            std::string text = "(";
            for (const Operand& o : operands) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", operand(in, o));
            return text + ")";
        };
        std::string text = " ";
        if (!in.destinations.empty()) text += list(in.destinations) + ", ";
        text += operand(in, in.sources.at(0));
        if (in.sources.size() > 1) text += ", " + list(std::span(in.sources).subspan(1));
        return text;
    }

    [[nodiscard]] std::string texture(const Instruction& in) const {
        std::string address = operand(in, in.sources.at(0));
        address.pop_back();
        return fmt::format(", {}, {}]", address, operand(in, in.sources.at(1)));
    }

    [[nodiscard]] std::string operand(const Instruction& in, const Operand& operand) const {
        return std::visit([&](const auto& value) { return show(in, value); }, operand.value);
    }

    [[nodiscard]] std::string show(const Instruction&, const SinkRef&) const { return "_"; }
    [[nodiscard]] std::string show(const Instruction&, const Register& r) const { return reg(r); }
    [[nodiscard]] std::string show(const Instruction&, const SymbolRef& s) const { return s.name; }
    [[nodiscard]] std::string show(const Instruction&, const SpecialRegister& s) const {
        return std::string(name_of(s));
    }
    [[nodiscard]] std::string show(const Instruction&, const PredicateRef& p) const {
        return fmt::format("{}{}", p.negated ? "!" : "", reg(p.predicate));
    }

    [[nodiscard]] std::string show(const Instruction& in, const Immediate& v) const {
        if (!v.is_float) return fmt::format("{}", static_cast<std::int64_t>(v.bits));
        return size_of(literal_type(in)) == Bytes{4} ? float_literal(v.bits) : double_literal(v.bits);
    }

    [[nodiscard]] std::string show(const Instruction&, const AddressRef& a) const {
        std::string base;
        if (const auto* r = std::get_if<Register>(&a.base)) base = reg(*r);
        if (const auto* s = std::get_if<SymbolRef>(&a.base)) base = s->name;
        if (base.empty()) return fmt::format("[{}]", a.offset);
        if (a.offset == 0) return fmt::format("[{}]", base);
        return fmt::format("[{}+{}]", base, a.offset);
    }

    [[nodiscard]] std::string show(const Instruction& in, const VectorRef& v) const {
        std::string text = "{";
        for (const Operand& element : v.elements)
            text += fmt::format("{}{}", text.size() > 1 ? ", " : "", operand(in, element));
        return text + "}";
    }

    static std::string initializer(const Variable& v) {
        const auto size = static_cast<std::size_t>(std::max<std::int64_t>(size_of(v.type).count(), 1));
        std::string text = "{";
        for (std::size_t at = 0; at + size <= v.initial.size(); at += size) {
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < size; ++i) bits |= std::uint64_t{v.initial[at + i]} << (8 * i);
            if (at != 0) text += ", ";
            if (v.type == Type::f32)
                text += fmt::format("0f{:08X}", bits);
            else if (v.type == Type::f64)
                text += fmt::format("0d{:016X}", bits);
            else
                text += fmt::format("{}", bits);
        }
        return text + "}";
    }

    /// Registers in order, neighbours "%r0", "%r1", ... of one type as the range "%r<N>".
    void registers(std::string& out) const {
        const auto& all = kernel_.registers;
        for (std::size_t i = 0; i < all.size();) {
            std::size_t end = i + 1;
            std::string shown = all[i].name;
            if (all[i].name.ends_with('0')) {
                const std::string prefix = all[i].name.substr(0, all[i].name.size() - 1);
                while (end < all.size() && all[end].type == all[i].type &&
                       all[end].name == prefix + std::to_string(end - i))
                    ++end;
                if (end - i > 1) shown = fmt::format("{}<{}>", prefix, end - i);
            }
            out += fmt::format("\t.reg .{} {};\n", name_of(all[i].type), shown);
            i = end;
        }
    }

    const Kernel& kernel_;
};

void print(std::string& out, const Kernel& kernel) {
    out += fmt::format("\n.visible .entry {}(", kernel.name);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        out += fmt::format("{}\n\t{}", i == 0 ? "" : ",", KernelPrinter::declaration(kernel.parameters[i]));
    out += ")\n";
    if (kernel.max_threads) out += fmt::format(".maxntid {}\n", *kernel.max_threads);
    for (const std::string& pragma : kernel.pragmas) out += fmt::format(".pragma \"{}\";\n", pragma);
    out += "{\n";
    KernelPrinter(kernel).body(out);
    out += "}\n";
}

}  // namespace

std::string to_text(const Module& module) {
    std::string out = fmt::format(".version {}.{}\n.target sm_{}{}\n.address_size {}\n", module.version_major,
                                  module.version_minor, module.target_sm, module.target_suffix, module.address_size);
    for (const std::string& function : module.functions) out += fmt::format(".extern .func {};\n", function);
    for (const Variable& variable : module.variables) out += KernelPrinter::declaration(variable) + ";\n";
    for (const Kernel& kernel : module.kernels) print(out, kernel);
    return out;
}

std::string to_text(const Kernel& kernel, const Instruction& instruction) {
    return KernelPrinter(kernel).instruction(instruction);
}

}  // namespace gputomo::ptx
