// Decodes a parsed PTX kernel into a Program.
#include "sim/exec/program.hpp"

#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "ptx/printer.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

template <class E>
struct Named {
    std::string_view name;
    E value;
};

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
constexpr Named<BarrierMode> kBarrierModes[] = {
    {"arrive", BarrierMode::arrive}, {"popc", BarrierMode::popc}, {"and", BarrierMode::and_}, {"or", BarrierMode::or_}};

template <class E, std::size_t n>
std::optional<E> first_named(const ptx::Instruction& instruction, const Named<E> (&table)[n]) {
    for (const auto& row : table)
        if (instruction.has(row.name)) return row.value;
    return std::nullopt;
}

constexpr std::pair<Opcode, Kind> kKinds[] = {
    {Opcode::ld, Kind::load},       {Opcode::ldu, Kind::load},           {Opcode::st, Kind::store},
    {Opcode::atom, Kind::atomic},   {Opcode::red, Kind::atomic},         {Opcode::tex, Kind::texture},
    {Opcode::bra, Kind::branch},    {Opcode::brx, Kind::indexed_branch}, {Opcode::ret, Kind::exit},
    {Opcode::exit, Kind::exit},     {Opcode::bar, Kind::barrier},        {Opcode::barrier, Kind::barrier},
    {Opcode::trap, Kind::trap},     {Opcode::membar, Kind::fence},       {Opcode::fence, Kind::fence},
    {Opcode::prefetch, Kind::load}, {Opcode::nanosleep, Kind::sleep},    {Opcode::pmevent, Kind::nothing}};

/// 32-bit registers that a value takes; predicates have a file of their own.
std::uint8_t words_of(Type type) {
    return static_cast<std::uint8_t>(type == Type::pred ? 0 : (ptx::size_of(type).count() + 3) / 4);
}

Kind kind_of(const ptx::Instruction& instruction) {
    if (instruction.opcode == Opcode::bar && instruction.has("warp")) return Kind::warp_barrier;
    for (const auto& [opcode, kind] : kKinds)
        if (opcode == instruction.opcode) return kind;
    if (instruction.opcode == Opcode::mov && instruction.sources.size() == 1 &&
        std::holds_alternative<ptx::SpecialRegister>(instruction.sources[0].value))
        return Kind::special;
    return Kind::arithmetic;
}

class Decoder {
public:
    Decoder(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolTable& symbols)
        : module_(module), kernel_(kernel), symbols_(symbols) {}

    Program run() {
        program_.name = kernel_.name;
        program_.slots = program_.register_slots = slot_count(kernel_.registers.size());
        lay_out_parameters();
        lay_out_local();
        lay_out_shared();
        program_.max_threads = kernel_.max_threads.value_or(0);
        for (const auto& instruction : kernel_.body) {
            at_ = &instruction;
            program_.operations.push_back(decode(instruction));
            note_registers(program_.operations.back());
            program_.texts.push_back(ptx::to_text(kernel_, instruction));
        }
        // Running off the end of the body ends the thread.
        program_.operations.push_back(
            {.kind = Kind::exit, .line = kernel_.body.empty() ? 0 : kernel_.body.back().line});
        program_.operations.back().cost = program_.operations.size() > 1 ? program_.operations.front().cost : 0;
        program_.texts.emplace_back("(end of kernel)");
        if (program_.cost_keys.empty()) program_.cost_keys.emplace_back("ret");
        find_reconvergence(program_.operations);
        program_.register_words.assign(program_.slots, 0);
        for (std::size_t i = 0; i < kernel_.registers.size(); ++i)
            program_.register_words[i] = words_of(kernel_.registers[i].type);
        program_.registers_per_thread = register_pressure(program_.operations, program_.register_words);
        return std::move(program_);
    }

private:
    static std::uint16_t slot_count(std::size_t n) {
        if (n >= kNoSlot) throw InputError("more than 65534 registers and literals; expected fewer");
        return static_cast<std::uint16_t>(n);
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw InputError(
            fmt::format("kernel {}, line {}: {}\n    {}", kernel_.name, at_->line, what, ptx::to_text(kernel_, *at_)));
    }

    void lay_out_parameters() {
        std::size_t offset = 0;
        for (const auto& parameter : kernel_.parameters) {
            const auto alignment = std::max<std::size_t>(1, static_cast<std::size_t>(parameter.alignment.count()));
            const auto size = static_cast<std::size_t>(parameter.size.count());
            offset = (offset + alignment - 1) / alignment * alignment;
            program_.parameters.push_back({parameter.name, offset, size});
            offset += size;
        }
        program_.parameter_bytes = offset;
    }

    void lay_out_local() {
        for (const auto& variable : kernel_.variables) {
            if (variable.space != Space::local) continue;
            const auto alignment = std::max<std::uint64_t>(4, static_cast<std::uint64_t>(variable.alignment.count()));
            program_.local_bytes = (program_.local_bytes + alignment - 1) / alignment * alignment;
            local_[variable.name] = program_.local_bytes;
            program_.local_bytes += static_cast<std::uint64_t>(variable.size.count());
        }
        program_.local_bytes = (program_.local_bytes + 3) / 4 * 4;
    }

    void place_shared(const ptx::Variable& variable) {
        if (variable.space != Space::shared || variable.is_extern) return;
        const auto alignment = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(variable.alignment.count()));
        program_.static_shared = (program_.static_shared + alignment - 1) / alignment * alignment;
        shared_[variable.name] = program_.static_shared;
        program_.static_shared += static_cast<std::uint64_t>(variable.size.count());
    }

    void lay_out_shared() {
        for (const auto& variable : kernel_.variables) place_shared(variable);
        for (const auto& variable : module_.variables) place_shared(variable);
        constexpr std::uint64_t kDynamicAlignment = 16;
        const std::uint64_t dynamic =
            (program_.static_shared + kDynamicAlignment - 1) / kDynamicAlignment * kDynamicAlignment;
        const auto place_dynamic = [&](const ptx::Variable& variable) {
            if (variable.space != Space::shared || !variable.is_extern) return;
            shared_[variable.name] = dynamic;
            program_.static_shared = dynamic;
        };
        for (const auto& variable : kernel_.variables) place_dynamic(variable);
        for (const auto& variable : module_.variables) place_dynamic(variable);
    }

    std::uint16_t constant(std::uint64_t bits) {
        const auto [entry, is_new] = constant_slots_.try_emplace(bits, program_.slots);
        if (is_new) {
            program_.constants.emplace_back(program_.slots, bits);
            program_.slots = slot_count(std::size_t{program_.slots} + 1);
        }
        return entry->second;
    }

    /// The bits of a literal, in the type of the instruction that reads it.
    static std::uint64_t literal_bits(const ptx::Immediate& immediate, Type type) {
        if (!immediate.is_float) {
            if (type == Type::f32)
                return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(immediate.bits)));
            if (type == Type::f64)
                return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(immediate.bits)));
            return immediate.bits;
        }
        if (type == Type::f64 || type == Type::b64) return immediate.bits;
        return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(immediate.bits)));
    }

    std::uint64_t symbol_address(const std::string& name) const {
        if (const auto found = shared_.find(name); found != shared_.end()) return found->second;
        if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second;
        if (const auto found = local_.find(name); found != local_.end()) return found->second;
        fail(fmt::format("'{}' is not declared; expected a variable of the module or the kernel", name));
    }

    std::uint16_t slot(const ptx::Operand& operand, Type type) {
        if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) return static_cast<std::uint16_t>(reg->index);
        if (const auto* predicate = std::get_if<ptx::PredicateRef>(&operand.value))
            return static_cast<std::uint16_t>(predicate->predicate.index);
        if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value))
            return constant(literal_bits(*immediate, type));
        if (const auto* symbol = std::get_if<ptx::SymbolRef>(&operand.value))
            return constant(symbol_address(symbol->name));
        if (std::holds_alternative<ptx::SinkRef>(operand.value)) return sink();
        if (const auto* address = std::get_if<ptx::AddressRef>(&operand.value);
            address != nullptr && address->base.index() == 2)
            return constant(symbol_address(std::get<ptx::SymbolRef>(address->base).name) +
                            static_cast<std::uint64_t>(address->offset));
        fail("this form of operand cannot be simulated");
    }

    /// Unused results go to a slot of their own.
    std::uint16_t sink() {
        if (sink_ == kNoSlot) {
            sink_ = program_.slots;
            program_.slots = slot_count(std::size_t{program_.slots} + 1);
        }
        return sink_;
    }

    /// The condition code register of the extended-precision instructions.
    std::uint16_t carry() {
        if (carry_ == kNoSlot) {
            carry_ = program_.slots;
            program_.slots = slot_count(std::size_t{program_.slots} + 1);
        }
        return carry_;
    }

    /// Fills Operation::waits and writes.
    void note_registers(Operation& op) const {
        const auto add = [&](auto& list, std::uint8_t& count, std::uint16_t slot) {
            const bool is_register = slot != kNoSlot && (slot < kernel_.registers.size() || slot == carry_);
            if (!is_register || std::find(list.begin(), list.begin() + count, slot) != list.begin() + count) return;
            list.at(count++) = slot;
        };
        const bool vector_result = op.kind == Kind::load || op.kind == Kind::texture || op.kind == Kind::arithmetic;
        for (const auto slot : op.source) add(op.waits, op.wait_count, slot);
        for (const auto slot : op.vector) add(op.waits, op.wait_count, slot);
        for (const auto slot : {op.destination, op.destination2, op.guard, op.members})
            add(op.waits, op.wait_count, slot);
        for (const auto slot : {op.destination, op.destination2}) add(op.writes, op.write_count, slot);
        if (vector_result)
            for (const auto slot : op.vector) add(op.writes, op.write_count, slot);
    }

    std::uint16_t cost_index(const ptx::Instruction& instruction) {
        const std::string key = ptx::mnemonic_of(instruction);
        const auto [entry, is_new] = costs_.try_emplace(key, static_cast<std::uint16_t>(program_.cost_keys.size()));
        if (is_new) program_.cost_keys.push_back(key);
        return entry->second;
    }

    Operation decode(const ptx::Instruction& instruction) {
        Operation op;
        op.kind = kind_of(instruction);
        op.opcode = instruction.opcode;
        op.type = instruction.type;
        op.space = instruction.space;
        op.line = instruction.line;
        op.flush = instruction.has("ftz");
        op.saturate = instruction.has("sat");
        op.cost = cost_index(instruction);
        if (instruction.guard) {
            op.guard = static_cast<std::uint16_t>(instruction.guard->predicate.index);
            op.guard_negated = instruction.guard->negated;
        }
        switch (op.kind) {
            case Kind::arithmetic: decode_arithmetic(instruction, op); break;
            case Kind::special: decode_special(instruction, op); break;
            case Kind::load:
            case Kind::store:
            case Kind::atomic: decode_memory(instruction, op); break;
            case Kind::texture: decode_texture(instruction, op); break;
            case Kind::branch: op.target = label(std::get<ptx::SymbolRef>(instruction.sources.at(0).value).name); break;
            case Kind::indexed_branch: decode_indexed_branch(instruction, op); break;
            case Kind::barrier: decode_barrier(instruction, op); break;
            case Kind::warp_barrier: op.members = slot(instruction.sources.at(0), Type::u32); break;
            case Kind::sleep: op.source[0] = slot(instruction.sources.at(0), Type::u32); break;
            case Kind::exit:
            case Kind::trap:
            case Kind::fence:
            case Kind::nothing: break;
        }
        return op;
    }

    std::uint32_t label(const std::string& name) const {
        const auto found = kernel_.labels.find(name);
        if (found == kernel_.labels.end()) fail(fmt::format("no label '{}' in this kernel", name));
        return static_cast<std::uint32_t>(found->second);
    }

    void decode_destinations(const ptx::Instruction& instruction, Operation& op) {
        if (instruction.destinations.empty()) fail("has no destination");
        op.destination = slot(instruction.destinations[0], instruction.type);
        if (instruction.destinations.size() > 1 &&
            !std::holds_alternative<ptx::SinkRef>(instruction.destinations[1].value))
            op.destination2 = slot(instruction.destinations[1], Type::pred);
    }

    void decode_sources(const ptx::Instruction& instruction, Operation& op) {
        if (instruction.sources.size() > op.source.size()) fail("has more operands than the simulator can execute");
        for (std::size_t i = 0; i < instruction.sources.size(); ++i) {
            const bool selected = instruction.opcode == Opcode::slct && i < 2;
            op.source[i] = slot(instruction.sources[i], selected ? instruction.type : instruction.source_type);
            if (const auto* predicate = std::get_if<ptx::PredicateRef>(&instruction.sources[i].value))
                op.negated_sources |= static_cast<std::uint8_t>(predicate->negated ? 1U << i : 0U);
        }
    }

    void decode_arithmetic(const ptx::Instruction& instruction, Operation& op) {
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
        const bool carries_in = instruction.opcode == Opcode::addc || instruction.opcode == Opcode::subc ||
                                instruction.opcode == Opcode::madc;
        if (carries_in) op.source[3] = carry();
        if (instruction.has("cc")) op.destination2 = carry();
        static constexpr Opcode kTogether[] = {Opcode::shfl, Opcode::vote, Opcode::match, Opcode::redux, Opcode::elect};
        if (instruction.has("sync") &&
            std::find(std::begin(kTogether), std::end(kTogether), instruction.opcode) != std::end(kTogether))
            op.members = slot(instruction.sources.back(), Type::u32);
    }

    ExecuteFunction function_of(const ptx::Instruction& instruction) const {
        if (instruction.opcode == Opcode::cvt) {
            static constexpr std::string_view kHeeded[] = {"rn",  "rz",  "rm",  "rp",  "rni",
                                                           "rzi", "rmi", "rpi", "ftz", "sat"};
            for (const auto& modifier : instruction.modifiers)
                if (std::find(std::begin(kHeeded), std::end(kHeeded), modifier) == std::end(kHeeded)) return nullptr;
            const bool nearest = !instruction.has("rz") && !instruction.has("rm") && !instruction.has("rp");
            if (auto* half = nearest ? half_conversion_of(instruction.type, instruction.source_type) : nullptr)
                return half;
            return conversion_of(instruction.type, instruction.source_type);
        }
        if (auto* half = half_meaning_of(instruction)) return half;
        if (auto* special = special_arithmetic_of(instruction)) return special;
        if (instruction.has("rz") || instruction.has("rm") || instruction.has("rp"))
            return directed_rounding_of(instruction);
        if (auto* plain = meaning_of(instruction)) return plain;
        return cross_lane_meaning_of(instruction);
    }

    static bool is_vector(const ptx::Instruction& mov) {
        return std::holds_alternative<ptx::VectorRef>(mov.destinations.at(0).value) ||
               std::holds_alternative<ptx::VectorRef>(mov.sources.at(0).value);
    }

    void decode_packing(const ptx::Instruction& instruction, Operation& op) {
        const bool unpack = std::holds_alternative<ptx::VectorRef>(instruction.destinations[0].value);
        const auto& parts =
            std::get<ptx::VectorRef>(unpack ? instruction.destinations[0].value : instruction.sources[0].value)
                .elements;
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

    /// The truth table must be a literal, as ptxas requires.
    void decode_lop3(const ptx::Instruction& instruction, Operation& op) {
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

    /// Generic addresses are global ones, except in the windows of shared and local memory.
    void decode_cvta(const ptx::Instruction& instruction, Operation& op) {
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

    void decode_special(const ptx::Instruction& instruction, Operation& op) {
        op.special = std::get<ptx::SpecialRegister>(instruction.sources.at(0).value);
        decode_destinations(instruction, op);
    }

    void set_address(const ptx::Operand& operand, Operation& op) {
        const auto* address = std::get_if<ptx::AddressRef>(&operand.value);
        if (address == nullptr) fail("expected an address in brackets");
        op.offset = address->offset;
        if (const auto* reg = std::get_if<ptx::Register>(&address->base)) {
            op.source[0] = static_cast<std::uint16_t>(reg->index);
        } else if (const auto* symbol = std::get_if<ptx::SymbolRef>(&address->base)) {
            op.source[0] =
                constant(op.space == Space::param ? parameter_offset(symbol->name) : symbol_address(symbol->name));
        } else {
            op.source[0] = constant(0);
        }
    }

    std::uint64_t parameter_offset(const std::string& name) const {
        for (const auto& parameter : program_.parameters)
            if (parameter.name == name) return parameter.offset;
        fail(fmt::format("no parameter '{}' in this kernel", name));
    }

    void set_vector(const ptx::Operand& operand, Operation& op) {
        const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
        op.elements = vector == nullptr ? 1 : static_cast<std::uint8_t>(vector->elements.size());
        if (op.elements > op.vector.size()) fail("has more elements than the simulator can execute");
        for (std::size_t i = 0; i < op.elements; ++i)
            op.vector[i] = slot(vector == nullptr ? operand : vector->elements[i], op.type);
    }

    void decode_memory(const ptx::Instruction& instruction, Operation& op) {
        if (op.space == Space::none) op.space = Space::generic;
        op.bytes = static_cast<std::uint8_t>(ptx::size_of(instruction.type).count());
        op.sign_extend = instruction.type == Type::s8 || instruction.type == Type::s16 || instruction.type == Type::s32;
        for (const auto* bypass : {"cg", "cv", "volatile", "relaxed", "acquire", "mmio"})
            op.bypass_near |= instruction.has(bypass);
        op.read_only = instruction.has("nc");
        if (instruction.opcode == Opcode::prefetch) {
            op.bytes = 1;
            op.elements = 0;
            op.bypass_near = instruction.has("L2");
            return set_address(instruction.sources.at(0), op);
        }
        // Other cache operators (.cs, .lu, evict_first, L2::64B, ...) are hints that a GPU may ignore, and this one
        // does.
        if (instruction.has("L1::no_allocate"))
            fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
        if (op.bytes == 0 || op.bytes > 8)
            fail(fmt::format("type of '{}' cannot be simulated", ptx::mnemonic_of(instruction)));
        set_address(instruction.sources.at(0), op);
        if (op.kind == Kind::load) {
            set_vector(instruction.destinations.at(0), op);
        } else if (op.kind == Kind::store) {
            set_vector(instruction.sources.at(1), op);
        } else {
            decode_atomic(instruction, op);
        }
    }

    void decode_atomic(const ptx::Instruction& instruction, Operation& op) {
        static constexpr std::string_view kAtomics[] = {"add", "min", "max", "exch", "cas",
                                                        "and", "or",  "xor", "inc",  "dec"};
        bool found = false;
        for (std::size_t i = 0; i < std::size(kAtomics); ++i)
            if (instruction.has(kAtomics[i])) {
                op.mode = static_cast<std::uint8_t>(i);
                found = true;
            }
        if (!found || op.bytes < 4 || op.elements != 1)
            fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
        for (std::size_t i = 1; i < instruction.sources.size(); ++i)
            op.source[i] = slot(instruction.sources[i], op.type);
        op.destination = instruction.destinations.empty() ? sink() : slot(instruction.destinations[0], op.type);
    }

    void decode_texture(const ptx::Instruction& instruction, Operation& op) {
        if (!instruction.has("1d")) fail("only tex.1d can be simulated");
        if (instruction.source_type != Type::s32) fail("only integer coordinates, .s32, can be simulated");
        set_vector(instruction.destinations.at(0), op);
        const auto* address = std::get_if<ptx::AddressRef>(&instruction.sources.at(0).value);
        const auto* reg = address == nullptr ? nullptr : std::get_if<ptx::Register>(&address->base);
        if (reg == nullptr) fail("expected a texture object in a register");
        op.source[0] = static_cast<std::uint16_t>(reg->index);
        const ptx::Operand* coordinate = &instruction.sources.at(1);
        if (const auto* vector = std::get_if<ptx::VectorRef>(&coordinate->value)) coordinate = &vector->elements.at(0);
        op.source[1] = slot(*coordinate, Type::s32);
        op.bytes = 4;
    }

    void decode_indexed_branch(const ptx::Instruction& instruction, Operation& op) {
        op.source[0] = slot(instruction.sources.at(0), Type::u32);
        const auto* list = std::get_if<ptx::SymbolRef>(&instruction.sources.at(1).value);
        const auto targets = list == nullptr ? kernel_.branch_targets.end() : kernel_.branch_targets.find(list->name);
        if (targets == kernel_.branch_targets.end()) fail("expected the name of a .branchtargets list");
        for (const auto& name : targets->second) op.targets.push_back(label(name));
    }

    void decode_barrier(const ptx::Instruction& instruction, Operation& op) {
        if (instruction.has("cluster"))
            fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
        op.mode = static_cast<std::uint8_t>(first_named(instruction, kBarrierModes).value_or(BarrierMode::sync));
        std::size_t plain = instruction.sources.size();
        if (instruction.has("red")) {
            decode_destinations(instruction, op);
            op.source[2] = slot(instruction.sources.at(--plain), Type::pred);
            if (const auto* predicate = std::get_if<ptx::PredicateRef>(&instruction.sources[plain].value);
                predicate != nullptr && predicate->negated)
                op.negated_sources |= 1U << 2;
        }
        for (std::size_t i = 0; i < plain; ++i) op.source[i] = slot(instruction.sources[i], Type::u32);
    }

    const ptx::Module& module_;
    const ptx::Kernel& kernel_;
    const SymbolTable& symbols_;
    const ptx::Instruction* at_ = nullptr;
    Program program_;
    std::map<std::uint64_t, std::uint16_t> constant_slots_;
    std::map<std::string, std::uint16_t> costs_;
    std::map<std::string, std::uint64_t> shared_;
    std::map<std::string, std::uint64_t> local_;
    std::uint16_t carry_ = kNoSlot;
    std::uint16_t sink_ = kNoSlot;
};

}  // namespace

Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolTable& symbols) {
    return Decoder(module, kernel, symbols).run();
}

}  // namespace gputomo::sim
