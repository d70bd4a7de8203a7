// Recognises warps that wait: they read the same memory again and again, and nothing else changes.
#pragma once

#include "sim/machine_code/access.hpp"
#include "sim/machine_code/program.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim::machine_code {

class Paths;
class Warp;

/// How an instruction touches memory that other threads see.
enum class Visible : std::uint8_t { none, read, write, read_and_write };

/// By the instruction's place in the code.
struct VisibleAccesses {
    std::vector<Visible> kind;
    std::vector<bool> reads_global;  ///< and its warp waits for what it reads
    std::vector<bool> swaps;         ///< compares and swaps
};
[[nodiscard]] VisibleAccesses visible_accesses(const MachineProgram& program);

/// Whether the instruction asks if a phase of a barrier in shared memory has ended, which threads do until it has. It
/// may leave the answer unused.
[[nodiscard]] bool checks_phase(const Step& step);
/// Whether it asks so, and waits for a while before it says that the phase has not ended.
[[nodiscard]] bool tries_to_wait(const Step& step);
/// Whether all threads of the warp that do not wait for each other are on one path.
[[nodiscard]] bool is_alone(const Paths& paths);
/// Whether the instruction asks for registers, which a warp does again and again until others have given them back.
[[nodiscard]] bool asks_for_registers(const Step& step);

/// A warp that waited for what another one writes.
struct Wait {
    std::uint64_t block = 0;  ///< by linear index
    std::size_t warp = 0;
    std::size_t step = 0;  ///< of the instruction that reads
    bool shared = false;   ///< it reads the block's shared memory; otherwise global memory
    std::uint64_t address = 0;
    /// Nothing but memory can end the wait. Otherwise a warp has read the address again, perhaps for another reason.
    bool certain = true;
};

/// Adds waits; one is kept for each instruction, a certain one first.
void add_waits(std::vector<Wait>& to, const std::vector<Wait>& waits);
/// A certain one, or any; nullptr where there is none.
[[nodiscard]] const Wait* most_certain(const std::vector<Wait>& waits);

/// Watches the warps of one block. A warp certainly waits if it reads the same addresses as before, has written nothing
/// since, and all its registers are what they were then. It then repeats itself until memory changes. A warp may wait
/// that loads from the same addresses twice in a row, or swaps the same values there.
class WaitWatch {
public:
    explicit WaitWatch(const VisibleAccesses& accesses) : accesses_(accesses) {}

    void start(std::size_t warps);
    [[nodiscard]] const VisibleAccesses& accesses() const { return accesses_; }
    /// The warp has performed a step that reads or writes.
    void note(const Warp& warp, std::uint64_t block, const Step& step, std::size_t at, std::uint32_t mask);
    /// Whether the last access of the warp showed that it certainly waits.
    [[nodiscard]] bool waits(std::size_t warp) const { return reads_[warp].waits; }
    /// The most reads in a row of the same values that any warp has made.
    [[nodiscard]] std::uint32_t most_repeated() const { return most_repeated_; }
    /// Accesses that may have changed memory.
    [[nodiscard]] std::uint64_t writes() const { return writes_; }
    /// One for each instruction that was seen to wait, perhaps.
    [[nodiscard]] const std::vector<Wait>& seen() const { return seen_; }

private:
    struct LastRead {
        std::size_t step = ~std::size_t{0};
        std::uint32_t mask = 0, repeated = 0;
        std::uint64_t addresses = 0, operands = 0, values = 0, state = 0;
        bool waits = false;
    };
    const VisibleAccesses& accesses_;
    std::vector<LastRead> reads_;  ///< by warp
    std::uint64_t writes_ = 0;
    std::uint32_t most_repeated_ = 0;
    std::vector<Wait> seen_;
};

}  // namespace gputomo::sim::machine_code
