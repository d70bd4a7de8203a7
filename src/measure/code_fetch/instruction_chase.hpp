// A chase through code: timed jumps between pieces of code, so that the time of an instruction fetch shows like a
// load's latency.
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "measure/code_fetch/instruction_chase_layout.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::measure {

/// The kernel is a dispatcher followed by slots of code_chase::kSlotInstructions instructions. The dispatcher reads
/// the clock, takes the next slot's number from shared memory and jumps there; the slot jumps back. The time from one
/// reading to the next is that of a visit. For the first cache, offset 0 is the start of the dispatcher: it is part of
/// the code under test, and visits to offsets within it are hits. Lower caches do not see it, and for them offset 0 is
/// the first slot.
class InstructionChase {
public:
    /// `constant_cache`: bytes of the first constant cache, if known.
    InstructionChase(const Run& run, std::uint32_t slots, std::optional<double> constant_cache);
    /// Compiles the kernel ahead of its use.
    static void compile_ahead(device::Device& device, std::uint32_t slots);

    /// Chases for the first cache and for those below it: cycles by which each visit exceeds one that the cache
    /// answers at once.
    [[nodiscard]] deduce::Chase chase();
    [[nodiscard]] deduce::Chase chase_beyond_first();
    /// Cycles of `loads` visits after `warm` untimed ones, on SM `sm` if one is given. Empty if no block reached it.
    [[nodiscard]] std::vector<double> latencies(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                                std::uint64_t loads, std::optional<std::uint32_t> sm);
    /// As latencies(), with `constants` bytes of constants read after each pass, a word every 64 bytes.
    [[nodiscard]] std::vector<double> latencies_beside_constants(const std::vector<std::uint64_t>& offsets,
                                                                 std::uint32_t constants, std::uint64_t passes);
    /// One block makes two passes through `own` on SM `sm`. Then another block makes `passes` passes through `rivals`
    /// on SM `rival` (0: it only waits). Then the visits of `own` are timed (Wong 2010, IV-J4). The result is nullopt
    /// if no two blocks reached these SMs.
    struct Interference {
        std::vector<std::uint64_t> own, rivals;
        std::uint32_t sm = 0, rival = 0;
        std::uint32_t warps =
            1;  ///< of each block; with as many warps as an SM has schedulers, each scheduler gets one
        /// warp of the rival block that runs through the code. In the block on `sm` the first warp does; all other
        /// warps end at once.
        std::uint32_t rival_warp = 0;
        std::uint32_t passes = 0;
    };
    struct InterferedRun {
        std::vector<double> latencies;
        /// hardware slots of both warps (%warpid): warps of one scheduler are a multiple of the number of schedulers
        /// apart
        std::uint32_t slot = 0, rivals_slot = 0;
    };
    [[nodiscard]] std::optional<InterferedRun> run_with_rival(const Interference& interference);
    /// Sets what progress() reports meanwhile.
    void describe(double fraction, std::string what) { fraction_ = fraction, what_ = std::move(what); }

    [[nodiscard]] std::uint64_t slot_bytes() const { return code_chase::kSlotInstructions * instruction_bytes_; }
    /// Bytes of code that sequences may visit, less the bytes that keep them out of the dispatcher's way.
    [[nodiscard]] std::uint64_t code_bytes() const { return slots_ * slot_bytes() - code_chase::kHead; }
    /// Most visits of each block that shared memory holds when two blocks run.
    [[nodiscard]] std::size_t most_interfering_visits() const { return words_ / 4 - 2; }
    /// Most visits of a sequence whose jumps fit the first constant cache. Each jump reads an entry of the jump table,
    /// and a miss there would not be the code's.
    [[nodiscard]] std::uint64_t most_visits() const;
    /// Whether the dispatcher lies directly in front of the slots. If not, its lines lie elsewhere and occupy cache
    /// that offsets do not cover.
    [[nodiscard]] bool contiguous() const { return contiguous_; }
    /// Bytes of the code that every visit passes, in whole slots.
    [[nodiscard]] std::uint64_t dispatcher_bytes() const { return dispatcher_bytes_; }

private:
    InstructionChase(const Run& run, std::uint32_t slots, std::optional<double> constant_cache,
                     const ptx::KernelBuilder& kernel);
    void calibrate();
    struct Sequence {
        std::vector<std::uint32_t> order;    ///< slots to visit
        std::vector<std::size_t> positions;  ///< position of each in the requested offsets
        std::size_t size = 0;                ///< number of requested offsets
    };
    [[nodiscard]] Sequence sequence_of(const std::vector<std::uint64_t>& offsets, std::uint64_t head) const;
    std::vector<double> latencies(const Sequence& sequence, std::uint64_t warm, std::uint64_t loads,
                                  std::optional<std::uint32_t> sm);
    std::vector<double> run(const std::vector<std::uint32_t>& order, std::uint64_t warm, std::uint64_t visits,
                            std::optional<std::uint32_t> sm);
    /// Runs both sequences at the same length and returns the readings of the first.
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
    std::uint32_t constants_ = 0;  ///< bytes that the slot after the others reads
    double base_ = 0;              ///< cycles of a visit that the cache answers at once, recording included
    double fraction_ = 0;
    std::string what_ = "instruction chase";
};

}  // namespace gputomo::measure
