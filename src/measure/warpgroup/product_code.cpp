#include "measure/warpgroup/product_code.hpp"

#include "measure/warpgroup/product_container.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sass/form.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>

namespace gputomo::measure {
namespace {

using sass::Control;
using sass::Instruction;
using sass::Modifier;
using sass::Operation;
using sass::Word;

// Instructions as ptxas encodes them; their registers and control fields are replaced.
constexpr Word kThread{0x0000000000007919, 0x000e2e0000002100};        // S2R R0, SR_TID.X
constexpr Word kArray{0x0000040000047882, 0x000fc40000000000};         // UMOV UR4, 0x400
constexpr Word kMask{0x00008a0000057ab9, 0x000fe20000000800};          // ULDC UR5, c[0x0][0x228]
constexpr Word kGlobal{0x0000820000067ab9, 0x000fe20000000a00};        // ULDC.64 UR6, c[0x0][0x208]
constexpr Word kDescriptorA{0x0000860000087ab9, 0x000fe20000000a00};   // ULDC.64 UR8, c[0x0][0x218]
constexpr Word kDescriptorB{0x00008800000a7ab9, 0x000fe20000000a00};   // ULDC.64 UR10, c[0x0][0x220]
constexpr Word kOutput{0x00008400ff047b82, 0x000e620000000a00};        // LDC.64 R4, c[0x0][0x210]
constexpr Word kAdd{0x0000000704127210, 0x000fe40007ffe80a};           // IADD3 R18, R4, R7, -R10
constexpr Word kAddNumber{0x0000008000007836, 0x000fe40000000000};     // VIADD R0, R0, 0x80
constexpr Word kHashFirst{0x9e3779b100027824, 0x001fca00078e02ff};     // IMAD R2, R0, -0x61c8864f, RZ
constexpr Word kShift{0x0000000fff037819, 0x000fc80000011602};         // SHF.R.U32.HI R3, RZ, 0xf, R2
constexpr Word kXor{0x0000000302037212, 0x000fe400078e3cff};           // LOP3.LUT R3, R2, R3, RZ, 0x3c, !PT
constexpr Word kHashSecond{0x85ebca6b03037824, 0x000fc600078e02ff};    // IMAD R3, R3, -0x7a143595, RZ
constexpr Word kAndMask{0x0000000503037c12, 0x000fca000f8ec0ff};       // LOP3.LUT R3, R3, UR5, RZ, 0xc0, !PT
constexpr Word kAddress{0x0000000400027c11, 0x040fe2000f8e10ff};       // LEA R2, R0, UR4, 0x2
constexpr Word kStoreShared{0x0000000302007388, 0x0001ec0000000800};   // STS [R2], R3
constexpr Word kLoadShared{0x0002000002047984, 0x0004e20000000800};    // LDS R4, [R2+0x200]
constexpr Word kReached{0x000010000000780c, 0x000fe40003f06070};       // ISETP.GE.U32.AND P0, PT, R0, 0x1000, PT
constexpr Word kBranch{0x0000000000388947, 0x000fea0003800000};        // @!P0 BRA
constexpr Word kFence{0x00000000000073c6, 0x000e620000000000};         // FENCE.VIEW.ASYNC.S
constexpr Word kBlockBarrier{0x0000000000007b1d, 0x000fec0000010000};  // BAR.SYNC.DEFER_BLOCKING 0x0
constexpr Word kOwnResult{0x0000000409047825, 0x002fc600078e0004};     // IMAD.WIDE.U32 R4, R9, 0x4, R4
constexpr Word kClock{0x0000000000037805, 0x000fe20000005000};         // CS2R.32 R3, SR_CLOCKLO
constexpr Word kArrive{0x00000000000079c5, 0x000fcc0000000000};        // WARPGROUP.ARRIVE
constexpr Word kWait{0x00008000000079c5, 0x000fe40000010000};          // WARPGROUP.DEPBAR.LE gsb0, 0x0
constexpr Word kStore{0x0000000304007986, 0x000fe2000c101906};         // STG.E desc[UR6][R4.64], R3
constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};          // EXIT
constexpr Word kNothing{0x0000000000007918, 0x000fc00000000000};       // NOP

constexpr Control kLongest{.stall = 15};
constexpr std::uint8_t kZero = sass::kZeroRegister;

/// Registers: accumulators and A stand where ptxas puts them.
constexpr std::uint8_t kSums = 24, kRowsOfA = 152, kMetadata = 156;
constexpr std::uint8_t kUniformOfA = 8;
/// Static shared memory begins behind the system's 1024 bytes.
constexpr int kArrayWords = 4096, kSystemBytes = 1024, kBytesOfA = 2048;

/// Metadata of a sparse A: of each group of elements, the first ones are there.
constexpr std::int64_t kFirstElements = 0x44444444;

constexpr int kSm = 90;

Word changed(const Word& word, const Control& control, const std::function<void(Instruction&)>& change) {
    auto instruction = sass::decode(word, kSm, 0);
    instruction.control = control;
    change(instruction);
    return sass::encode(instruction);
}

/// The instruction with other registers, in the order of its operands.
Word with(const Word& word, std::initializer_list<std::uint8_t> registers, const Control& control = kLongest) {
    return changed(word, control, [&](Instruction& instruction) {
        const auto* next = registers.begin();
        for (sass::Operand& operand : instruction.operand_store)
            if (operand.kind == sass::OperandKind::reg && next != registers.end()) {
                operand.reg = *next++;
                operand.reuse = false;
            }
    });
}

/// The instruction with another immediate number.
Word with_number(const Word& word, std::int64_t number) {
    return changed(word, kLongest, [&](Instruction& instruction) {
        for (sass::Operand& operand : instruction.operand_store)
            if (operand.kind == sass::OperandKind::immediate) operand.value = number;
    });
}

struct Types {
    std::string_view name;
    int depth;
    Operation operation;
    std::string_view sum, a, b;  ///< texts of the modifiers
};
constexpr std::array kTypes{
    Types{"f32.f16.f16", 16, Operation::HGMMA, "F32", "", ""},
    Types{"f16.f16.f16", 16, Operation::HGMMA, "F16", "", ""},
    Types{"f32.bf16.bf16", 16, Operation::HGMMA, "F32", "BF16", "BF16"},
    Types{"f32.tf32.tf32", 8, Operation::HGMMA, "F32", "TF32", "TF32"},
    Types{"f32.e4m3.e4m3", 32, Operation::QGMMA, "F32", "E4M3", "E4M3"},
    Types{"s32.s8.s8", 32, Operation::IGMMA, "", "S8", "S8"},
    Types{"s32.b1.b1", 256, Operation::BGMMA, "", "", ""},
};

const Types& types_of(const ProductShape& shape) {
    const auto* const found = std::ranges::find(kTypes, shape.types, &Types::name);
    if (found == kTypes.end())
        throw InputError(fmt::format("products of the types {} cannot be timed; expected one of {}", shape.types,
                                     fmt::join(product_types(), ", ")));
    return *found;
}

int depth_of(const ProductShape& shape) { return types_of(shape).depth * (shape.sparse ? 2 : 1); }

/// The text that a modifier has to have.
std::string wanted(Modifier modifier, const Types& types, const ProductShape& shape) {
    switch (modifier) {
        case Modifier::accumulator: return std::string(types.sum);
        case Modifier::multiplicand:
        case Modifier::byte_float_a:
        case Modifier::integer_a: return std::string(types.a);
        case Modifier::byte_float_b:
        case Modifier::integer_b: return std::string(types.b);
        case Modifier::warpgroup_shape:
        case Modifier::warpgroup_byte_shape:
        case Modifier::warpgroup_integer_shape:
        case Modifier::warpgroup_bit_shape:
        case Modifier::sparse_group_shape:
        case Modifier::sparse_byte_shape:
        case Modifier::sparse_integer_shape: return fmt::format("64x{}x{}", shape.columns, depth_of(shape));
        default: return {};
    }
}

std::uint8_t value_with(Modifier modifier, std::string_view text) {
    for (unsigned value = 0; value < 1U << sass::width_of(modifier); ++value)
        if (sass::text_of(modifier, value) == text) return static_cast<std::uint8_t>(value);
    throw InputError(fmt::format("no product of a warp group has {} '{}'", sass::name_of(modifier), text));
}

const sass::Form& form_of(const ProductShape& shape, bool commits) {
    const Operation operation = types_of(shape).operation;
    for (const sass::Form& form : sass::all_forms()) {
        if (form.operation != operation) continue;
        const bool sparse = form.row->modifiers.find(".SP") != std::string_view::npos;
        const bool registers = form.slots[1].kind == sass::OperandKind::reg;
        const bool group = form.slots.back().kind == sass::OperandKind::group_barrier;
        if (sparse == shape.sparse && registers == shape.a_in_registers && group == commits) return form;
    }
    throw InputError(
        fmt::format("the instruction table has no {}{}", sass::name_of(operation), shape.sparse ? ".SP" : ""));
}

Instruction product(const ProductShape& shape, bool commits) {
    const Types& types = types_of(shape);
    const sass::Form& form = form_of(shape, commits);
    Instruction instruction;
    instruction.form = &form;
    instruction.operation = form.operation;
    // As ptxas sets it.
    instruction.control = {.stall = static_cast<std::uint8_t>(commits ? 3 : 4), .stay = true};
    for (std::size_t i = 0; i < form.modifiers.size(); ++i) {
        const Modifier modifier = form.modifiers[i].modifier;
        instruction.modifier_values[i] = value_with(modifier, wanted(modifier, types, shape));
    }
    instruction.operand_count = static_cast<std::uint8_t>(form.slots.size());
    // Operands: accumulators, A in registers, descriptors, accumulators, and further ones.
    const std::size_t a = shape.a_in_registers ? 1 : 0, sums_read = 2 + a;
    for (std::size_t i = 0; i < form.slots.size(); ++i) {
        sass::Operand& operand = instruction.operand_store[i];
        operand.kind = form.slots[i].kind;
        if (operand.kind == sass::OperandKind::reg)
            operand.reg = i > sums_read ? kMetadata : i > 0 && i == a ? kRowsOfA : kSums;
        else if (operand.kind == sass::OperandKind::matrix_descriptor)
            operand.uniform = kUniformOfA;
        else if (operand.kind == sass::OperandKind::uniform_predicate)
            operand.reg = sass::kTruePredicate;
        else
            operand.reg = 0;  // the group; the sparsity selector is 0, too
    }
    return instruction;
}

/// A branch of the instruction at `from` to that at `to`.
Word branch_between(std::size_t from, std::size_t to) {
    return changed(kBranch, kLongest, [&](Instruction& instruction) {
        const auto distance = static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from + 1);
        for (sass::Operand& operand : instruction.operand_store)
            if (operand.kind == sass::OperandKind::target) operand.value = distance * sass::kInstructionBytes;
    });
}

/// A branch back to the instruction `to`, from the end of the code.
Word branch_to(const std::vector<Word>& code, std::size_t to) { return branch_between(code.size(), to); }

/// Fills shared memory with random words, of which a mask keeps some bits. R0: number of the thread.
void append_fill(std::vector<Word>& code) {
    code.push_back(with(kAdd, {1, 0, kZero, kZero}));
    const std::size_t top = code.size();
    code.push_back(with(kHashFirst, {2, 1, kZero}, {.stall = 15, .wait = 8}));
    code.push_back(with(kShift, {3, kZero, 2}));
    code.push_back(with(kXor, {3, 2, 3, kZero}));
    code.push_back(with(kHashSecond, {3, 3, kZero}));
    code.push_back(with(kAndMask, {3, 3, kZero}));
    code.push_back(with(kAddress, {2, 1}));
    code.push_back(with(kStoreShared, {3}, {.stall = 2, .read_barrier = 3}));
    code.push_back(with(kAddNumber, {1, 1}));
    code.push_back(changed(with_number(kReached, kArrayWords), kLongest,
                           [](Instruction& instruction) { instruction.operand_store[2].reg = 1; }));
    code.push_back(branch_to(code, top));
    code.push_back(with(kFence, {}, {.stall = 15, .write_barrier = 1, .wait = 8}));
    code.push_back(with(kBlockBarrier, {}, {.stall = 15, .wait = 2}));
}

/// The cubin of ptxas with this code in place of its own, and NOPs behind it.
std::vector<std::byte> in_container(const std::vector<Word>& code) {
    std::vector<std::byte> cubin(kProductContainer.size() / 2);
    for (std::size_t i = 0; i < cubin.size(); ++i) {
        unsigned value = 0;
        std::from_chars(kProductContainer.data() + 2 * i, kProductContainer.data() + 2 * i + 2, value, 16);
        cubin[i] = static_cast<std::byte>(value);
    }
    const auto text = sass::Cubin(cubin).text(kProductKernel);
    const std::size_t room = text.bytes.size() / sass::kInstructionBytes, offset = text.offset;
    if (code.size() > room)
        throw InputError(fmt::format("{} instructions do not fit into the kernel that times products; expected {}",
                                     code.size(), room));
    for (std::size_t i = 0; i < room; ++i) {
        const Word& word = i < code.size() ? code[i] : kNothing;
        std::memcpy(&cubin[offset + i * sass::kInstructionBytes], &word.low, sizeof word.low);
        std::memcpy(&cubin[offset + i * sass::kInstructionBytes + sizeof word.low], &word.high, sizeof word.high);
    }
    return cubin;
}

/// R0: number of the thread, R4: where it writes its first cycles. Shared memory is filled.
std::vector<Word> beginning() {
    std::vector<Word> code{with(kThread, {0}, {.stall = 15, .write_barrier = 0}),
                           with(kArray, {}),
                           with(kMask, {}),
                           with(kGlobal, {}),
                           with(kDescriptorA, {}),
                           with(kDescriptorB, {}),
                           with(kOutput, {4}, {.stall = 15, .write_barrier = 1}),
                           with(kOwnResult, {4, 0, 4}, {.stall = 15, .wait = 3})};
    append_fill(code);
    return code;
}

/// Writes the cycles since the clock in R10. R7: threads of the block.
void append_result(std::vector<Word>& code) {
    code.push_back(with(kClock, {11}));
    code.push_back(with(kAdd, {12, 11, kZero, 10}));
    code.push_back(with(kStore, {12}, {.stall = 2, .read_barrier = 3}));
    code.push_back(with(kOwnResult, {4, 7, 4}, {.stall = 15, .wait = 8}));
}

/// R6 counts the rounds.
void append_rounds(std::vector<Word>& code, std::size_t top) {
    code.push_back(with_number(with(kAddNumber, {6, 6}), 1));
    code.push_back(changed(with_number(kReached, kProductRounds), kLongest,
                           [](Instruction& instruction) { instruction.operand_store[2].reg = 6; }));
    code.push_back(branch_to(code, top));
    code.push_back(kExit);
}

/// Multiplies integers; no instruction waits for another one's result.
void append_arithmetic(std::vector<Word>& code, int count) {
    constexpr std::uint8_t kFirst = 13, kResults = 8;
    for (int i = 0; i < count; ++i)
        code.push_back(
            with(kHashFirst, {static_cast<std::uint8_t>(kFirst + i % kResults), 1, kZero}, {.stall = 2, .stay = true}));
}

}  // namespace

const std::vector<std::string>& product_types() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found;
        for (const Types& types : kTypes) found.emplace_back(types.name);
        return found;
    }();
    return names;
}

const std::vector<std::string>& sparse_product_types() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found;
        for (const Types& types : kTypes)
            if (types.operation != Operation::BGMMA) found.emplace_back(types.name);
        return found;
    }();
    return names;
}

std::string operation_of(const ProductShape& shape) {
    return fmt::format("wgmma.{}m64n{}k{}.{}{}", shape.sparse ? "sp." : "", shape.columns, depth_of(shape), shape.types,
                       shape.a_in_registers ? ".registers" : "");
}

std::string mnemonic_of(const ProductShape& shape) { return sass::mnemonic_of(product(shape, true)); }

std::vector<std::byte> product_cubin(const ProductShape& shape, int count) {
    std::vector<Word> code = beginning();
    code.push_back(with(kAddress, {2, 0}));
    for (std::uint8_t i = 0; i < 4; ++i)
        code.push_back(with(kLoadShared, {static_cast<std::uint8_t>(kRowsOfA + i)},
                            {.stall = 2, .write_barrier = 2, .read_barrier = 3}));
    code.push_back(with(kAddNumber, {7, kZero}, {.stall = 15, .wait = 12}));  // R7: threads
    if (shape.sparse) code.push_back(with_number(with(kAddNumber, {kMetadata, kZero}), kFirstElements));
    code.push_back(with(kAdd, {6, kZero, kZero, kZero}));  // R6: rounds so far
    const std::size_t top = code.size();
    code.push_back(with(kClock, {10}, {.stall = 15, .wait = 8}));
    code.push_back(with(kArrive, {}, {.stall = 6}));
    for (int i = 0; i < count; ++i) code.push_back(sass::encode(product(shape, i + 1 == count)));
    code.push_back(with(kWait, {}, {.stall = kWaitStall, .stay = true}));
    append_result(code);
    append_rounds(code, top);
    return in_container(code);
}

std::vector<std::byte> beside_cubin(int count) {
    // The first instructions are executed before the products have begun.
    constexpr int kBefore = 16;
    const ProductShape shape{"f32.f16.f16", 256, false};
    std::vector<Word> code = beginning();
    code.push_back(with_number(with(kAddNumber, {7, kZero}), kBesideThreads));
    code.push_back(with(kAdd, {6, kZero, kZero, kZero}));
    code.push_back(with_number(kReached, kProductThreads));
    const std::size_t branch = code.size();
    code.push_back(kNothing);
    const std::size_t arithmetic = code.size();
    code.push_back(with(kBlockBarrier, {}, {.stall = 15, .wait = 8}));
    append_arithmetic(code, kBefore);
    code.push_back(with(kClock, {10}, {.stall = 2, .stay = true}));
    append_arithmetic(code, kBesideInstructions);
    append_result(code);
    append_rounds(code, arithmetic);
    const std::size_t products = code.size();
    code.push_back(with(kBlockBarrier, {}));
    code.push_back(with(kArrive, {}, {.stall = 6}));
    for (int i = 0; i < count; ++i) code.push_back(sass::encode(product(shape, i + 1 == count)));
    code.push_back(with(kWait, {}, {.stall = kWaitStall, .stay = true}));
    append_rounds(code, products);
    code[branch] = branch_between(branch, products);
    return in_container(code);
}

namespace {

/// Eight rows of 16 bytes each lie together; their groups follow one another, first along K.
constexpr std::uint64_t descriptor_at(std::uint64_t address) {
    constexpr std::uint64_t kUnit = 16, kLeading = 128, kStride = 256;
    return address / kUnit | (kLeading / kUnit) << 16 | (kStride / kUnit) << 32;
}

}  // namespace

std::uint64_t product_descriptor_a() { return descriptor_at(kSystemBytes); }
std::uint64_t product_descriptor_b() { return descriptor_at(kSystemBytes + kBytesOfA); }

}  // namespace gputomo::measure
