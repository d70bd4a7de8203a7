#include "sim/machine_code/program.hpp"

#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/warp.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operand;
using sass::OperandKind;
using sass::Operation;

enum class Signs : std::uint8_t { integer, single_precision, halves };

/// What a sign bit of a source negates follows from the notation of its row: only floats have absolute values, and only
/// halves have immediates of two halves.
Signs signs_of(const sass::Instruction& instruction) {
    const std::string_view operands = instruction.form->row->operands;
    if (operands.find(":h") != std::string_view::npos) return Signs::halves;
    return operands.find('|') != std::string_view::npos ? Signs::single_precision : Signs::integer;
}

void set_signs(Source& source, const Operand& operand, Signs signs, bool half_source) {
    source.negate = operand.negate;
    source.absolute = operand.absolute;
    source.invert = operand.invert;
    if (signs == Signs::integer) {
        if (operand.negate) source.flip = ~0U, source.plus = 1;
        if (operand.invert) source.flip = ~0U;
        return;
    }
    const std::uint32_t sign = signs == Signs::halves ? 0x80008000 : half_source ? 0x8000 : 0x80000000;
    if (operand.absolute) source.keep = ~sign;
    if (operand.negate) source.flip = sign;
}

bool is_value(const Operand& operand) {
    switch (operand.kind) {
        case OperandKind::reg:
        case OperandKind::uniform:
        case OperandKind::immediate:
        case OperandKind::f32:
        case OperandKind::f64:
        case OperandKind::f16x2: return true;
        case OperandKind::constant: return !operand.has_reg && !operand.has_uniform;
        default: return false;
    }
}

Source source_of(const Operand& operand, const sass::Instruction& instruction) {
    Source source;
    const bool half_source =
        instruction.has(Modifier::from_small_float) &&
        sass::text_of(Modifier::from_small_float, instruction.value(Modifier::from_small_float)).find("16") !=
            std::string_view::npos;
    const Signs signs = instruction.has(Modifier::narrow_function) ? Signs::halves : signs_of(instruction);
    set_signs(source, operand, signs, half_source);
    switch (operand.kind) {
        case OperandKind::reg:
            source.kind = operand.reg == sass::kZeroRegister ? Source::Kind::zero : Source::Kind::reg;
            source.reg = operand.reg;
            break;
        case OperandKind::uniform:
            source.kind = operand.uniform == sass::kZeroUniformRegister ? Source::Kind::zero : Source::Kind::uniform;
            source.reg = operand.uniform;
            break;
        case OperandKind::constant:
            source.kind = Source::Kind::constant;
            source.bank = operand.bank;
            source.offset = operand.value;
            break;
        case OperandKind::f64:
            source.kind = Source::Kind::immediate;
            source.high = static_cast<std::uint32_t>(operand.value);
            break;
        default:
            source.kind = Source::Kind::immediate;
            source.low = static_cast<std::uint32_t>(operand.value);
            source.high = operand.value < 0 ? ~0U : 0U;
            break;
    }
    return source;
}

Address address_of_operand(const Operand& operand, const sass::Instruction& instruction) {
    constexpr std::uint8_t kScales[] = {1, 4, 8, 16};
    Address address;
    address.reg = operand.has_reg ? operand.reg : sass::kZeroRegister;
    address.wide = operand.address_width == sass::AddressWidth::bits_64 ||
                   (operand.address_width == sass::AddressWidth::natural && instruction.value(Modifier::extended) != 0);
    address.has_uniform = operand.has_uniform && !operand.descriptor;
    address.uniform = operand.uniform;
    address.scale = kScales[instruction.value(Modifier::address_scale) & 3];
    address.offset = operand.value;
    return address;
}

constexpr std::size_t kNoMode = sass::Instruction::kMaxOperands;

/// The first operand that may be a truth table or a shift. An immediate before it is a source.
std::size_t first_mode(const sass::Instruction& instruction) {
    switch (instruction.operation) {
        case Operation::PLOP3:
        case Operation::UPLOP3: return 0;
        case Operation::LOP3:
        case Operation::ULOP3:
        case Operation::LEA:
        case Operation::ULEA: {
            const auto operands = instruction.operands();
            const auto last =
                std::ranges::find(operands.rbegin(), operands.rend(), OperandKind::immediate, &Operand::kind);
            return static_cast<std::size_t>(operands.rend() - last) - 1;
        }
        default: return kNoMode;
    }
}

bool loads_constant(const sass::Instruction& instruction) {
    return instruction.form->facts->what == sass::Class::constant;
}

void read_operands(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const sass::Form& form = *instruction.form;
    int predicates = 0, modes = 0;
    bool has_result = false;
    const std::size_t mode_from = first_mode(instruction);
    for (std::size_t i = 0; i < instruction.operands().size(); ++i) {
        const Operand& operand = instruction.operands()[i];
        if (operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_predicate) {
            const PredicateSource found{operand.reg, operand.kind == OperandKind::uniform_predicate, operand.invert};
            if (predicates++ < form.written_predicates)
                step.predicate_out[static_cast<std::size_t>(predicates - 1)] = found;
            else if (step.predicate_count < step.predicate.size())
                step.predicate[step.predicate_count++] = found;
        } else if (operand.kind == OperandKind::immediate && i >= mode_from) {
            step.mode |= static_cast<std::uint32_t>(operand.value) << (8 * modes++);
        } else if (operand.kind == OperandKind::memory ||
                   (operand.kind == OperandKind::constant && loads_constant(instruction))) {
            // A descriptor without an address is the cache policy of a bulk copy.
            if (operand.descriptor && !operand.has_reg) continue;
            // LDGSTS names the place in shared memory first.
            step.copy_to = step.address;
            step.address = address_of_operand(operand, instruction);
            step.bank = operand.bank;
        } else if (is_value(operand)) {
            if (form.writes_value && !has_result) {
                has_result = true;
                step.destination = {operand.kind == OperandKind::uniform ? operand.uniform : operand.reg,
                                    operand.kind == OperandKind::uniform};
            } else if (step.source_count < step.source.size()) {
                step.source[step.source_count++] = source_of(operand, instruction);
            }
        } else if (operand.kind == OperandKind::special) {
            step.special = operand.reg;
        } else if (operand.kind == OperandKind::convergence_barrier) {
            step.barrier = operand.reg;
        }
    }
}

Flow flow_of(const Step& step) {
    switch (step.instruction.operation) {
        case Operation::BRA: return Flow::branch;
        case Operation::BRX:
        case Operation::RET: return Flow::indirect_branch;
        case Operation::CALL: return step.source_count > 0 ? Flow::indirect_call : Flow::call;
        case Operation::EXIT: return Flow::exit;
        case Operation::BSSY: return Flow::begin_convergence;
        case Operation::BSYNC: return Flow::converge;
        case Operation::BREAK: return Flow::leave_convergence;
        case Operation::WARPSYNC: return Flow::warp_barrier;
        case Operation::YIELD: return Flow::yield;
        case Operation::BAR: return Flow::block_barrier;
        case Operation::UCGABAR_ARV: return Flow::cluster_arrive;
        case Operation::UCGABAR_WAIT: return Flow::cluster_wait;
        case Operation::BPT: return Flow::trap;
        default: return Flow::next;
    }
}

/// What depends on the compute capability. Constant bank 0 holds the descriptor of global memory and the parameters.
/// The first bytes of a block's shared memory belong to the system.
struct Layout {
    int sm = 0;
    std::int64_t descriptor = 0;
    std::int64_t parameters = 0;
    std::uint64_t system_shared = 0;
    std::int64_t shared_window = -1;      ///< where generic addresses of shared memory begin; -1: no constant says it
    bool has_grid_barrier = false;        ///< it is known where the address of a cooperative launch's barrier is
    bool has_parameters_address = false;  ///< constants have the generic addresses of the parameters and of the bank
};
constexpr Layout kLayouts[] = {
    {80, 0x118, 0x160, 0, kSharedWindowAt, false, false},
    {86, 0x118, 0x160, 0, kSharedWindowAt, false, false},
    {89, 0x118, 0x160, 0, kSharedWindowAt, false, false},
    {90, 0x208, 0x210, 1024, -1, true, true},
};

const Layout* layout_of(int sm) {
    const auto* const found = std::ranges::find(kLayouts, sm, &Layout::sm);
    return found == std::end(kLayouts) ? nullptr : found;
}

/// Words of constant bank 0 that a launch fills in before the parameters (run.cpp).
bool known_constant(const Layout& layout, std::int64_t offset) {
    constexpr std::int64_t kDimensionsEnd = 0x18, kLocalWindowAt = 0x20, kStackAt = 0x28, kAddressBytes = 8;
    return (offset >= 0 && offset < kDimensionsEnd) || (offset >= kLocalWindowAt && offset < kStackAt + 4) ||
           (offset >= layout.descriptor && offset < layout.descriptor + kAddressBytes) ||
           (layout.has_parameters_address &&
            ((offset >= kParametersAddressAt && offset < kParametersAddressAt + kAddressBytes) ||
             (offset >= kConstantsAddressAt && offset < kConstantsAddressAt + kAddressBytes))) ||
           (layout.has_parameters_address && offset >= kEnvironmentAt && offset < kEnvironmentEnd) ||
           (layout.has_parameters_address && ((offset >= kClusterAt && offset < kClusterEnd) ||
                                              (offset >= kClusterSizeAt && offset < kClusterSizeAt + 4))) ||
           (layout.has_parameters_address && ((offset >= kDynamicSharedAt && offset < kDynamicSharedAt + 4) ||
                                              (offset >= kSmCountAt && offset < kSmCountAt + 4))) ||
           (layout.shared_window >= 0 && offset >= layout.shared_window &&
            offset < layout.shared_window + kAddressBytes) ||
           offset >= layout.parameters;
}

/// Where constant bank 0 has the address of the barrier that all blocks of a cooperative launch share.
bool is_grid_barrier(const Operand& operand) {
    return operand.kind == OperandKind::constant && operand.bank == 0 && operand.value >= kGridBarrierUpper &&
           operand.value < kGridBarrierLower + 4;
}

bool is_sm_count(const Operand& operand) {
    return operand.kind == OperandKind::constant && operand.bank == 0 && operand.value == kSmCountAt;
}

/// Why the instruction is not executed; empty where it is.
std::string refusal_of(const Step& step, const Layout& layout) {
    const sass::Instruction& instruction = step.instruction;
    for (const Operand& operand : instruction.operands()) {
        const bool indexed = (operand.has_reg && operand.reg != sass::kZeroRegister) ||
                             (operand.has_uniform && operand.uniform != sass::kZeroUniformRegister);
        if (operand.kind != OperandKind::constant) continue;
        const bool added = operand.has_reg || operand.has_uniform;
        if ((!loads_constant(instruction) && added) || operand.descriptor || operand.bank >= 8)
            return "its constant bank is not simulated";
        if (operand.bank == 0 && !indexed && !known_constant(layout, operand.value) &&
            !(layout.has_grid_barrier && is_grid_barrier(operand)))
            return fmt::format("what the driver keeps at c[0x0][{:#x}] is not known", operand.value);
    }
    const auto opcode = instruction.form->row->opcode;
    if ((opcode == 0x025 || opcode == 0x027) && step.source_count > 2 &&
        step.source[2].kind == Source::Kind::immediate && step.source[2].high != 0)
        return "a negative immediate as 64-bit addend is not simulated";
    return {};
}

Execute execution_of(Step& step) {
    for (const auto find :
         {integer_execution, float_execution, half_execution, conversion_execution, move_execution, memory_execution,
          matrix_execution, warpgroup_execution, register_count_execution, texture_execution, barrier_execution,
          bulk_copy_execution, tensor_copy_execution, cluster_execution})
        if (const Execute found = find(step)) return found;
    return nullptr;
}

/// Why a form without a meaning has none.
std::string_view why_not_executed(const sass::Instruction& instruction) {
    constexpr unsigned kOutOfBounds = 3;  // Modifier::half_denormals
    switch (instruction.operation) {
        case Operation::HGMMA:
        case Operation::IGMMA:
        case Operation::QGMMA:
        case Operation::BGMMA: return "no compiler is known to emit these types for this shape";
        case Operation::UBLKRED: return "this reduction does not exist for the type of its elements";
        case Operation::TEX:
        case Operation::TLD:
        case Operation::TLD4:
        case Operation::TXD:
        case Operation::TXQ: return "this kind of texture fetch is not simulated";
        case Operation::SULD:
        case Operation::SUST:
        case Operation::SURED: return "surfaces are not simulated";
        case Operation::RPCMOV:
        case Operation::PMTRIG:
        case Operation::CLMAD: return "no compiler is known to emit it, and what it computes was not compared";
        case Operation::HFMA2:
            if (instruction.value(Modifier::half_denormals) == kOutOfBounds)
                return "which number counts as out of bounds is not known";
            break;
        case Operation::F2FP: return "what it merges, or what it gives for a number that is too large, is not known";
        case Operation::F2IP: return "how it packs several bytes is not known";
        case Operation::HMMA:
            if (instruction.form->row->modifiers.find(".SP") != std::string_view::npos)
                return "products of sparse matrices are not simulated";
            break;
        case Operation::S2R:
        case Operation::S2UR:
        case Operation::CS2R: return "what this special register holds is not known";
        default: break;
    }
    return "these modifiers or operands are not executed yet";
}

void prepare_step(Step& step, std::uint64_t address, const Layout& layout) {
    const sass::Instruction& instruction = step.instruction;
    step.guard = instruction.guard;
    step.uniform = instruction.form->uniform_guard;
    if (instruction.form->facts->what == sass::Class::texture)
        read_fetch_operands(step);
    else
        read_operands(step);
    step.flow = flow_of(step);
    const bool is_absolute = instruction.form->row->modifiers.find(".ABS") != std::string_view::npos;
    for (const Operand& operand : instruction.operands())
        if (operand.kind == OperandKind::target || operand.kind == OperandKind::displacement)
            step.target =
                static_cast<std::uint64_t>(operand.value) + (is_absolute ? 0 : address + sass::kInstructionBytes);
    step.refusal = refusal_of(step, layout);
    if (step.refusal.empty() && step.flow == Flow::next) {
        step.execute = execution_of(step);
        if (step.execute == nullptr) step.refusal = why_not_executed(instruction);
    }
    if (!step.refusal.empty()) step.flow = Flow::refused;
}

std::vector<std::uint32_t> words_of(std::span<const std::byte> bytes) {
    std::vector<std::uint32_t> words((bytes.size() + 3) / 4);
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

constexpr std::uint32_t kAddress64 = 2;  ///< R_CUDA_64

/// The address of a function outside the kernel's module. If the system does not provide it, a call of it is
/// refused.
std::uint64_t system_address(MachineProgram& program, const std::string& function) {
    auto found = std::ranges::find(program.system_functions, function);
    if (found == program.system_functions.end())
        found = program.system_functions.insert(program.system_functions.end(), function);
    return kSystemCode + sass::kInstructionBytes * static_cast<std::uint64_t>(found - program.system_functions.begin());
}

/// Writes addresses into a constant bank. Code of the kernel has the addresses that its instructions have in the cubin.
void relocate(const sass::Cubin& cubin, const std::string& section, MachineProgram& program,
              std::vector<std::uint32_t>& words, const SectionAddress& address_of) {
    for (const auto& relocation : cubin.relocations(section)) {
        constexpr std::uint64_t kBytes = 8;
        const std::uint64_t size = 4 * words.size();
        if (relocation.type != kAddress64 || size < kBytes || relocation.offset > size - kBytes)
            throw InputError(
                fmt::format("cubin: {} at {:#x}: relocation type {} for '{}' is not known; expected the "
                            "64-bit address of a variable or function",
                            section, relocation.offset, relocation.type, relocation.symbol));
        const bool own = relocation.symbol_section == ".text." + program.kernel;
        const bool elsewhere =
            relocation.symbol_section.empty() || (!own && relocation.symbol_section.starts_with(".text"));
        const std::uint64_t address = elsewhere ? system_address(program, relocation.symbol)
                                      : own     ? relocation.value
                                                : address_of(relocation.symbol_section) + relocation.value;
        std::memcpy(reinterpret_cast<std::byte*>(words.data()) + relocation.offset, &address, sizeof address);
    }
}

/// Words of the widest operand: the first matrix of DMMA.
constexpr std::size_t kWidestOperand = 16;

/// Whether a call may need more stack than the compiler knows: its target is in a register, or lies before the
/// call, as in a recursion.
bool calls_unknown_depth(const MachineProgram& program) {
    for (std::size_t at = 0; at < program.steps.size(); ++at) {
        const Step& step = program.steps[at];
        if (step.instruction.operation != Operation::CALL) continue;
        if (step.source_count > 0 || step.target <= at * sass::kInstructionBytes) return true;
    }
    return false;
}

/// What CUDA gives each thread where the program does not ask for more (cudaLimitStackSize).
constexpr std::uint64_t kDefaultStack = 1024;
}  // namespace

bool executes(int sm) { return layout_of(sm) != nullptr; }

MachineProgram prepare(const sass::Cubin& cubin, std::string_view kernel, const SectionAddress& address_of) {
    MachineProgram program;
    program.kernel = kernel;
    const auto text = cubin.text(kernel);
    program.sm = cubin.sm().value_or(0);
    const Layout* const layout = layout_of(program.sm);
    if (layout == nullptr)
        throw InputError(
            fmt::format("kernel '{}': its machine code is for sm_{}, whose encoding or constant banks are not known; "
                        "expected machine code for sm_80, sm_86, sm_89 or sm_90, or PTX",
                        kernel, program.sm));
    const sass::KernelInfo info = sass::kernel_info(cubin, kernel);
    program.parameter_offset = info.parameter_offset;
    program.parameter_bytes = info.parameter_bytes;
    program.parameters = info.parameters;
    program.max_threads = info.max_threads;
    program.cluster = info.cluster;
    const auto& cluster = program.cluster;
    if (cluster[0] != 0 && (cluster[1] == 0 || cluster[2] == 0))
        throw InputError(
            fmt::format("kernel '{}': its clusters have {}x{}x{} blocks; expected 1 or more in each direction", kernel,
                        cluster[0], cluster[1], cluster[2]));
    constexpr std::uint64_t kMostStack =
        512 * 1024;  // bytes of local memory of a thread, in the limits of the CUDA guide
    if (info.stack_bytes > kMostStack)
        throw InputError(
            fmt::format("kernel '{}': its threads need a stack of {} bytes; expected at most {}, as much "
                        "local memory as a GPU gives a thread",
                        kernel, info.stack_bytes, kMostStack));
    const auto* const shared = cubin.section(fmt::format(".nv.shared.{}", kernel));
    program.system_shared_bytes = layout->system_shared;
    program.shared_bytes = std::max(layout->system_shared, shared == nullptr ? 0 : shared->size);
    for (std::size_t bank = 0; bank < program.constants.size(); ++bank) {
        for (const std::string& name :
             {fmt::format(".nv.constant{}", bank), fmt::format(".nv.constant{}.{}", bank, kernel)}) {
            const auto* const section = cubin.section(name);
            if (section == nullptr) continue;
            program.constants[bank] = words_of(section->bytes);
            relocate(cubin, name, program, program.constants[bank], address_of);
        }
    }
    const std::uint64_t bank_bytes = std::uint64_t{program.parameter_offset} + program.parameter_bytes;
    program.constants[0].resize(std::max<std::size_t>(program.constants[0].size(), (bank_bytes + 3) / 4));
    program.steps.resize(text.bytes.size() / sass::kInstructionBytes);
    int named = 0;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        Step& step = program.steps[i];
        const std::uint64_t address = i * sass::kInstructionBytes;
        try {
            step.instruction = sass::decode(sass::word_at(text.bytes, address), program.sm, address);
            prepare_step(step, address, *layout);
        } catch (const InputError& error) {
            step.flow = Flow::refused;
            step.refusal = error.what();
        }
        program.uses_sm_count |= std::ranges::any_of(step.instruction.operands(), is_sm_count);
        program.uses_grid_barrier |=
            layout->has_grid_barrier && std::ranges::any_of(step.instruction.operands(), is_grid_barrier);
        const auto operands = step.instruction.operands();
        for (std::size_t slot = 0; slot < operands.size(); ++slot)
            if ((operands[slot].kind == OperandKind::reg || operands[slot].has_reg) &&
                operands[slot].reg != sass::kZeroRegister)
                named = std::max(named, operands[slot].reg + warpgroup::registers_of_operand(step.instruction, slot));
    }
    // Where warps ask for more than they begin with, the compiler says how many that is.
    const bool asks_for_more = std::ranges::any_of(program.steps, [](const Step& step) {
        return step.instruction.form != nullptr && step.instruction.operation == Operation::USETMAXREG;
    });
    program.registers = asks_for_more && info.registers > 0 ? info.registers : std::max(info.registers, named);
    program.register_rows = static_cast<std::size_t>(std::max(program.registers, named)) + kWidestOperand;
    // Calls through pointers and recursion may need more than the compiler can tell.
    program.local_bytes = (info.stack_bytes + (calls_unknown_depth(program) ? kDefaultStack : 0) + 15) / 16 * 16;
    for (const auto& relocation : cubin.relocations(fmt::format(".text.{}", kernel))) {
        const std::size_t at = relocation.offset / sass::kInstructionBytes;
        if (at >= program.steps.size()) continue;
        program.steps[at].flow = Flow::refused;
        program.steps[at].refusal = fmt::format("it needs the address of '{}' (relocation type {}), which is not known",
                                                relocation.symbol, relocation.type);
    }
    return program;
}

bool multiplies_matrices(const MachineProgram& program) {
    return std::ranges::any_of(program.steps, [](const Step& step) {
        return step.instruction.form != nullptr && step.instruction.form->facts->unit == sass::Unit::tensor;
    });
}

std::string text_of(const MachineProgram& program, std::size_t step) {
    const std::uint64_t address = step * sass::kInstructionBytes;
    const auto& instruction = program.steps[step].instruction;
    return fmt::format("{} at {:#x}",
                       instruction.form == nullptr ? "an unknown instruction" : sass::text_of(instruction, address),
                       address);
}

}  // namespace gputomo::sim::machine_code
