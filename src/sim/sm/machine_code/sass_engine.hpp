// Executes machine code: its instructions on the units of the SMs, held back by their stall counts and barriers.
#pragma once

#include "costs/beside_products.hpp"
#include "costs/constant_operands.hpp"
#include "costs/fences.hpp"
#include "costs/product_groups.hpp"
#include "costs/stalls.hpp"
#include "sass/fences.hpp"
#include "sim/machine_code/clusters.hpp"
#include "sim/machine_code/constant_place.hpp"
#include "sim/machine_code/flow.hpp"
#include "sim/machine_code/held_atomic.hpp"
#include "sim/machine_code/paths.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "sim/machine_code/wait_watch.hpp"
#include "sim/machine_code/warp.hpp"
#include "sim/sm/engine/engine.hpp"
#include "sim/sm/load_store/bulk_copies.hpp"
#include "sim/sm/machine_code/near_views.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace gputomo::sim {

/// What the engine does with an instruction beyond computing it.
enum class SassKind : std::uint8_t {
    compute,
    memory,        ///< loads, stores and atomics
    constant,      ///< LDC, ULDC
    copy,          ///< LDGSTS
    copy_barrier,  ///< LDGDEPBAR
    bulk_copy,     ///< UBLKCP, UTMALDG and their kin
    bulk_group,    ///< UTMACMDFLUSH
    texture,       ///< TEX, TLD, TLD4
    fence,         ///< MEMBAR: waits for the warp's accesses to memory
    view,          ///< FENCE.VIEW.ASYNC.S: shows stores to shared memory to asynchronous copies
    forget,        ///< CCTL.IVALL: the SM's own cache forgets what it holds
    map,           ///< UTMACCTL: fetches a tensor map
    errors,        ///< ERRBAR: waits for the errors of accesses before a fence
    wait,          ///< DEPBAR
    sleep,
    flow
};

/// What an instruction asks of the units, the same each time it issues.
struct SassNeeds {
    Resource resource = kNoResource;
    SassKind kind = SassKind::compute;
    std::uint8_t stall = 1;  ///< cycles until the warp's next instruction
    std::uint8_t wait = 0;   ///< a bit for each dependence barrier to wait for
    std::uint8_t write_barrier = sass::kNoBarrier;
    std::uint8_t read_barrier = sass::kNoBarrier;
    float slots = 1;               ///< issue slots of an instruction that accesses no memory
    bool on_cores = false;         ///< runs on the CUDA cores
    bool goes_on = false;          ///< its warp is the first to issue in the next cycle
    bool queues = false;           ///< a product of a warp group: waits for its unit after it has issued
    std::uint8_t results = 0;      ///< registers of an arithmetic instruction, which waits beside products
    bool commits = false;          ///< ends a group of matrix products
    bool passes_barriers = false;  ///< issues behind a barrier of its block before that is complete
    bool defers_waiting = false;   ///< a barrier of the block whose warp goes on
    sass::FenceScope fence = sass::FenceScope::none;
    bool waits_for_group = false, arrives_at_group = false;  ///< of warps that multiply matrices together
    costs::OperandReads reads{};
    machine_code::ConstantOperand constant;  ///< that it waits for
    /// Registers that it reads or writes; 0xFF: none. The host fetches them into its caches ahead of the issue.
    std::array<std::uint8_t, 4> touched{sass::kZeroRegister, sass::kZeroRegister, sass::kZeroRegister,
                                        sass::kZeroRegister};
};

/// The dependence barriers of a warp, with that of its groups of matrix products: when the instructions that were
/// issued with each have completed.
class DependenceBarriers {
public:
    static_assert(costs::kProductGroups == sass::kScoreboards);
    static constexpr std::size_t kCount = costs::kProductGroups + 1;

    void start(double now);
    /// The instruction `step` completes at `when`, and for the CUDA cores at `for_cores`.
    void add(std::size_t barrier, double when, double for_cores, std::uint32_t step);
    /// An instruction begins, or ends, whose completion is not known yet.
    void open(std::size_t barrier) { ++open_[barrier], waiting_ |= 1U << barrier; }
    void close(std::size_t barrier) {
        if (--open_[barrier] == 0) waiting_ &= ~(1U << barrier);
    }
    /// The cycle, from `when` on, at which all barriers of `wait` are released; kNever where that is not known yet.
    [[nodiscard]] double released(std::uint32_t wait, bool on_cores, double when) const {
        if ((waiting_ & wait) != 0) return kNever;
        const auto& times = on_cores ? for_cores_ : times_;
        for (std::size_t i = 0; wait != 0; ++i, wait >>= 1)
            if ((wait & 1) != 0 && times[i] > when) when = times[i];
        return when;
    }
    /// The instruction that releases the last one of the barriers of `wait`.
    [[nodiscard]] std::uint32_t last_of(std::uint32_t wait, bool on_cores) const {
        const auto& times = on_cores ? for_cores_ : times_;
        std::size_t last = kCount;
        for (std::size_t i = 0; wait != 0; ++i, wait >>= 1)
            if ((wait & 1) != 0 && (last == kCount || times[i] > times[last])) last = i;
        return last == kCount ? costs::kNoProducer : steps_[last];
    }
    /// The cycle, from `when` on, at which at most `left` instructions of the barrier have not completed.
    [[nodiscard]] double at_most(std::size_t barrier, std::size_t left, double when) const;

private:
    std::array<double, kCount> times_{};
    std::array<double, kCount> for_cores_{};
    std::array<std::uint32_t, kCount> steps_{};     ///< that complete last
    std::array<std::uint32_t, kCount> open_{};      ///< instructions whose completion is not known yet
    std::uint32_t waiting_ = 0;                     ///< barriers that have some of these
    std::array<std::vector<double>, kCount> each_;  ///< of instructions that may not have completed, in order
};

/// Whether blocks can see what others do during the launch: by a barrier of the grid, loads past the SM's own cache,
/// or results of atomics.
[[nodiscard]] bool sees_other_blocks(const machine_code::MachineProgram& program);

class SassEngine final : public Engine {
public:
    SassEngine(const LaunchSetup& setup, const LoadedMachineCode& kernel, Counters& counters,
               costs::StallRecord& stalls);

private:
    using Step = machine_code::Step;

    static constexpr int kNoBarrierBehind = -1;
    struct Warp : ResidentWarp {
        explicit Warp(const machine_code::MachineProgram& program) : state(program) {}
        machine_code::Warp state;
        machine_code::Paths paths;
        DependenceBarriers barriers;
        double memory_done = 0;           ///< completion of all accesses to memory so far, for fences
        double stored = 0;                ///< the last store to global memory has left the SM; 0: there is none
        double shared_stored = 0;         ///< the last store to shared memory has been performed
        double copies_done = 0;           ///< completion of all LDGSTS so far
        double bulk_read = 0;             ///< the sources of all bulk copies to global memory so far have been read
        double bulk_done = 0;             ///< these copies have completed
        std::uint64_t cluster_phase = 0;  ///< of its cluster's barrier, in which it arrived last
        bool waits_for_phase = false;     ///< of a barrier in shared memory
        int behind = kNoBarrierBehind;    ///< the barrier of its block that it has passed and that is not complete
        bool stopped_behind = false;      ///< its next instruction waits for that barrier
        double met = 0;                   ///< when a barrier was complete that it had passed; 0: nothing waits for it
        std::uint32_t turn = 0;           ///< instructions since another path had its turn
        std::uint32_t running = 0;        ///< lanes of the path that issued last
        costs::IssueWait wait;            ///< for its next instruction
        std::uint32_t held = 0;           ///< its atomics that memory has not performed yet
        bool waits_for_atomics = false;   ///< its next instruction waits for them
        bool waits_for_room = false;      ///< its next atomic waits until others of its SM have been served
        std::uint32_t started = 0;        ///< how often it has begun as a warp of a block
    };
    /// An atomic that waits for its turn in the queues of units.
    struct HeldInstruction {
        machine_code::HeldAtomic atomic;
        machine_code::BlockState* block = nullptr;
        std::size_t step = 0;
        std::uint32_t warp = 0, started = 0, mask = 0;
        std::size_t requests = 0;          ///< that have not been served
        double first = kNever, last = 0;   ///< when the first and the last result are back
        double returning = 0, spread = 0;  ///< what the results take on their way back
    };
    /// A unit for atomics, which serves its queues in turn.
    struct AtomicQueues {
        struct Request {
            SentAtomic sent;
            std::size_t atomic = 0;
        };
        std::vector<std::deque<Request>> waiting;
        std::size_t next = 0;   ///< the queue whose turn it is
        double free = 0;        ///< the unit can serve the next request
        double event = kNever;  ///< it looks for one
    };
    [[nodiscard]] static Warp& of(ResidentWarp& warp) { return static_cast<Warp&>(warp); }
    [[nodiscard]] static const Warp& of(const ResidentWarp& warp) { return static_cast<const Warp&>(warp); }

    ResidentWarp& make_warp() override;
    void begin_warp(ResidentWarp& warp, std::uint32_t lanes, double now) override;
    void prepare_next(ResidentWarp& warp, double now) override { prepare(of(warp), now); }
    void issue_next(std::uint32_t warp, double now) override;
    [[nodiscard]] std::uint32_t live_threads(const ResidentWarp& warp) const override;
    void leave_barrier(ResidentWarp& warp, int number, const BarrierRelease& release) override;
    [[nodiscard]] std::string where(const ResidentWarp& warp) const override;
    [[nodiscard]] std::string operands_of(const ResidentWarp& warp) const override;
    [[nodiscard]] std::vector<std::uint64_t> issued_by_place() const override;

    // ---- instructions (issue.cpp)
    void find_needs();
    static void fetch_registers(const Warp& warp, const SassNeeds& needs);
    void prepare(Warp& warp, double now);
    [[nodiscard]] bool wait_behind_barrier(Warp& warp, std::size_t at);
    /// When the instruction that is chosen at `now` issues, as the ports of the register file allow.
    double read_operands(const Warp& warp, const SassNeeds& needs, std::uint32_t index, double now);
    /// When the warp's scheduler has the constant of this place.
    double constant_there(const Warp& warp, std::uint32_t place, double now);
    void note_issue_of(Warp& warp, std::size_t at, double now);
    void execute(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    void follow_unknown(Warp& warp, std::size_t at, std::uint32_t mask);
    void compute(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    void go(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    /// Warps of its warp group go on that wait for this one.
    void arrive_at_group(const Warp& warp, double now);
    void note_arithmetic_unit(std::uint16_t unit);
    /// Beside products of warp groups, arithmetic of all units waits after an instruction that writes registers.
    void hold_arithmetic_back(std::uint32_t scheduler, std::uint8_t results, double now);
    /// Puts a product of a warp group into the queue of its tensor core.
    void queue_product(Warp& warp, std::size_t at, double now);
    /// The instruction at `at` has read its operands at `read` and written its results at `written`.
    void complete(Warp& warp, std::size_t at, double read, double written, double later_for_cores = 0);

    // ---- loads, stores and atomics (memory.cpp)
    void find_accesses();
    /// Whether loads that an SM's own cache may serve can meet atomics of other SMs.
    [[nodiscard]] bool sees_own_cache_beside_atomics() const;
    /// Where `sent` is not nullptr, it gets the requests of an atomic, whose results come later.
    AccessTimes access_memory(Warp& warp, std::size_t at, std::uint32_t mask, double now,
                              std::vector<SentAtomic>* sent = nullptr);
    void access_constant(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    double use_barrier(Warp& warp, const Step& step, std::uint32_t mask, double now);
    void fetch_texture(Warp& warp, std::size_t at, std::uint32_t mask, double now);
    void copy_async(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    void wait_for_barriers(Warp& warp, const Step& step, double now);
    void wait_at_fence(Warp& warp, sass::FenceScope scope, double now);
    /// The space of an access: generic addresses are turned into addresses of their space.
    [[nodiscard]] MemoryInstruction space_of(const MemoryInstruction& instruction, std::uint32_t mask);

    // ---- atomics that memory performs later (held_atomics.cpp)
    void find_held();
    void hold(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    /// Lets lanes of a load wait behind the atomics that are queued where they load from. Returns the other lanes.
    std::uint32_t hold_load(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);
    [[nodiscard]] std::size_t place_for_held();
    void queue(const SentAtomic& sent, std::size_t atomic);
    void serve_unit(std::size_t unit, double now) override;
    /// Whether the warp's next instruction is an atomic for which its SM has no room.
    [[nodiscard]] bool wait_for_room(Warp& warp, std::size_t at);
    /// A request of the SM has been served: the oldest of the warps that wait goes on.
    void make_room(std::uint32_t sm, double now);
    /// All requests of the instruction have been served.
    void end_atomic(std::size_t atomic, double now);
    /// Memory performs those of the lanes that it has not performed yet.
    void perform(HeldInstruction& held, std::uint32_t lanes);
    /// Whether the instruction reads or writes global memory, perhaps.
    [[nodiscard]] bool reaches_memory(std::size_t at) const;
    /// Performs all of the warp's, because what it does next must come after them.
    void perform_of(Warp& warp);

    // ---- bulk copies and barriers in shared memory (bulk_copies.cpp)
    /// A warp that waits for the phase of a barrier.
    struct Waiter {
        std::uint32_t warp = 0;
        std::size_t step = 0;
        std::uint32_t mask = 0;
    };
    void copy_bulk(Warp& warp, std::size_t at, double now);
    void fetch_map(const Warp& warp, const Step& step, double now);
    void wait_for_phase(Warp& warp, std::size_t at, std::uint32_t mask);
    void check_waiters(std::uint32_t block, double now);

    // ---- clusters (clusters.cpp)
    void join_cluster(Block& block, machine_code::BlockState& state);
    void meet_cluster(Warp& warp, const Step& step, std::size_t at, std::uint32_t taken, double now);
    void release_cluster(machine_code::ClusterState& cluster, double now);
    /// When an access has ended that would end at `own` in the block's own shared memory, but goes to that of others.
    [[nodiscard]] double at_other_blocks(const Warp& warp, const MemoryInstruction& instruction, std::uint32_t mask,
                                         double now, double own);

    // ---- barriers (barriers.cpp)
    void meet_block(Warp& warp, const Step& step, std::size_t at, std::uint32_t mask, double now);

    // ---- blocks that wait for each other (waits.cpp)
    /// The warp has performed a step: looks whether it waits for what another block writes.
    void watch(const Warp& warp, const Step& step, std::size_t at, std::uint32_t mask);

    /// Says where a lane failed, and why.
    [[nodiscard]] std::string failure(const Warp& warp, std::size_t at, int lane, const std::string& what) const;
    [[noreturn]] void fail(const Warp& warp, std::size_t at, int lane, const std::string& what) const;

    const LoadedMachineCode& kernel_;
    const machine_code::MachineProgram& program_;
    costs::StallRecord& stalls_;
    std::array<std::vector<std::uint32_t>, 8> constants_;
    std::vector<SassNeeds> needs_;             ///< by step, and one for a warp that left the code
    std::vector<MemoryInstruction> accesses_;  ///< by step
    std::vector<std::uint32_t> rows_;          ///< by step: lanes whose addresses are accessed
    machine_code::BlockState block_state_of_warp_;
    std::vector<machine_code::BlockState> states_;  ///< by block
    /// By block and address in shared memory: when the last copy of a phase has arrived at the barrier there.
    std::vector<std::unordered_map<std::uint64_t, double>> barriers_complete_;
    std::vector<std::vector<Waiter>> waiters_;  ///< by block
    machine_code::UnknownMemory unknown_memory_;
    std::deque<machine_code::UnknownValues> unknown_;  ///< by block; empty where products are computed
    machine_code::VisibleAccesses visible_;
    std::vector<machine_code::WaitWatch> watches_;  ///< by block; empty where no code looks at what other blocks do
    std::vector<bool> held_;                        ///< by step: an atomic that memory performs when its turn comes
    std::vector<bool> held_loads_;                  ///< by step: a load that waits behind atomics on its words
    bool holds_atomics_ = false;
    std::uint64_t most_in_flight_ = 0;               ///< requests of atomics of an SM; 0: not limited
    std::vector<std::uint64_t> in_flight_;           ///< by SM
    std::vector<std::set<std::uint32_t>> for_room_;  ///< by SM: warps that wait for room
    std::size_t waiting_requests_ = 0;               ///< in the queues of all units
    double load_cycles_ = 0;                         ///< of a unit, for a load
    std::vector<AtomicQueues> atomic_queues_;        ///< by unit
    std::vector<HeldInstruction> atomics_;
    std::vector<std::size_t> free_atomics_;
    std::vector<SentAtomic> sent_;    ///< of one atomic; kept to allocate less
    std::optional<NearViews> views_;  ///< empty where no load can see what an atomic had not changed yet
    std::deque<machine_code::ClusterState> clusters_;
    std::unordered_map<std::uint64_t, machine_code::ClusterState*> cluster_of_;  ///< by number in the grid
    std::vector<costs::ConstantOperands> constant_operands_;                     ///< by scheduler
    double constant_line_ = 0;                                                   ///< bytes
    bool constants_wait_ = false;  ///< the description says how long operands in constant banks are waited for
    std::vector<costs::ProductsUnderWay> products_;  ///< by scheduler
    std::vector<std::uint16_t> arithmetic_units_;    ///< of a scheduler
    costs::FenceSpec fence_spec_;
    double yield_latency_ = 0;          ///< of a warp whose threads are on one path
    std::vector<double> between_free_;  ///< by SM: when it can send or ask for more of other blocks' shared memory
    std::vector<double> arrival_free_;  ///< by SM: when another warp can arrive at the barrier of its cluster
    std::vector<std::uint64_t> sectors_elsewhere_;  ///< of an access; kept to allocate less
    std::vector<Warp> of_warps_;                    ///< never grows beyond what is reserved, so references hold
};

}  // namespace gputomo::sim
