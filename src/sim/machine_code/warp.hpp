// The registers, predicates and memories that instructions of a warp read and write.
#pragma once

#include "costs/atomic_units.hpp"
#include "sim/exec/lanes.hpp"
#include "sim/exec/sampling.hpp"
#include "sim/machine_code/access.hpp"
#include "sim/machine_code/near_values.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/transfer.hpp"
#include "sim/memory/device_memory.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::sim::machine_code {

class Observer;
class Printed;
struct ClusterState;
struct UnknownRegisters;

inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFF;

/// The place of a block in the grid, and what its threads share.
struct BlockState {
    const MachineProgram* program = nullptr;
    const std::array<std::vector<std::uint32_t>, 8>* constants = nullptr;
    const DeviceMemory* global = nullptr;
    const TextureTable* textures = nullptr;  ///< nullptr: there are none
    std::span<std::byte> shared;
    std::array<std::uint32_t, 3> index{};  ///< in the grid
    std::array<std::uint32_t, 3> block{1, 1, 1};
    Observer* observer = nullptr;
    /// SR_CLOCK reads it: cycles of the SM, or warp instructions executed so far where there is no time.
    std::uint64_t clock = 0;
    std::uint64_t nanoseconds = 0;  ///< SR_GLOBALTIMER
    std::uint32_t sm = 0;
    std::uint32_t warps_of_sm = 0;  ///< most that an SM holds; 0: not known
    Printed* printed = nullptr;     ///< gets what threads print; nullptr: that is not kept
    /// By lane: the address of the last access to memory, within its space for shared and local memory.
    std::array<std::uint64_t, kWarpSize> addresses{};
    std::array<std::uint64_t, kWarpSize> shared_addresses{};  ///< where LDGSTS copies to
    /// By lane: what the last fetch of a texture read.
    std::array<ReadTexels, kWarpSize> texels{};
    std::uint32_t texel_bytes = 1;
    /// By warp: how often it has arrived at its warp group (WARPGROUP.ARRIVE).
    std::array<std::uint32_t, 32> group_arrivals{};
    std::int64_t spare_registers = 0;  ///< of each thread of a warp, that warps gave back (USETMAXREG)
    Transfer transfer;                 ///< the last bulk copy
    ClusterState* cluster = nullptr;   ///< nullptr: the block is a cluster of its own
    std::uint32_t rank = 0;            ///< in its cluster
    std::uint32_t resident = 0;        ///< the simulated GPU's number of the block
    /// By lane: the block whose shared memory the last access to shared memory reached.
    std::array<BlockState*, kWarpSize> reached{};
    /// Compare-and-swap requests of threads so far, and those that found another value than they expected.
    std::uint64_t swaps = 0, failed_swaps = 0;
    /// What the SM's own cache shows; nullptr: loads see what memory holds.
    NearValues* near = nullptr;
    /// Values beyond the first one that the threads of the last MATCH.ANY had.
    std::uint32_t further_values = 0;
};

/// A value of each lane; `step` is 0 where all lanes read the same one.
struct View {
    const std::uint32_t* bits = nullptr;
    std::size_t step = 0;
    std::uint32_t keep = ~0U, flip = 0, plus = 0;
    [[nodiscard]] std::uint32_t raw(int lane) const { return bits[static_cast<std::size_t>(lane) * step]; }
    std::uint32_t operator[](int lane) const { return ((raw(lane) & keep) ^ flip) + plus; }
};

/// A pair of registers as one value. Signs apply to the upper word.
struct WideView {
    View low, high;
    std::uint64_t operator[](int lane) const { return low.raw(lane) | std::uint64_t{high[lane]} << 32; }
};

class Warp {
public:
    using Row = std::array<std::uint32_t, kWarpSize>;

    explicit Warp(const MachineProgram& program);

    /// Begins anew as a warp of a block.
    void start(BlockState& its_block, std::uint32_t its_number, std::uint32_t its_lanes);

    [[nodiscard]] View view(const Step& step, int which, int word = 0) const;
    [[nodiscard]] WideView wide(const Step& step, int which) const {
        return {view(step, which, 0), view(step, which, 1)};
    }

    /// Lanes for which a predicate holds.
    [[nodiscard]] std::uint32_t holds(const PredicateSource& predicate) const {
        if (unknown != nullptr && !predicate.uniform) note_read_predicate(predicate.number);
        const std::uint32_t bits =
            predicate.uniform ? uniform_predicates[predicate.number] : predicates[predicate.number];
        return predicate.invert ? ~bits : bits;
    }
    [[nodiscard]] std::uint32_t holds(const Step& step, int which) const {
        return holds(step.predicate[static_cast<std::size_t>(which)]);
    }
    void set_predicate(const PredicateSource& to, std::uint32_t bits, std::uint32_t mask) {
        if (to.number == sass::kTruePredicate) return;
        if (unknown != nullptr) note_written_predicate(to);
        if (to.uniform)
            uniform_predicates[to.number] = (bits & mask) != 0 ? kAllLanes : 0;
        else
            predicates[to.number] = (predicates[to.number] & ~mask) | (bits & mask);
    }

    /// Where a result goes, word by word; what is written to RZ is lost.
    [[nodiscard]] std::uint32_t* result(const Step& step, int word = 0) {
        const auto reg = static_cast<std::size_t>(step.destination.reg) + static_cast<std::size_t>(word);
        if (unknown != nullptr) note_written(step.destination, reg);
        if (step.destination.uniform)
            return step.destination.reg == sass::kZeroUniformRegister ? lost_.data() : &uniforms[reg];
        return step.destination.reg == sass::kZeroRegister ? lost_.data() : registers[reg].data();
    }

    /// What is written here is lost.
    [[nodiscard]] std::uint32_t* lost() { return lost_.data(); }

    BlockState* block = nullptr;
    std::uint32_t number = 0;  ///< in the block
    std::uint32_t slot = 0;    ///< on its SM: the number, where nothing else is known
    std::uint32_t lanes = 0;   ///< with a thread
    std::vector<Row> registers;
    std::array<std::uint32_t, 64> uniforms{};
    std::array<std::uint32_t, 8> predicates{};
    std::array<std::uint32_t, 8> uniform_predicates{};
    std::array<Row, 16> convergence{};  ///< for each barrier and lane: the lanes that it waits for
    std::uint32_t barrier_result = 0;   ///< of BAR.RED, for B2R
    std::int64_t registers_held = 0;    ///< of each thread, as USETMAXREG changes them
    std::vector<std::byte> local;       ///< frames of the threads, one after the other
    std::uint64_t local_bytes;          ///< of a frame
    /// What it does not know, because products are not computed. nullptr: they are.
    UnknownRegisters* unknown = nullptr;

private:
    void note_read(std::size_t reg) const;
    void note_read_predicate(std::uint8_t number) const;
    void note_written(const Destination& destination, std::size_t reg) const;
    void note_written_predicate(const PredicateSource& to) const;

    Row lost_{};
};

/// The function for an instruction; nullptr where it is not executed. Fills in Step::mode.
[[nodiscard]] Execute integer_execution(Step& step);
[[nodiscard]] Execute float_execution(Step& step);
[[nodiscard]] Execute half_execution(Step& step);
[[nodiscard]] Execute conversion_execution(Step& step);
[[nodiscard]] Execute move_execution(Step& step);
[[nodiscard]] Execute memory_execution(Step& step);
[[nodiscard]] Execute matrix_execution(Step& step);
[[nodiscard]] Execute warpgroup_execution(Step& step);
[[nodiscard]] Execute register_count_execution(Step& step);
[[nodiscard]] Execute texture_execution(Step& step);
[[nodiscard]] Execute barrier_execution(Step& step);
[[nodiscard]] Execute bulk_copy_execution(Step& step);
[[nodiscard]] Execute tensor_copy_execution(Step& step);
[[nodiscard]] Execute cluster_execution(Step& step);

/// Finds the registers of TEX, TLD and TLD4, which have two results.
void read_fetch_operands(Step& step);
[[nodiscard]] bool fetches_texels(const Step& step);
/// What an atomic's time depends on; `integer` for other instructions.
[[nodiscard]] costs::AtomicClass atomic_class_of(const Step& step);
/// Whether a load of global memory is not served by the SM's own caches. Stores of other threads must be visible to it,
/// or it is an asynchronous copy that passes them by.
[[nodiscard]] bool skips_near(const sass::Instruction& instruction);
/// Whether the SM's own cache forgets all that it holds: CCTL.IVALL, which follows fences of the GPU's scope.
[[nodiscard]] bool forgets_near(const sass::Instruction& instruction);
/// Bytes of the aligned block that the last cache reads from memory where what a load asks for is not there (LTC128B);
/// 0 where the instruction names none.
[[nodiscard]] std::uint32_t prefetched_bytes(const sass::Instruction& instruction);
/// Whether an atomic on shared memory counts the lanes of an address at once.
[[nodiscard]] bool sums_lanes(const Step& step);
/// Whether the instruction swaps one word of each bank of shared memory, and says which threads have swapped theirs:
/// ATOMS.CAST.SPIN. The others try again.
[[nodiscard]] bool swaps_one_of_bank(const Step& step);
/// Coordinates of a texture fetch, without a layer.
[[nodiscard]] unsigned dimensions_of_fetch(const Step& step);

/// Whether the instruction waits for the warps of its warp group: WARPGROUP.WAIT.
[[nodiscard]] bool waits_for_group(const Step& step);
/// Whether the instruction may let other warps of the group go on: WARPGROUP.ARRIVE.
[[nodiscard]] bool arrives_at_group(const Step& step);
/// Whether all warps of the group have arrived as often as this one.
[[nodiscard]] bool group_has_arrived(const Warp& warp);

/// Leaves the results of a product unknown in place of computing them: `words` registers. The warp has Warp::unknown.
void leave_unknown(Warp& warp, const Step& step, int words);

/// The host's bytes behind an address in shared memory; throws LaneFault where there are none.
[[nodiscard]] std::byte* shared_bytes(Warp& warp, const Address& address, std::uint64_t bytes, int lane);
/// The host's bytes behind an address in shared memory that may name another block of the cluster.
[[nodiscard]] std::byte* cluster_bytes(Warp& warp, const Address& address, std::uint64_t bytes, int lane);
/// The bytes of constant bank 0 that a generic address names; nullptr where it names none.
[[nodiscard]] const std::byte* constant_bytes_at(const BlockState& block, std::uint64_t address, std::uint64_t bytes);
/// The host's bytes behind an address in global memory that is read; throws LaneFault where there are none.
[[nodiscard]] const std::byte* global_bytes(Warp& warp, std::uint64_t address, std::uint64_t bytes, int lane);
/// The host's bytes behind a generic address that is read; throws LaneFault where there are none.
[[nodiscard]] const std::byte* generic_bytes(Warp& warp, std::uint64_t address, std::uint64_t bytes, int lane);

}  // namespace gputomo::sim::machine_code
