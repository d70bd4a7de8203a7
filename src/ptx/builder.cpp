#include "ptx/builder.hpp"

#include "ptx/instructions.hpp"
#include "ptx/literals.hpp"
#include "ptx/names.hpp"
#include "ptx/printer.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace gputomo::ptx {
namespace {

constexpr std::string_view kDynamicShared = "dynamic_shared";
/// The first value that clock_after compares results with. Any value works; one that chains rarely reach avoids
/// pmevents.
constexpr std::uint32_t kClockGuard = 0x7fdeadb0;

bool equal(const Variable& a, const Variable& b) {
    return a.space == b.space && a.type == b.type && a.size == b.size && a.alignment == b.alignment &&
           a.is_extern == b.is_extern && a.initial == b.initial;
}

/// Adds a module variable unless an equal one exists. Returns false if a different one has its name.
bool merge(std::vector<Variable>& variables, const Variable& variable) {
    const auto same_name = std::ranges::find(variables, variable.name, &Variable::name);
    if (same_name == variables.end()) {
        variables.push_back(variable);
        return true;
    }
    if (variable.is_extern && same_name->is_extern) {
        same_name->alignment = std::max(same_name->alignment, variable.alignment);
        return true;
    }
    return equal(*same_name, variable);
}

void renumber(Operand& operand, const std::vector<std::uint32_t>& to) {
    const auto move = [&to](Register& r) { r.index = to[r.index]; };
    if (auto* reg = std::get_if<Register>(&operand.value)) move(*reg);
    if (auto* predicate = std::get_if<PredicateRef>(&operand.value)) move(predicate->predicate);
    if (auto* address = std::get_if<AddressRef>(&operand.value))
        if (auto* base = std::get_if<Register>(&address->base)) move(*base);
    if (auto* vector = std::get_if<VectorRef>(&operand.value))
        for (Operand& element : vector->elements) renumber(element, to);
}

/// Sorts the registers by type, so that they print as ranges, and names them "%u32_0", "%u32_1", ...
void sort_registers(Kernel& kernel) {
    std::vector<std::uint32_t> order(kernel.registers.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return kernel.registers[i].type; });
    std::vector<std::uint32_t> to(order.size());
    std::vector<RegisterInfo> sorted;
    int number = 0;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        to[order[i]] = i;
        const Type type = kernel.registers[order[i]].type;
        number = sorted.empty() || sorted.back().type != type ? 0 : number + 1;
        sorted.push_back({fmt::format("%{}_{}", name_of(type), number), type});
    }
    kernel.registers = std::move(sorted);
    for (Instruction& instruction : kernel.body) {
        if (instruction.guard) instruction.guard->predicate.index = to[instruction.guard->predicate.index];
        for (Operand& operand : instruction.destinations) renumber(operand, to);
        for (Operand& operand : instruction.sources) renumber(operand, to);
    }
}

/// Converts integers in place of floating-point operands to floating point, and rounds f32 operands to float.
void convert_literals(const Form& form, Instruction& instruction) {
    std::size_t source = 0;
    for (const OperandRule& rule : operand_rules(form)) {
        if (rule.destination || source == instruction.sources.size()) continue;
        auto* literal = std::get_if<Immediate>(&instruction.sources[source++].value);
        const Type asked = required_type(rule, instruction);
        if (!literal) continue;
        if (!literal->is_float && (asked == Type::f32 || asked == Type::f64))
            *literal = {std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(literal->bits))),
                        true};
        if (literal->is_float && size_of(asked) == Bytes{4})
            literal->bits = widen_float_bits(narrow_float_bits(literal->bits));
    }
}

/// The number of destinations in this form if it has `given` operands.
std::size_t destination_count(const Form& form, std::size_t given) {
    const auto rules = operand_rules(form);
    const auto destinations = static_cast<std::size_t>(std::ranges::count_if(rules, &OperandRule::destination));
    const bool has_second = std::ranges::any_of(rules, &OperandRule::optional_second) && given > rules.size();
    return std::min(given, destinations + (has_second ? 1 : 0));
}

bool ends_kernel(const Instruction& instruction) {
    return !instruction.guard && (instruction.opcode == Opcode::ret || instruction.opcode == Opcode::exit);
}

Type bits_type(Type type) {
    switch (size_of(type).count()) {
        case 2: return Type::b16;
        case 4: return Type::b32;
        case 8: return Type::b64;
        default: return Type::none;
    }
}

}  // namespace

std::uint64_t Arg::double_bits(double v) { return std::bit_cast<std::uint64_t>(v); }

KernelBuilder::KernelBuilder(std::string name, Target target) : target_(target) {
    kernel_.name = std::move(name);
    kernel_.pragmas = {"nounroll"};
}

void KernelBuilder::misuse(std::string_view mnemonic, const std::string& what) const {
    throw std::logic_error(fmt::format("kernel '{}', '{}': {}", kernel_.name, mnemonic, what));
}

Reg KernelBuilder::reg(Type type) {
    if (type == Type::none || size_of(type) == Bytes{1} || type == Type::b128)
        misuse("reg", fmt::format("no register can have type '{}'", name_of(type)));
    const auto index = static_cast<std::uint32_t>(kernel_.registers.size());
    kernel_.registers.push_back({fmt::format("register {}", index), type});  // build() names them
    return {index, type};
}

std::vector<Reg> KernelBuilder::regs(Type type, int count) {
    std::vector<Reg> made;
    for (int i = 0; i < count; ++i) made.push_back(reg(type));
    return made;
}

void KernelBuilder::declare(std::string_view name) {
    const auto taken = [name](const Variable& v) { return v.name == name; };
    if (name.empty() || std::ranges::any_of(kernel_.parameters, taken) ||
        std::ranges::any_of(kernel_.variables, taken) || std::ranges::any_of(module_variables_, taken))
        misuse(name, "the name is empty or taken; expected a name that no other variable of the kernel has");
}

void KernelBuilder::prologue(std::string_view mnemonic, const std::vector<Arg>& args) {
    emit(mnemonic, args);
    prologue_.push_back(std::move(kernel_.body.back()));
    kernel_.body.pop_back();
}

Reg KernelBuilder::param(Type type, std::string_view name) {
    declare(name);
    kernel_.parameters.push_back({std::string(name), Space::param, type, size_of(type), size_of(type)});
    const Reg value = reg(type);
    prologue(fmt::format("ld.param.{}", name_of(type)), {value, Mem{Symbol{std::string(name)}}});
    return value;
}

Reg KernelBuilder::shared(std::string_view name, Bytes size, Bytes alignment) {
    declare(name);
    kernel_.variables.push_back({std::string(name), Space::shared, Type::b8, size, alignment});
    const Reg address = reg(Type::u32);
    prologue("mov.u32", {address, Symbol{std::string(name)}});
    return address;
}

Reg KernelBuilder::dynamic_shared(Bytes alignment) {
    Variable variable{std::string(kDynamicShared), Space::shared, Type::b8, Bytes{0}, alignment};
    variable.is_extern = true;
    if (!merge(module_variables_, variable)) misuse(kDynamicShared, "the name is taken");
    const Reg address = reg(Type::u32);
    prologue("mov.u32", {address, Symbol{std::string(kDynamicShared)}});
    return address;
}

Reg KernelBuilder::local(std::string_view name, Bytes size, Bytes alignment) {
    declare(name);
    kernel_.variables.push_back({std::string(name), Space::local, Type::b8, size, alignment});
    const Reg address = reg(Type::u64);
    prologue("mov.u64", {address, Symbol{std::string(name)}});
    return address;
}

Reg KernelBuilder::array(const ModuleArray& array) {
    if (array.space != Space::constant && array.space != Space::global)
        misuse(array.name, "the space of a module array must be constant or global");
    const Bytes element = size_of(array.type);
    if (element == Bytes{0} || array.size % element != Bytes{0} ||
        static_cast<std::int64_t>(array.initial.size()) > array.size.count())
        misuse(array.name, "the size must be a multiple of the element's and hold the initial bytes");
    Variable variable{array.name, array.space, array.type, array.size,
                      array.alignment == Bytes{0} ? element : array.alignment};
    variable.initial = array.initial;
    if (!variable.initial.empty()) variable.initial.resize(static_cast<std::size_t>(array.size.count()));
    if (!merge(module_variables_, variable)) misuse(array.name, "another array of this name has other contents");
    const Reg address = reg(Type::u64);
    prologue("mov.u64", {address, Symbol{array.name}});
    return address;
}

void KernelBuilder::max_threads(int threads) { kernel_.max_threads = threads; }

std::string KernelBuilder::label_name(std::uint32_t index) const { return fmt::format("$L{}", index); }

Operand KernelBuilder::lower(const Arg& arg) const {
    if (const auto* operand = std::get_if<Operand>(&arg.value_)) return *operand;
    if (const auto* reg = std::get_if<Reg>(&arg.value_)) return {Register{reg->index}};
    if (const auto* label = std::get_if<Label>(&arg.value_)) return {SymbolRef{label_name(label->index)}};
    if (const auto* condition = std::get_if<Condition>(&arg.value_)) {
        const Register predicate{condition->predicate.index};
        if (condition->negated) return {PredicateRef{predicate, true}};
        return {predicate};
    }
    VectorRef vector;
    for (const Arg& element : std::get<std::vector<Arg>>(arg.value_)) vector.elements.push_back(lower(element));
    return {std::move(vector)};
}

void KernelBuilder::emit(std::string_view mnemonic, const std::vector<Arg>& args, std::optional<Condition> guard) {
    auto found = look_up(mnemonic);
    if (!found) misuse(mnemonic, why_unknown(mnemonic));
    Instruction& instruction = found->instruction;
    const std::size_t destinations = destination_count(*found->form, args.size());
    for (std::size_t i = 0; i < args.size(); ++i) {
        Operand operand = lower(args[i]);
        (i < destinations ? instruction.destinations : instruction.sources).push_back(std::move(operand));
    }
    convert_literals(*found->form, instruction);
    if (guard) {
        if (guard->predicate.type != Type::pred) misuse(mnemonic, "the guard must be a predicate");
        instruction.guard = Guard{Register{guard->predicate.index}, guard->negated};
    }
    if (const auto fault = operand_fault(instruction, kernel_.registers)) misuse(mnemonic, *fault);
    kernel_.body.push_back(std::move(instruction));
}

Reg KernelBuilder::special(SpecialRegister which) {
    const Reg value = reg(type_of(which));
    emit(fmt::format("mov.{}", name_of(value.type)), {value, which});
    return value;
}

Reg KernelBuilder::thread_index() {
    const Reg block = special(SpecialRegister::ctaid_x);
    const Reg threads = special(SpecialRegister::ntid_x);
    const Reg thread = special(SpecialRegister::tid_x);
    const Reg index = reg(Type::u32);
    emit("mad.lo.u32", {index, block, threads, thread});
    return index;
}

Reg KernelBuilder::element(Reg base, Reg index, Bytes size) {
    const Reg address = reg(Type::u64);
    emit(fmt::format("mad.wide.{}", name_of(index.type)), {address, index, size.count(), base});
    return address;
}

Label KernelBuilder::label() {
    labels_.emplace_back();
    return {static_cast<std::uint32_t>(labels_.size() - 1)};
}

void KernelBuilder::place(Label label) {
    if (label.index >= labels_.size() || labels_[label.index])
        misuse(label_name(label.index), "a label must be placed once, in the kernel that made it");
    labels_[label.index] = kernel_.body.size();
}

void KernelBuilder::repeat(int count, const std::function<void(int)>& body) {
    for (int i = 0; i < count; ++i) body(i);
}

void KernelBuilder::counted_loop(const Arg& count, const std::function<void(Reg)>& body) {
    const Reg iteration = reg(Type::u32);
    const Reg more = reg(Type::pred);
    const Label top = label();
    const Label end = label();
    emit("mov.u32", {iteration, 0});
    emit("setp.lt.u32", {more, iteration, count});
    emit("bra", {end}, !more);
    place(top);
    body(iteration);
    emit("add.u32", {iteration, iteration, 1});
    emit("setp.lt.u32", {more, iteration, count});
    emit("bra", {top}, more);
    place(end);
}

void KernelBuilder::loop(const Arg& count, const std::function<void()>& body) {
    counted_loop(count, [&body](Reg) { body(); });
}

void KernelBuilder::loop(const Arg& count, const std::function<void(Reg)>& body) { counted_loop(count, body); }

void KernelBuilder::while_(const std::function<Condition()>& condition, const std::function<void()>& body) {
    const Label top = label();
    const Label end = label();
    place(top);
    emit("bra", {end}, !condition());
    body();
    emit("bra", {top});
    place(end);
}

void KernelBuilder::if_(Condition condition, const std::function<void()>& then_body,
                        const std::function<void()>& else_body) {
    const Label otherwise = label();
    emit("bra", {otherwise}, !condition);
    then_body();
    if (!else_body) {
        place(otherwise);
        return;
    }
    const Label end = label();
    emit("bra", {end});
    place(otherwise);
    else_body();
    place(end);
}

void KernelBuilder::branch_table(Reg index, const std::vector<Label>& targets) {
    const std::string name = fmt::format("$T{}", kernel_.branch_targets.size());
    auto& names = kernel_.branch_targets[name];
    for (const Label target : targets) names.push_back(label_name(target.index));
    emit("brx.idx", {index, Symbol{name}});
}

Reg KernelBuilder::clock32() { return special(SpecialRegister::clock); }
Reg KernelBuilder::entry_clock32() {
    const Reg value = reg(type_of(SpecialRegister::clock));
    prologue(fmt::format("mov.{}", name_of(value.type)), {value, SpecialRegister::clock});
    return value;
}
Reg KernelBuilder::clock64() { return special(SpecialRegister::clock64); }

void KernelBuilder::wait_for(Reg result) {
    const Type type = bits_type(result.type);
    if (type == Type::none) misuse("clock_after", "the result must be a register of 16, 32 or 64 bits");
    const Reg never = reg(Type::pred);
    std::uint32_t magic = kClockGuard + clock_guards_++;
    if (type == Type::b16) magic &= 0x7fff;
    emit(fmt::format("setp.eq.{}", name_of(type)), {never, result, magic});
    emit("pmevent", {0}, never);
}

Reg KernelBuilder::clock_after(Reg result) {
    wait_for(result);
    return clock32();
}

Reg KernelBuilder::clock64_after(Reg result) {
    wait_for(result);
    return clock64();
}

Kernel KernelBuilder::finished_kernel() const {
    Kernel kernel = kernel_;
    kernel.body.insert(kernel.body.begin(), prologue_.begin(), prologue_.end());
    for (std::uint32_t i = 0; i < labels_.size(); ++i) {
        if (!labels_[i]) misuse(label_name(i), "the label was never placed");
        kernel.labels[label_name(i)] = *labels_[i] + prologue_.size();
    }
    const bool label_at_end =
        std::ranges::any_of(kernel.labels, [&](const auto& l) { return l.second == kernel.body.size(); });
    if (kernel.body.empty() || label_at_end || !ends_kernel(kernel.body.back()))
        kernel.body.push_back(look_up("ret")->instruction);
    sort_registers(kernel);
    return kernel;
}

Module KernelBuilder::build() const {
    ModuleBuilder module(target_);
    module.add(*this);
    return module.build();
}

std::string KernelBuilder::text() const { return to_text(build()); }

ModuleBuilder::ModuleBuilder(Target target) {
    module_.version_major = target.version_major;
    module_.version_minor = target.version_minor;
    module_.target_sm = target.sm;
}

void ModuleBuilder::add(const KernelBuilder& kernel) {
    const Target target{module_.version_major, module_.version_minor, module_.target_sm};
    if (kernel.target() != target) kernel.misuse("module", "the kernel is for another target than the module");
    if (std::ranges::any_of(module_.kernels, [&](const Kernel& k) { return k.name == kernel.name(); }))
        kernel.misuse("module", "the name is taken");
    for (const Variable& variable : kernel.module_variables_)
        if (!merge(module_.variables, variable))
            kernel.misuse(variable.name, "another kernel has other contents under this name");
    module_.kernels.push_back(kernel.finished_kernel());
}

Module ModuleBuilder::build() const { return module_; }
std::string ModuleBuilder::text() const { return to_text(module_); }

}  // namespace gputomo::ptx
