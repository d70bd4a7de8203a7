// Barriers in shared memory, which PTX calls mbarrier: SYNCS and ARRIVES.
//
// The layout of the 64 bits follows from the code that initializes a barrier and that reads a token.
// Arrivals are counted up to 2^20, so that the carry of the last one changes the phase in bit 63.
#include "sass/form.hpp"
#include "sim/exec/lane_fault.hpp"
#include "sim/machine_code/clusters.hpp"
#include "sim/machine_code/mbarrier.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/warp.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

constexpr std::uint64_t kCounts = std::uint64_t{1} << 20;
constexpr int kReloadAt = 1, kTransactionsAt = 21, kArrivalsAt = 43, kPhaseAt = 63;
constexpr std::uint64_t kTransactions = std::uint64_t{1} << (kArrivalsAt - kTransactionsAt);

std::uint64_t field(std::uint64_t barrier, int at, std::uint64_t count) { return barrier >> at & (count - 1); }

void set_field(std::uint64_t& barrier, int at, std::uint64_t count, std::uint64_t value) {
    barrier = (barrier & ~((count - 1) << at)) | (value & (count - 1)) << at;
}

/// The barrier after an arrival. A phase ends when no arrivals and no transactions are left.
std::uint64_t after(std::uint64_t barrier, const Arrival& arrival) {
    const std::uint64_t arrivals = field(barrier, kArrivalsAt, kCounts) + arrival.threads;
    set_field(barrier, kReloadAt, kCounts, field(barrier, kReloadAt, kCounts) + arrival.leaving);
    set_field(barrier, kTransactionsAt, kTransactions,
              field(barrier, kTransactionsAt, kTransactions) + arrival.transactions);
    set_field(barrier, kArrivalsAt, kCounts, arrivals);
    if (arrivals % kCounts == 0 && field(barrier, kTransactionsAt, kTransactions) == 0) {
        set_field(barrier, kArrivalsAt, kCounts, field(barrier, kReloadAt, kCounts));
        barrier ^= std::uint64_t{1} << kPhaseAt;
    }
    return barrier;
}

/// The barrier may be that of another block of the cluster.
std::byte* barrier_at(Warp& warp, const Step& step, int lane) {
    return cluster_bytes(warp, step.address, kBarrierBytes, lane);
}

std::uint64_t arrive(Warp& warp, const Step& step, int lane, const Arrival& arrival) {
    std::byte* const at = barrier_at(warp, step, lane);
    return arrive_at_barrier(*warp.block->reached[static_cast<std::size_t>(lane)], at, arrival);
}

/// The values of Modifier::arrival: how many threads arrive, and what becomes of transactions.
enum : unsigned { kExpectAndArrive, kOneThread, kOneTransaction, kExpect, kComplete, kThreads };

Arrival arrival_of(const sass::Instruction& instruction, std::uint32_t operand) {
    Arrival arrival;
    switch (instruction.value(Modifier::arrival)) {
        case kExpectAndArrive: arrival = {.threads = 1, .transactions = operand}; break;
        case kOneThread: arrival = {.threads = 1}; break;
        case kOneTransaction: arrival = {.transactions = 1}; break;
        case kExpect: arrival = {.transactions = operand}; break;
        case kComplete: arrival = {.transactions = 0 - std::uint64_t{operand}}; break;
        default: arrival = {.threads = operand}; break;
    }
    if (instruction.value(Modifier::opt_out) != 0) arrival.leaving = arrival.threads;
    return arrival;
}

/// The lanes arrive one after another, the lowest first.
void arrive_lanes(Warp& warp, const Step& step, std::uint32_t mask) {
    const View operand = warp.view(step, 0);
    std::uint32_t *const low = warp.result(step), *const high = warp.result(step, 1);
    for_lanes(mask, [&](int l) {
        const std::uint64_t before = arrive(warp, step, l, arrival_of(step.instruction, operand[l]));
        low[l] = static_cast<std::uint32_t>(before);
        high[l] = static_cast<std::uint32_t>(before >> 32);
    });
}

/// SYNCS with a result: the predicate says whether the phase that the operand's upper bit names has ended. The
/// instruction does not wait for that; the program repeats it until the predicate holds.
void check_phase(Warp& warp, const Step& step, std::uint32_t mask) {
    const View token = warp.view(step, 0);
    std::uint32_t ended = 0;
    for_lanes(mask, [&](int l) {
        std::uint64_t barrier = 0;
        std::memcpy(&barrier, barrier_at(warp, step, l), sizeof barrier);
        const bool has_ended = (barrier >> kPhaseAt) != token[l] >> 31;
        ended |= static_cast<std::uint32_t>(has_ended) << l;
        if (warp.block->observer != nullptr)
            warp.block->observer->check(warp.block->addresses[static_cast<std::size_t>(l)], has_ended);
    });
    warp.set_predicate(step.predicate_out[0], ended, mask);
}

void exchange(Warp& warp, const Step& step, std::uint32_t mask) {
    const int lane = std::countr_zero(mask);
    const std::uint64_t value = warp.wide(step, 0)[lane];
    std::byte* const at = barrier_at(warp, step, lane);
    std::uint64_t before = 0;
    std::memcpy(&before, at, sizeof before);
    std::memcpy(at, &value, sizeof value);
    *warp.result(step) = static_cast<std::uint32_t>(before);
    *warp.result(step, 1) = static_cast<std::uint32_t>(before >> 32);
}

void invalidate(Warp&, const Step&, std::uint32_t) {}

/// ARRIVES.LDGSTSBAR: arrives when the thread's earlier LDGSTS have completed, which they did when they issued.
template <bool transaction>
void arrive_after_copies(Warp& warp, const Step& step, std::uint32_t mask) {
    const Arrival arrival = transaction ? Arrival{.transactions = 0 - std::uint64_t{1}} : Arrival{.threads = 1};
    for_lanes(mask, [&](int l) { (void)arrive(warp, step, l, arrival); });
}

bool is_arrival(const sass::Instruction& instruction) {
    constexpr unsigned kMask = 1;  // .TMASK returns something that is not known
    return instruction.value(Modifier::arrival_effect) != kMask && instruction.value(Modifier::arrival) <= kThreads;
}

}  // namespace

std::uint64_t arrive_at_barrier(BlockState& block, std::byte* at, const Arrival& arrival) {
    std::uint64_t barrier = 0;
    std::memcpy(&barrier, at, sizeof barrier);
    const std::uint64_t changed = after(barrier, arrival);
    std::memcpy(at, &changed, sizeof changed);
    if (block.observer != nullptr)
        block.observer->arrive(static_cast<std::uint64_t>(at - block.shared.data()),
                               (barrier ^ changed) >> kPhaseAt != 0);
    return barrier;
}

Execute barrier_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const auto text = instruction.form->row->modifiers;
    const auto says = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    step.bytes = 8;
    switch (instruction.operation) {
        case Operation::SYNCS:
            if (says(".ARRIVE")) return is_arrival(instruction) ? arrive_lanes : nullptr;
            if (says(".PHASECHK")) return check_phase;
            if (says(".EXCH")) return exchange;
            return says(".CCTL") ? invalidate : nullptr;
        case Operation::ARRIVES:
            switch (instruction.value(Modifier::arrive_count)) {
                case 1: return arrive_after_copies<false>;
                case 2: return arrive_after_copies<true>;
                default: return nullptr;
            }
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
