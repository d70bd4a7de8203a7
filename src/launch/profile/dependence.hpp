// Finds out whether a block reads what another block of its launch writes.
#pragma once

#include "launch/profile/grid_footprint.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gputomo::launch {

/// Whether the code has atomic instructions on global memory that return what they found.
[[nodiscard]] bool returns_counters(const sim::machine_code::MachineProgram& program);

/// A sector that one block reads and another one writes, perhaps at different bytes of it.
struct SharedSector {
    std::uint64_t sector = 0, reader = 0, writer = 0;
    std::uint64_t uses = 0;           ///< executed blocks that read it, and those that write it
    std::vector<std::uint64_t> more;  ///< further readers of a sector that many blocks use, such as one of counters
};

/// Readers and writers of sectors among the executed blocks.
class SharedSectors {
public:
    /// The sectors that a block reads, by loads or by atomic instructions with a result, and those that it writes.
    void add(std::uint64_t block, std::span<const Sectors* const> read, const Sectors& written);
    /// Those that most blocks use first.
    [[nodiscard]] std::vector<SharedSector> shared() const;

private:
    /// Two of the blocks say whether any block reads what another one writes.
    struct Blocks {
        std::array<std::uint64_t, 2> first{};
        std::uint64_t count = 0;
    };
    struct BlocksOf {
        Sectors sectors;
        std::vector<Blocks> of;  ///< by place of the sector
    };
    /// Returns whether two other blocks have been noted before.
    static bool note(BlocksOf& blocks, std::uint64_t sector, std::uint64_t block);

    BlocksOf readers_, writers_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> more_;  ///< by sector: readers behind the first two
};

/// A block reads bytes that another one writes.
struct Dependence {
    std::uint64_t reader = 0, writer = 0;
    std::uint64_t address = 0;  ///< of the first such byte
    std::size_t step = 0;       ///< an instruction that reads there
};

/// "block 7 reads what block 0 writes at 0x7f00 (ATOMG.E.ADD PT, R2, [R4], R5 at 0x40)"
[[nodiscard]] std::string text_of(const sim::machine_code::MachineProgram& program, const Dependence& dependence);

/// Executes a block with memory as it is before the launch; false where it did not end.
using ExecuteWatched = std::function<bool(std::uint64_t block, sim::machine_code::Observer& observer)>;

/// Executes some of the blocks again and compares the bytes that they read and write in shared sectors. A byte that a
/// block has written before is its own. Empty where these blocks share no byte.
[[nodiscard]] std::optional<Dependence> find_dependence(const sim::machine_code::MachineProgram& program,
                                                        std::span<const SharedSector> sectors,
                                                        const ExecuteWatched& execute);

}  // namespace gputomo::launch
