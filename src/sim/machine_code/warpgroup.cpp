// Matrix products of a warp group, four warps: HGMMA, QGMMA, IGMMA and BGMMA, and what orders them. USETMAXREG, which
// moves registers between warp groups.
//
// Warp w of the group multiplies rows 16 w to 16 w + 15 of A by all of B. Both are in shared memory, or the rows of A
// in the warp's registers. The product is there when the instruction has issued. On a GPU, it is there after
// WARPGROUP.DEPBAR only.
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/mbarrier.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/warp.hpp"
#include "sim/machine_code/warpgroup_arithmetic.hpp"
#include "sim/machine_code/warpgroup_operands.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace gputomo::sim::machine_code::warpgroup {
namespace {

using sass::Modifier;
using sass::Operation;

constexpr std::uint32_t kWarpsOfGroup = 4, kRowsOfWarp = 16, kChunkWords = kChunkBytes / 4;
/// A row of A has two chunks. So has a column of B, or four where A is sparse.
constexpr std::uint32_t kChunks = 2, kMostChunks = 4;
using Words = std::array<std::uint32_t, kMostChunks * kChunkWords>;

/// A product, packed into Step::mode.
struct Product {
    std::uint32_t columns = 8;
    Element a = Element::f16, b = Element::f16;
    Sum sum = Sum::f32;
    bool saturates = false, transposes_a = false, transposes_b = false, negates_a = false, negates_b = false;
    bool a_in_registers = false, sparse = false;
    /// Two of the four lanes that share a row of a sparse A hold its metadata: the first ones (0) or the last ones (1).
    std::uint32_t selector = 0;
    [[nodiscard]] std::uint32_t chunks_of_b() const { return sparse ? kMostChunks : kChunks; }
};

std::uint32_t packed(const Product& product) {
    return product.columns | static_cast<std::uint32_t>(product.a) << 9 | static_cast<std::uint32_t>(product.b) << 13 |
           static_cast<std::uint32_t>(product.sum) << 17 | static_cast<std::uint32_t>(product.saturates) << 19 |
           static_cast<std::uint32_t>(product.transposes_a) << 20 |
           static_cast<std::uint32_t>(product.transposes_b) << 21 |
           static_cast<std::uint32_t>(product.negates_a) << 22 | static_cast<std::uint32_t>(product.negates_b) << 23 |
           static_cast<std::uint32_t>(product.a_in_registers) << 24 | static_cast<std::uint32_t>(product.sparse) << 25 |
           product.selector << 26;
}

Product unpacked(std::uint32_t mode) {
    const auto flag = [mode](int bit) { return (mode >> bit & 1) != 0; };
    return {.columns = mode & 0x1FF,
            .a = static_cast<Element>(mode >> 9 & 0xF),
            .b = static_cast<Element>(mode >> 13 & 0xF),
            .sum = static_cast<Sum>(mode >> 17 & 3),
            .saturates = flag(19),
            .transposes_a = flag(20),
            .transposes_b = flag(21),
            .negates_a = flag(22),
            .negates_b = flag(23),
            .a_in_registers = flag(24),
            .sparse = flag(25),
            .selector = mode >> 26 & 1};
}

/// The block's shared memory as matrix descriptors address it.
class SharedMatrix {
public:
    /// `chunks` of 16 bytes are a row of A or a column of B.
    SharedMatrix(const Warp& warp, std::uint64_t descriptor, bool transposed, std::uint32_t chunks)
        : shared_(warp.block->shared),
          matrix_(descriptor_of(descriptor)),
          transposed_(transposed),
          chunks_(chunks),
          depth_(chunks * kChunkBytes / 2) {}

    /// Throws LaneFault where such a row lies outside of shared memory.
    void check(std::uint32_t row) const {
        if (!transposed_)
            for (std::uint32_t part = 0; part < chunks_; ++part) (void)at(chunk_along_k(matrix_, row, part));
        else
            for (std::uint32_t k = 0; k < depth_; ++k) (void)at(chunk_across_k(matrix_, row / 8, k));
    }

    /// Row `row` of A or column `row` of B.
    [[nodiscard]] Words line(std::uint32_t row) const {
        Words words{};
        if (!transposed_) {
            for (std::uint32_t part = 0; part < chunks_; ++part)
                std::memcpy(&words[std::size_t{part} * kChunkWords], at(chunk_along_k(matrix_, row, part)),
                            kChunkBytes);
            return words;
        }
        for (std::uint32_t k = 0; k < depth_; ++k) {
            std::uint16_t element = 0;
            std::memcpy(&element, at(chunk_across_k(matrix_, row / 8, k)) + std::size_t{row % 8} * 2, sizeof element);
            words[k / 2] |= std::uint32_t{element} << (16 * (k % 2));
        }
        return words;
    }

private:
    [[nodiscard]] const std::byte* at(std::uint32_t address) const {
        if (address + kChunkBytes > shared_.size())
            throw LaneFault(0, fmt::format("a matrix at {:#x} of shared memory, of which the block has {:#x} bytes,",
                                           address, shared_.size()));
        return shared_.data() + address;
    }
    std::span<const std::byte> shared_;
    MatrixDescriptor matrix_;
    bool transposed_;
    std::uint32_t chunks_;
    std::uint32_t depth_;  ///< elements of 16 bits
};

/// The rows of A that a warp holds in registers. As in mma.sync, lane 4 g + t has word t of each half of rows g and
/// g + 8.
void rows_in_registers(const Warp& warp, const Step& step, std::array<Words, kRowsOfWarp>& rows) {
    for (int word = 0; word < 4; ++word) {
        const View words = warp.view(step, 0, word);
        for (int lane = 0; lane < kWarpSize; ++lane) {
            const auto row = static_cast<std::size_t>(lane / 4 + 8 * (word % 2));
            rows[row][static_cast<std::size_t>(lane % 4 + 4 * (word / 2))] = words.raw(lane);
        }
    }
}

/// The number of the operand with the accumulators, among those that are read.
int sums_of(const Product& product) { return product.a_in_registers ? 1 : 0; }

/// Four bits of metadata name two of four places in a row of a sparse A. Elements of 32 bits take two places, one for
/// each half.
///
/// Lanes 4 g to 4 g + 3 hold the metadata of rows g and g + 8. Where elements have 8 bits, a row has 64 bits of it.
/// Lanes 4 g and 4 g + 2 have row g, and the others row g + 8. Else a row has 32 bits, and two lanes have half of both.
std::array<Places, kRowsOfWarp> places_in_rows(const Warp& warp, const Step& step, const Product& product) {
    const View metadata = warp.view(step, sums_of(product) + 1);
    const bool bytes = bits_of(product.a) == 8;
    std::array<Places, kRowsOfWarp> rows{};
    const int digits = bytes ? 16 : 8;
    for (int row = 0; row < static_cast<int>(kRowsOfWarp); ++row)
        for (int digit = 0; digit < digits; ++digit) {
            const int group = row % 8 * 4, upper = row / 8;
            const int lane =
                group + (bytes ? upper + digit / 8 * 2 : static_cast<int>(product.selector) * 2 + digit / 4);
            const int shift = bytes ? digit % 8 * 4 : upper * 16 + digit % 4 * 4;
            const std::uint32_t pair = metadata.raw(lane) >> shift & 0xF;
            for (int i = 0; i < 2; ++i)
                rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(2 * digit + i)] =
                    static_cast<std::uint8_t>(digit * 4 + static_cast<int>(pair >> (2 * i) & 3));
        }
    return rows;
}

std::uint64_t descriptor_in(const Warp& warp, std::size_t uniform) {
    const auto word = [&](std::size_t at) {
        return at < sass::kZeroUniformRegister ? std::uint64_t{warp.uniforms[at]} : 0;
    };
    return word(uniform) | word(uniform + 1) << 32;
}

/// A lane holds neighbouring columns 8 j + 2 t and 8 j + 2 t + 1 of rows g and g + 8.
struct Place {
    std::size_t row, column;
};
constexpr Place place_of(int lane, std::uint32_t group, int half) {
    return {static_cast<std::size_t>(lane / 4 + 8 * half), static_cast<std::size_t>(8 * group + lane % 4 * 2)};
}

/// The matrices of a product that is not computed have to lie in shared memory, too.
void check_matrices(const Warp& warp, const Product& product, std::size_t uniform, std::uint32_t first) {
    if (!product.a_in_registers) {
        const SharedMatrix a(warp, descriptor_in(warp, uniform), product.transposes_a, kChunks);
        for (std::uint32_t row = 0; row < kRowsOfWarp; ++row) a.check(first + row);
    }
    const SharedMatrix b(warp, descriptor_in(warp, uniform + 2), product.transposes_b, product.chunks_of_b());
    for (std::uint32_t column = 0; column < product.columns; ++column) b.check(column);
}

void multiply_tiles(Warp& warp, const Step& step, std::uint32_t mask) {
    if (mask != kAllLanes)
        throw LaneFault(mask == 0 ? 0 : std::countr_zero(mask),
                        "a product of a warp group without all threads of its warp,");
    const auto& threads = warp.block->block;
    if (warp.number / kWarpsOfGroup * kWarpsOfGroup * kWarpSize + kWarpsOfGroup * kWarpSize >
        std::uint64_t{threads[0]} * threads[1] * threads[2])
        throw LaneFault(0, "a product of a warp group without all of its four warps,");
    const Product product = unpacked(step.mode);
    const std::size_t uniform = step.address.uniform;
    const std::uint32_t first = warp.number % kWarpsOfGroup * kRowsOfWarp;
    if (warp.unknown != nullptr) {
        check_matrices(warp, product, uniform, first);
        return leave_unknown(warp, step, static_cast<int>(product.columns / (product.sum == Sum::f16 ? 4 : 2)));
    }
    thread_local std::vector<Line> a(kRowsOfWarp), b;
    b.resize(product.columns);
    std::array<Words, kRowsOfWarp> rows{};
    if (product.a_in_registers) {
        rows_in_registers(warp, step, rows);
    } else {
        const SharedMatrix matrix(warp, descriptor_in(warp, uniform), product.transposes_a, kChunks);
        for (std::uint32_t row = 0; row < kRowsOfWarp; ++row) rows[row] = matrix.line(first + row);
    }
    const SharedMatrix matrix(warp, descriptor_in(warp, uniform + 2), product.transposes_b, product.chunks_of_b());
    const auto words_of = [](const Words& words, std::uint32_t chunks) {
        return std::span(words).first(std::size_t{chunks} * kChunkWords);
    };
    for (std::size_t row = 0; row < kRowsOfWarp; ++row)
        read_line(product.a, words_of(rows[row], kChunks), product.negates_a, a[row]);
    for (std::uint32_t column = 0; column < product.columns; ++column)
        read_line(product.b, words_of(matrix.line(column), product.chunks_of_b()), product.negates_b, b[column]);

    // A false predicate makes the accumulators count as zero.
    const bool adds = step.predicate_count == 0 || (warp.holds(step, 0) & 1) != 0;
    const int sums = sums_of(product);
    std::array<Places, kRowsOfWarp> places{};
    if (product.sparse) places = places_in_rows(warp, step, product);
    Line kept;
    const auto element = [&](const Place& place, std::uint32_t before) {
        if (product.sparse) keep(product.b, b[place.column], places[place.row], kept);
        const Line& column = product.sparse ? kept : b[place.column];
        return product.sum == Sum::s32 ? integer_sum(product.a, a[place.row], column, before, product.saturates)
                                       : float_sum(product.a, product.sum, a[place.row], column, before);
    };
    const bool packs = product.sum == Sum::f16;
    for (std::uint32_t group = 0; group < product.columns / 8; ++group)
        for (int half = 0; half < 2; ++half) {
            const int word = static_cast<int>(2 * group) + half;
            if (packs) {
                const View before = warp.view(step, sums, word);
                std::uint32_t* const result = warp.result(step, word);
                for (int lane = 0; lane < kWarpSize; ++lane) {
                    const Place place = place_of(lane, group, half);
                    const std::uint32_t both = adds ? before.raw(lane) : 0;
                    result[lane] = element(place, both & 0xFFFF) | element({place.row, place.column + 1}, both >> 16)
                                                                       << 16;
                }
                continue;
            }
            for (int i = 0; i < 2; ++i) {
                const View before = warp.view(step, sums, 2 * word + i);
                std::uint32_t* const result = warp.result(step, 2 * word + i);
                for (int lane = 0; lane < kWarpSize; ++lane) {
                    const Place place = place_of(lane, group, half);
                    result[lane] =
                        element({place.row, place.column + static_cast<std::size_t>(i)}, adds ? before.raw(lane) : 0);
                }
            }
        }
}

/// WARPGROUP.DEPBAR orders accesses, which happen in order here. The warp stays before WARPGROUP.WAIT until the others
/// have arrived.
void order(Warp& /*warp*/, const Step& /*step*/, std::uint32_t /*mask*/) {}
void wait_for_group(Warp& /*warp*/, const Step& /*step*/, std::uint32_t /*mask*/) {}
void arrive_at_group(Warp& warp, const Step& /*step*/, std::uint32_t /*mask*/) {
    ++warp.block->group_arrivals[warp.number];
}

Element byte_float(unsigned value) { return value == 0 ? Element::e4m3 : Element::e5m2; }

/// Reads the types; false for a combination that no compiler emits.
bool describe_types(const sass::Instruction& instruction, Product& product) {
    switch (instruction.operation) {
        case Operation::HGMMA: {
            constexpr Element kElements[] = {Element::f16, Element::bf16, Element::tf32};
            const unsigned kind = instruction.value(Modifier::multiplicand);
            if (kind >= std::size(kElements)) return false;
            product.a = product.b = kElements[kind];
            product.sum = instruction.value(Modifier::accumulator) != 0 ? Sum::f32 : Sum::f16;
            const int depth = depth_of(instruction);
            return depth * bits_of(product.a) == (product.sparse ? 512 : 256) &&
                   (product.sum == Sum::f32 || kind == 0) &&
                   (kind != 2 || !(product.transposes_a || product.transposes_b));
        }
        case Operation::QGMMA:
            product.a = byte_float(instruction.value(Modifier::byte_float_a));
            product.b = byte_float(instruction.value(Modifier::byte_float_b));
            product.sum = instruction.value(Modifier::accumulator) != 0 ? Sum::f32 : Sum::f16;
            return true;
        case Operation::IGMMA:
            product.a = instruction.value(Modifier::integer_a) != 0 ? Element::s8 : Element::u8;
            product.b = instruction.value(Modifier::integer_b) != 0 ? Element::s8 : Element::u8;
            product.sum = Sum::s32;
            product.saturates = instruction.value(Modifier::saturate) != 0;
            return true;
        case Operation::BGMMA:
            product.a = product.b = Element::b1;
            product.sum = Sum::s32;
            return true;
        default: return false;
    }
}

}  // namespace
}  // namespace gputomo::sim::machine_code::warpgroup

namespace gputomo::sim::machine_code {

bool waits_for_group(const Step& step) { return step.execute == &warpgroup::wait_for_group; }

bool arrives_at_group(const Step& step) { return step.execute == &warpgroup::arrive_at_group; }

bool group_has_arrived(const Warp& warp) {
    const auto& threads = warp.block->block;
    const std::uint64_t warps = (std::uint64_t{threads[0]} * threads[1] * threads[2] + kWarpSize - 1) / kWarpSize;
    const std::uint32_t first = warp.number / 4 * 4;
    for (std::uint32_t other = first; other < first + 4 && other < warps; ++other)
        if (warp.block->group_arrivals[other] < warp.block->group_arrivals[warp.number]) return false;
    return true;
}

Execute warpgroup_execution(Step& step) {
    using namespace warpgroup;
    const sass::Instruction& instruction = step.instruction;
    if (instruction.operation == Operation::WARPGROUP) {
        const auto text = instruction.form->row->modifiers;
        return text.starts_with(".ARRIVE") ? arrive_at_group : text.starts_with(".WAIT") ? wait_for_group : order;
    }
    if (!multiplies_warpgroup(instruction.operation)) return nullptr;
    Product product;
    product.sparse = is_sparse(instruction);
    if (product.sparse) product.selector = selector_of(instruction);
    product.columns = static_cast<std::uint32_t>(columns_of(instruction));
    product.transposes_a = instruction.value(Modifier::transpose_a) != 0;
    product.transposes_b = instruction.value(Modifier::transpose_b) != 0;
    product.a_in_registers = reads_a_from_registers(instruction);
    product.negates_a =
        instruction.value(Modifier::negate_a) != 0 || (product.a_in_registers && instruction.operands()[1].negate);
    product.negates_b = instruction.value(Modifier::negate_b) != 0;
    if (step.source_count == 0 || !describe_types(instruction, product)) return nullptr;
    for (const sass::Operand& operand : instruction.operands())
        if (operand.kind == sass::OperandKind::matrix_descriptor) step.address.uniform = operand.uniform;
    step.mode = packed(product);
    return multiply_tiles;
}

namespace {

/// USETMAXREG: a warp gives registers back to its block, or asks for some of them. It gets all that it asks for or
/// none; the compiler lets it ask again.
void change_registers(Warp& warp, const Step& step, std::uint32_t /*mask*/) {
    const std::int64_t wanted = warp.view(step, 0)[0], more = wanted - warp.registers_held;
    const bool asks = step.mode != 0;
    if (asks ? more < 0 : more > 0)
        throw LaneFault(
            0, fmt::format("a change from {} registers to {}, against its direction,", warp.registers_held, wanted));
    const bool done = !asks || more <= warp.block->spare_registers;
    if (done) {
        warp.block->spare_registers -= more;
        warp.registers_held = wanted;
    }
    if (!asks) return;
    warp.set_predicate(step.predicate_out[0], done ? 1 : 0, 1);
    if (warp.block->observer != nullptr) warp.block->observer->check(kSpareRegisters, done);
}

}  // namespace

Execute register_count_execution(Step& step) {
    if (step.instruction.operation != sass::Operation::USETMAXREG) return nullptr;
    step.mode = step.instruction.form->written_predicates > 0 ? 1 : 0;
    return change_registers;
}

}  // namespace gputomo::sim::machine_code
