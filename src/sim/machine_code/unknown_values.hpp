// Values that were not computed: results of matrix products, and all that follows from them. What a launch executes
// and touches rarely depends on them, and computing them takes most of the time of such a launch.
#pragma once

#include "sim/machine_code/run.hpp"
#include "sim/machine_code/warp.hpp"
#include "units/error.hpp"
#include "units/number_set.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::sim::machine_code {

/// An address, a branch, a barrier, a uniform register or a time depends on a product, or blocks of a cluster hand one
/// another what depends on it. The launch has to be executed with all products.
class NeedsProducts : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// Sectors of global memory with bytes that are not known. Blocks that see each other's memory share it.
class UnknownMemory {
public:
    void mark(std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] bool has(std::uint64_t address, std::uint64_t bytes) const;
    /// A block has put something unknown into its shared memory.
    void note_shared() { any_shared_ = true; }
    [[nodiscard]] bool any_shared() const { return any_shared_; }
    /// Memory is again as it was before the launch.
    void clear() { sectors_.clear(), any_shared_ = false; }

private:
    NumberSet sectors_;
    bool any_shared_ = false;
};

/// What a warp does not know. Registers and predicates of a warp are known or unknown for all of its lanes together.
struct UnknownRegisters {
    std::bitset<256> registers;
    std::bitset<256> in_part;               ///< those of which `bits` says what is unknown
    std::array<std::uint32_t, 256> bits{};  ///< of an unknown register, in any lane
    std::uint8_t predicates = 0;            ///< by number
    std::vector<bool> local;                ///< by word of a thread's local memory
    // These say what the instruction that is being executed does.
    bool read = false;  ///< it has read something unknown
    bool writes_uniform = false;
    std::bitset<256> written;
    std::uint8_t written_predicates = 0;

    [[nodiscard]] std::uint32_t bits_of(std::size_t reg) const {
        if (!registers[reg]) return 0;
        return in_part[reg] ? bits[reg] : ~0U;
    }
};

/// Follows unknown values through the warps of one block. It stands between the block and its observer, so that it sees
/// each access to memory. Shared memory is known or unknown by words, global memory by sectors. Where it is not sure,
/// values count as unknown.
class UnknownValues final : public Observer {
public:
    UnknownValues(UnknownMemory& global, std::size_t shared_bytes)
        : global_(global), shared_(shared_bytes / kWord + 1) {}

    /// A block begins.
    void start(Observer* observer);
    /// A warp of the block begins.
    void start(Warp& warp);

    /// Before an instruction. Returns the lanes that execute it: with an unknown guard all of the path, because their
    /// results count as unknown anyway. Throws NeedsProducts.
    [[nodiscard]] std::uint32_t begin(Warp& warp, const Step& step, std::uint32_t lanes, std::uint32_t mask);
    /// After begin(): whether the instruction, which stands at this place in the code, can be left out. All that it
    /// would write is unknown, as when it was executed before with the same unknown sources.
    [[nodiscard]] bool leaves_out(Warp& warp, const Step& step, std::size_t at);
    /// After it. Throws NeedsProducts.
    void end(Warp& warp, const Step& step, std::uint32_t mask);

    void turn(std::size_t warp) override;
    void execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) override;
    void access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) override;
    void arrive(std::uint64_t barrier, bool ends) override;
    void check(std::uint64_t barrier, bool ended) override;
    void meet(std::uint32_t barrier, std::uint32_t expected, std::uint32_t threads, bool waits) override;
    bool end_block(std::uint64_t index) override;

private:
    struct Touched {
        Space space = Space::global;
        Access access = Access::read;
        std::uint64_t offset = 0, bytes = 0;
    };
    static constexpr std::uint64_t kWord = 4;
    static constexpr std::size_t kNowhere = ~std::size_t{0};
    /// What an arithmetic instruction writes that has read something unknown.
    struct Effect {
        std::uint32_t sources = 0;  ///< those whose first register was unknown, as bits; 0: it was not executed yet
        std::bitset<256> written;
        std::uint8_t written_predicates = 0;
    };

    void find_bits(const Warp& warp, const Step& step);
    void end_bits(UnknownRegisters& unknown, const Step& step, bool all_lanes) const;
    [[nodiscard]] bool is_unknown(const Touched& touched) const;
    void set(const Touched& touched, bool unknown, bool all_lanes);
    [[nodiscard]] bool finish_access(const Warp& warp, const Step& step, std::uint32_t mask);

    UnknownMemory& global_;
    std::vector<bool> shared_;
    bool any_shared_ = false;  ///< any word of shared memory was ever unknown
    /// Bits of the instruction's result that are unknown; nullopt where it is not bitwise.
    std::optional<std::uint32_t> bits_;
    Observer* observer_ = nullptr;
    UnknownRegisters* registers_ = nullptr;  ///< of the warp that executes
    std::vector<Touched> touched_;           ///< by the instruction
    std::vector<UnknownRegisters> of_warps_;
    std::vector<Effect> effects_;  ///< by place in the code
    std::size_t at_ = kNowhere;    ///< of the instruction whose effect end() notes
    std::uint32_t sources_ = 0;    ///< of it that are unknown, as bits
};

}  // namespace gputomo::sim::machine_code
