// A chase through code: jumps from one piece of code to any other, each timed, so that what a fetch takes is seen like
// a load's latency.
#pragma once

#include "deduce/cache/chase.hpp"
#include "measure/code_fetch/instruction_chase_layout.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::measure {

/// The kernel is a dispatcher and behind it, one after the other, slots of code_chase::kSlotInstructions instructions.
/// The dispatcher reads the clock, takes the next slot's number from shared memory and jumps there; the slot comes
/// back. The time from one reading to the next is that of a visit. For the first cache, offset 0 is where the
/// dispatcher begins: it is part of the code that is walked through, and visits to offsets within it are hits. The
/// caches behind see nothing of it, and offset 0 is the first slot.
class InstructionChase {
public:
    /// `constant_cache`: bytes of the first constant cache, where they are known.
    InstructionChase(const Run& run, std::uint32_t slots, std::optional<double> constant_cache);
    /// Has its kernel compiled.
    static void compile_ahead(device::Device& device, std::uint32_t slots);

    /// Chases for the first cache and for those behind it: cycles that each visit takes longer than one that is served
    /// at once.
    [[nodiscard]] deduce::Chase chase();
    [[nodiscard]] deduce::Chase chase_behind();
    /// For `loads` visits after `warm` ones, on one SM if one is given; empty where no block came there.
    [[nodiscard]] std::vector<double> latencies(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                                std::uint64_t loads, std::optional<std::uint32_t> sm);
    /// The same as walk() with `constants` bytes of constants read after each lap, a word every 64 bytes.
    [[nodiscard]] std::vector<double> latencies_beside_constants(const std::vector<std::uint64_t>& offsets,
                                                                 std::uint32_t constants, std::uint64_t passes);
    /// For the visits of `own` on one SM after two laps, and then `laps` laps through `rivals` by another block on the
    /// SM `rival` (0: that block only waits); nothing where no two blocks came to these SMs (Wong 2010, IV-J4).
    struct Interference {
        std::vector<std::uint64_t> own, rivals;
        std::uint32_t sm = 0, rival = 0;
        std::uint32_t warps =
            1;  ///< of each block; where they are as many as an SM has schedulers, each scheduler gets one
        std::uint32_t rival_warp = 0;  ///< of its block that runs through the code; the first warp of the block on `sm`
                                       ///< does, and the others end at once
        std::uint32_t passes = 0;
    };
    struct InterferedRun {
        std::vector<double> latencies;
        std::uint32_t slot = 0, rivals_slot = 0;  ///< of both warps in their SMs (%warpid): those of one scheduler are
                                                  ///< as far apart as there are schedulers
    };
    [[nodiscard]] std::optional<InterferedRun> run_with_rival(const Interference& interference);
    /// What progress() says meanwhile.
    void describe(double fraction, std::string what) { fraction_ = fraction, what_ = std::move(what); }

    [[nodiscard]] std::uint64_t slot_bytes() const { return code_chase::kSlotInstructions * instruction_bytes_; }
    /// Bytes of code that tours may reach, less what moving them out of the dispatcher's way takes.
    [[nodiscard]] std::uint64_t room() const { return slots_ * slot_bytes() - code_chase::kHead; }
    /// Visits that shared memory has room for in a competition, of each block.
    [[nodiscard]] std::size_t most_interfering_visits() const { return words_ / 4 - 2; }
    /// Visits of a tour whose jumps the first constant cache serves: each reads an entry of the jumps' table, and what
    /// a miss there takes is not the code's.
    [[nodiscard]] std::uint64_t most_visits() const;
    /// Whether the dispatcher lies directly in front of the slots; else its lines are somewhere, and take room that is
    /// not counted.
    [[nodiscard]] bool contiguous() const { return contiguous_; }
    /// Bytes of the code that every visit comes through, in whole pieces of a slot's length.
    [[nodiscard]] std::uint64_t dispatcher_bytes() const { return dispatcher_bytes_; }

private:
    InstructionChase(const Run& run, std::uint32_t slots, std::optional<double> constant_cache,
                     const ptx::KernelBuilder& kernel);
    void calibrate();
    struct Sequence {
        std::vector<std::uint32_t> order;    ///< slots
        std::vector<std::size_t> positions;  ///< of each in the offsets that were asked for
        std::size_t size = 0;                ///< of these
    };
    [[nodiscard]] Sequence sequence_of(const std::vector<std::uint64_t>& offsets, std::uint64_t head) const;
    std::vector<double> latencies(const Sequence& sequence, std::uint64_t warm, std::uint64_t loads,
                                  std::optional<std::uint32_t> sm);
    std::vector<double> run(const std::vector<std::uint32_t>& order, std::uint64_t warm, std::uint64_t visits,
                            std::optional<std::uint32_t> sm);
    /// Both blocks' orders of the same length; readings of the first one's visits.
    std::optional<InterferedRun> run_both(const std::vector<std::uint32_t>& own,
                                          const std::vector<std::uint32_t>& rivals, const Interference& interference);
    [[nodiscard]] deduce::ChaseTrace answer(const deduce::ChaseRequest& request, std::uint64_t head);

    Run run_;
    std::uint32_t slots_;
    std::optional<double> constant_cache_;
    std::uint64_t instruction_bytes_;
    CompiledKernel kernel_;
    device::Buffer order_;
    device::Buffer results_;
    std::uint32_t sms_ = 1;
    std::uint32_t words_ = 0;  ///< of shared memory
    bool contiguous_ = false;
    std::uint64_t dispatcher_bytes_ = code_chase::kHead;
    std::uint32_t constants_ = 0;  ///< bytes read by the slot behind the others
    double base_ = 0;              ///< of a visit that is served at once, with recording
    double fraction_ = 0;
    std::string what_ = "instruction chase";
};

}  // namespace gputomo::measure
