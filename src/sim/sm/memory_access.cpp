// Loads, stores, atomics and texture fetches: what they move and when they complete.
#include "sim/exec/lanes.hpp"
#include "sim/sm/engine_state.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace gputomo::sim {
namespace {

using ptx::Space;
using ptx::Type;

/// A store queue holds what the SM wrote this many cycles ago or less; older stores that have not left stall the warp.
constexpr double kStoreQueueCycles = 1000;
/// Transactions of one instruction leave the SM one after the other.
constexpr double kTransactionSpacing = 1;

std::uint64_t load_bits(const std::byte* from, const Operation& op) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, op.bytes);
    if (!op.sign_extend || op.bytes >= 4) return bits;
    const int shift = 64 - 8 * op.bytes;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift) & 0xFFFFFFFF;
}

enum Atomic : std::uint8_t { kAdd, kMin, kMax, kExchange, kCompareSwap, kAnd, kOr, kXor, kIncrement, kDecrement };

template <class T>
T atomic_result(std::uint8_t mode, T old, T a, T b) {
    switch (mode) {
        case kAdd:
            if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(a));
            else return old + a;
        case kMin: return std::min(old, a);
        case kMax: return std::max(old, a);
        case kExchange: return a;
        case kCompareSwap: return old == a ? b : old;
        case kIncrement: return old >= a ? T{0} : static_cast<T>(old + 1);
        case kDecrement: return old == T{0} || old > a ? a : static_cast<T>(old - 1);
        default: break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (mode == kAnd) return static_cast<T>(old & a);
        if (mode == kOr) return static_cast<T>(old | a);
        if (mode == kXor) return static_cast<T>(old ^ a);
    }
    return old;
}

template <class T>
std::uint64_t apply_atomic(std::uint8_t mode, std::byte* at, std::uint64_t a, std::uint64_t b) {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T result = atomic_result(mode, old, as<T>(a), as<T>(b));
    std::memcpy(at, &result, sizeof result);
    return bits_of(old);
}

std::uint64_t apply_atomic(const Operation& op, std::byte* at, std::uint64_t a, std::uint64_t b) {
    switch (op.type) {
        case Type::s32: return apply_atomic<std::int32_t>(op.mode, at, a, b);
        case Type::s64: return apply_atomic<std::int64_t>(op.mode, at, a, b);
        case Type::f32: return apply_atomic<float>(op.mode, at, a, b);
        case Type::f64: return apply_atomic<double>(op.mode, at, a, b);
        default: return op.bytes == 8 ? apply_atomic<std::uint64_t>(op.mode, at, a, b) : apply_atomic<std::uint32_t>(op.mode, at, a, b);
    }
}

}  // namespace

void Engine::resolve(Warp& warp, const Operation& op, std::uint32_t mask, bool& is_shared) {
    const std::uint64_t bytes = std::uint64_t{op.bytes} * op.elements;
    Block& block = blocks_[warp.block];
    const LaneValues& base = warp.registers[op.source[0]];
    is_shared = op.space == Space::shared;
    if (op.space == Space::generic) {
        const std::uint64_t first = base[static_cast<std::size_t>(std::countr_zero(mask))] + static_cast<std::uint64_t>(op.offset);
        is_shared = first - kSharedWindow < kSharedWindowSize;
    }
    for_lanes(mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::uint64_t address = base[l] + static_cast<std::uint64_t>(op.offset);
        std::byte* data = nullptr;
        if (is_shared) {
            if (op.space == Space::generic) address -= kSharedWindow;
            address &= 0xFFFFFFFF;
            if (address + bytes <= block.shared.size()) data = block.shared.data() + address;
        } else if (op.space == Space::param) {
            if (address + bytes <= parameters_.size()) data = parameters_.data() + address;
        } else {
            data = setup_.memory.resolve(address, bytes);
        }
        if (data == nullptr) fail(warp, op, lane, fmt::format("illegal address 0x{:x} ({} bytes)", address, bytes));
        if (address % bytes != 0) fail(warp, op, lane, fmt::format("misaligned address 0x{:x} ({} bytes)", address, bytes));
        addresses_[l] = address;
        data_[l] = data;
    });
}

void Engine::move_data(Warp& warp, const Operation& op, std::uint32_t mask) {
    for_lanes(mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        if (op.kind == Kind::atomic) {
            const auto operand = [&](std::size_t i) { return op.source[i] == kNoSlot ? 0 : warp.registers[op.source[i]][l]; };
            warp.registers[op.destination][l] = apply_atomic(op, data_[l], operand(1), operand(2));
            return;
        }
        for (std::size_t e = 0; e < op.elements; ++e) {
            std::byte* at = data_[l] + e * op.bytes;
            if (op.kind == Kind::load)
                warp.registers[op.vector[e]][l] = load_bits(at, op);
            else
                std::memcpy(at, &warp.registers[op.vector[e]][l], op.bytes);
        }
    });
}

void Engine::loaded(Warp& warp, const Operation& op, double when) {
    if (op.kind == Kind::store) return;
    for (const auto slot : op.vector) set_ready(warp, slot, when);
    if (op.kind == Kind::atomic) set_ready(warp, op.destination, when);
    if (rules_.load_limit != 0 && op.kind == Kind::load) warp.loads.push_back(when);
}

double Engine::time_shared(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const auto access = banks_.access(addresses_, mask, std::uint32_t{op.bytes} * op.elements);
    Sm& sm = sms_[schedulers_[warp.scheduler].sm];
    const double start = std::max(now, sm.shared_free);
    sm.shared_free = start + access.occupancy;
    counters_.bank_conflict_cycles += static_cast<std::uint64_t>(access.conflict);
    return start + access.latency;
}

double Engine::time_global(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const bool constant = op.space == Space::constant;
    Coalescer& coalescer = constant ? constant_coalescer_ : global_coalescer_;
    Transaction transaction;
    transaction.sm = schedulers_[warp.scheduler].sm;
    transaction.path = constant ? PathKind::constant : PathKind::global;
    transaction.kind = op.kind == Kind::load ? AccessKind::load : op.kind == Kind::store ? AccessKind::store : AccessKind::atomic;
    transaction.hint = op.bypass_near ? CacheHint::l2_only : CacheHint::all;
    double done = now, at = now;
    for (const Segment& segment : coalescer.merge(addresses_, mask, std::uint32_t{op.bytes} * op.elements)) {
        transaction.address = segment.address;
        transaction.bytes = segment.bytes;
        done = std::max(done, setup_.memory_system.access(transaction, at));
        at += kTransactionSpacing;
    }
    latest_ = std::max(latest_, op.kind == Kind::store ? now : done);
    if (op.kind == Kind::store && done > now + kStoreQueueCycles) warp.next_issue = std::max(warp.next_issue, done - kStoreQueueCycles);
    warp.next_issue = std::max(warp.next_issue, at - kTransactionSpacing);
    return done;
}

void Engine::issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask != 0) {
        bool is_shared = false;
        resolve(warp, op, mask, is_shared);
        move_data(warp, op, mask);
        double done = 0;
        if (op.space == Space::param) {
            done = now + setup_.kernel.costs[op.cost].last_latency;
        } else {
            done = is_shared ? time_shared(warp, op, mask, now) : time_global(warp, op, mask, now);
        }
        loaded(warp, op, done);
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

void Engine::issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    double done = now;
    if (mask != 0) {
        for_lanes(mask, [&](int lane) {
            const auto l = static_cast<std::size_t>(lane);
            const auto texture = setup_.textures.find(warp.registers[op.source[0]][l]);
            if (texture == setup_.textures.end()) fail(warp, op, lane, "no such texture");
            const auto [base, bytes] = texture->second;
            const auto texel = static_cast<std::int64_t>(as<std::int32_t>(warp.registers[op.source[1]][l]));
            const bool inside = texel >= 0 && static_cast<std::uint64_t>(texel) * 4 + 4 <= bytes;
            addresses_[l] = base + (inside ? static_cast<std::uint64_t>(texel) * 4 : 0);
            // Reads outside a linear texture give zero.
            const std::byte* data = inside ? setup_.memory.resolve(addresses_[l], 4) : nullptr;
            warp.registers[op.vector[0]][l] = data == nullptr ? 0 : load_bits(data, op);
            for (std::size_t e = 1; e < op.elements; ++e) warp.registers[op.vector[e]][l] = 0;
        });
        Transaction transaction;
        transaction.sm = schedulers_[warp.scheduler].sm;
        transaction.path = PathKind::texture;
        double at = now;
        for (const Segment& segment : texture_coalescer_.merge(addresses_, mask, 4)) {
            transaction.address = segment.address;
            transaction.bytes = segment.bytes;
            done = std::max(done, setup_.memory_system.access(transaction, at));
            at += kTransactionSpacing;
        }
        latest_ = std::max(latest_, done);
        for (const auto slot : op.vector) set_ready(warp, slot, done);
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

}  // namespace gputomo::sim
