// Watches the execution of blocks: counts, the memory that they touch, and on request all that they do.
#pragma once

#include "launch/profile/atomic_sectors.hpp"
#include "launch/profile/launch_profile.hpp"
#include "launch/profile/saved_memory.hpp"
#include "machine/machine.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/sm/load_store/load_ports.hpp"
#include "sim/sm/load_store/shared_banks.hpp"
#include "units/number_set.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gputomo::launch {

/// Ends the execution of a block that takes too long or executes too much.
class Interruption : public std::exception {
public:
    enum class Why : std::uint8_t { time, instructions, waits };
    explicit Interruption(Why why) : why_(why) {}
    [[nodiscard]] Why why() const { return why_; }
    [[nodiscard]] const char* what() const noexcept override { return "a block executes too long"; }

private:
    Why why_;
};

/// Bytes of a line in the first cache of constants of all GPUs that were measured.
inline constexpr std::uint64_t kConstantGranule = 64;

class Recorder final : public sim::machine_code::Observer {
public:
    using Clock = std::chrono::steady_clock;

    Recorder(const sim::machine_code::MachineProgram& program, const machine::Machine& machine, SavedMemory& saved,
             std::uint64_t warps_of_block, Clock::time_point deadline);

    /// The next block; `trace` also keeps all that it does, of at most `most_events` instructions.
    void begin(std::uint64_t block, bool trace, std::size_t most_events);

    void turn(std::size_t warp) override;
    void execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) override;
    void access(sim::machine_code::Space space, sim::machine_code::Access access, std::uint64_t offset,
                std::uint64_t bytes) override;
    void arrive(std::uint64_t barrier, bool ends) override;
    void check(std::uint64_t barrier, bool ended) override;
    void meet(std::uint32_t barrier, std::uint32_t expected, std::uint32_t threads, bool waits) override;
    bool end_block(std::uint64_t index) override;

    [[nodiscard]] const BlockCounts& counts() const { return counts_; }
    /// Whether a warp of a traced block asked for a phase again and again, and went on before it ended.
    [[nodiscard]] bool gave_up() const { return gave_up_; }
    [[nodiscard]] BlockTrace take_trace() { return std::move(trace_); }
    /// Sectors of global memory that the block read and wrote.
    [[nodiscard]] const NumberSet& read() const { return read_; }
    [[nodiscard]] const NumberSet& written() const { return written_; }
    /// Sectors that the block read with other than atomic instructions.
    [[nodiscard]] const NumberSet& loaded() const { return loaded_; }
    [[nodiscard]] const AtomicsOfBlock& atomics() const { return atomics_; }
    /// Granules of `kConstantGranule` bytes that all blocks so far read from constant banks with an index.
    [[nodiscard]] const NumberSet& constants() const { return constants_; }
    /// Sectors of which atomic instructions of the block returned something.
    [[nodiscard]] const NumberSet& observed() const { return observed_; }

private:
    /// Addresses of one instruction's threads.
    struct Accessed {
        std::vector<std::uint64_t> address;  ///< room that is kept from one instruction to the next
        std::size_t count = 0;
        std::uint64_t bytes = 0;
        sim::machine_code::Access access = sim::machine_code::Access::read;
        void add(std::uint64_t at, std::uint64_t size, sim::machine_code::Access how) {
            if (count == address.size()) address.push_back(at);
            address[count++] = at;
            bytes = size;
            access = how;
        }
    };
    void finish();
    void add_lines(const Accessed& accessed, bool global, WarpAccess& to);
    void add_banks(WarpAccess& to);
    /// Cycles for which the lanes' words keep the banks busy where they lie side by side.
    [[nodiscard]] double conflict_free_cycles(std::uint32_t mask, const sim::SharedBanks::Request& request);
    /// The addresses of an instruction by lane. Returns the lanes that have one.
    std::uint32_t by_lane(const Accessed& accessed, std::array<std::uint64_t, 32>& addresses) const;
    void add_global(WarpAccess& to);
    /// Counts an atomic's requests, and lists the lines of its passes in the trace.
    void add_passes(WarpAccess& to);
    void add_swaps(const Accessed& accessed, bool global);
    void add_local(WarpAccess& to);
    void add_constant(WarpAccess& to);
    void add_bulk(WarpAccess& to);
    /// Uses of barriers by the instruction that has been executed last.
    void add_phases();
    /// Forgets what the warp did since a check that failed, as it asks again.
    void count_failed_check(bool asked);
    void forget_failed_check(std::uint64_t barrier);
    void add_texture(WarpAccess& to);
    /// Returns the transactions of the access.
    const std::vector<sim::Segment>& take_port(sim::PathKind path, sim::Coalescer& coalescer, const Accessed& accessed,
                                               WarpAccess& to);

    const sim::machine_code::MachineProgram& program_;
    SavedMemory& saved_;
    std::optional<sim::SharedBanks> banks_;
    sim::LoadPorts ports_;
    sim::Coalescers coalescers_;
    double bank_cycles_ = 1;                                   ///< of an access of a word a thread without conflicts
    std::unordered_map<std::uint64_t, double> conflict_free_;  ///< occupancy by lanes and kind of request
    std::uint64_t warps_of_block_;
    Clock::time_point deadline_;
    BlockCounts counts_;
    BlockTrace trace_;
    bool tracing_ = false, pending_ = false;
    std::size_t most_events_ = 0, events_ = 0;
    std::size_t warp_ = 0, step_ = 0;
    std::uint32_t mask_ = 0, lanes_ = 0;
    Accessed global_, shared_, local_, constant_;
    /// A barrier in shared memory.
    struct BarrierOf {
        std::uint32_t number = 0;
        std::uint32_t ended = 0;  ///< phases
    };
    static constexpr std::uint64_t kNoBarrier = ~std::uint64_t{0};
    /// A check of a warp that failed, and where the warp's record was before it.
    struct FailedCheck {
        std::uint64_t barrier = kNoBarrier;
        std::size_t events = 0, phases = 0, accesses = 0;
        std::size_t times = 0;    ///< in a row
        std::uint32_t lanes = 0;  ///< of the path that asked
        // A block that is not recorded has these instead.
        double instructions = 0;  ///< of the warp since the check, with it
        bool acted = false;       ///< it has arrived at a barrier or reached memory since
    };
    std::unordered_map<std::uint64_t, BarrierOf> barriers_;  ///< by address
    std::vector<FailedCheck> failed_;                        ///< by warp
    std::vector<PhaseUse> used_;                             ///< by the instruction that is executed
    bool check_failed_ = false, gave_up_ = false;
    std::uint64_t checked_ = 0;  ///< barrier
    std::vector<TouchedLine> lines_;
    NumberSet read_, written_, loaded_, observed_, constants_;
    AtomicsOfBlock atomics_;
};

}  // namespace gputomo::launch
