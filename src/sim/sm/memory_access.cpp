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

/// What each thread touches. A texel has one channel, whatever the fetch writes into the others; a prefetch has no
/// elements.
std::uint32_t bytes_of(const Operation& op) {
    return op.kind == Kind::texture ? op.bytes : std::uint32_t{op.bytes} * std::max<std::uint32_t>(op.elements, 1);
}

/// Signed values are extended to the whole slot, because the register may be wider than what is loaded.
std::uint64_t load_bits(const std::byte* from, const Operation& op) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, op.bytes);
    if (!op.sign_extend) return bits;
    const int shift = 64 - 8 * op.bytes;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
}

enum Atomic : std::uint8_t { kAdd, kMin, kMax, kExchange, kCompareSwap, kAnd, kOr, kXor, kIncrement, kDecrement };

template <class T>
T atomic_result(std::uint8_t mode, T old, T a, T b) {
    switch (mode) {
        case kAdd:
            if constexpr (std::is_integral_v<T>)
                return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                                      static_cast<std::make_unsigned_t<T>>(a));
            else
                return old + a;
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
        default:
            return op.bytes == 8 ? apply_atomic<std::uint64_t>(op.mode, at, a, b)
                                 : apply_atomic<std::uint32_t>(op.mode, at, a, b);
    }
}

}  // namespace

/// The space that generic addresses point into; that of the first thread, and the others must agree (resolve() sees to
/// it).
Space Engine::space_of(const Warp& warp, const Operation& op, std::uint32_t mask) const {
    if (op.space != Space::generic) return op.space;
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    const std::uint64_t first = warp.registers[op.source[0]][lane] + static_cast<std::uint64_t>(op.offset);
    if (first - kSharedWindow < kWindowSize) return Space::shared;
    return first - kLocalWindow < kWindowSize ? Space::local : Space::global;
}

std::byte* Engine::data_at(Warp& warp, Space space, int lane, std::uint64_t address, std::uint64_t bytes) {
    const auto inside = [&](std::vector<std::byte>& all, std::uint64_t begin, std::uint64_t size) {
        return address <= size && bytes <= size - address ? all.data() + begin + address : nullptr;
    };
    switch (space) {
        case Space::shared: return inside(blocks_[warp.block].shared, 0, shared_bytes_);
        case Space::local:
            return inside(warp.local, static_cast<std::uint64_t>(lane) * program_.local_bytes, program_.local_bytes);
        case Space::param: return inside(parameters_, 0, parameters_.size());
        default: return setup_.memory.resolve(address, bytes);
    }
}

/// All lanes in one allocation of device memory: one search instead of 32.
bool Engine::resolve_together(const Operation& op, std::uint32_t mask, std::uint64_t bytes) {
    std::uint64_t low = ~std::uint64_t{0}, high = 0, together = 0;
    for_lanes(mask, [&](int lane) {
        const std::uint64_t address = addresses_[static_cast<std::size_t>(lane)];
        low = std::min(low, address);
        high = std::max(high, address);
        together |= address;
    });
    if ((together & (bytes - 1)) != 0 || high > ~bytes) return false;
    std::byte* const base = op.space == Space::generic || op.space == Space::global || op.space == Space::constant
                                ? setup_.memory.resolve(low, high - low + bytes)
                                : nullptr;
    if (base == nullptr || !setup_.memory.is_plain(low)) return false;
    for_lanes(mask, [&](int lane) {
        data_[static_cast<std::size_t>(lane)] = base + (addresses_[static_cast<std::size_t>(lane)] - low);
    });
    return true;
}

void Engine::resolve(Warp& warp, const Operation& op, Space space, std::uint32_t mask) {
    const std::uint64_t bytes = bytes_of(op);
    const LaneValues& base = warp.registers[op.source[0]];
    const bool near = space == Space::shared || space == Space::local;
    const std::uint64_t window = op.space != Space::generic || !near ? 0
                                 : space == Space::shared            ? kSharedWindow
                                                                     : kLocalWindow;
    for_lanes(mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        addresses_[l] = base[l] + static_cast<std::uint64_t>(op.offset) - window;
        if (near && window == 0) addresses_[l] &= 0xFFFFFFFF;
    });
    if (!near && space != Space::param && resolve_together(op, mask, bytes)) return;
    for_lanes(mask, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint64_t address = addresses_[l];
        data_[l] = data_at(warp, space, lane, address, bytes);
        if (data_[l] == nullptr)
            fail(warp, op, lane, fmt::format("illegal address 0x{:x} ({} bytes)", address + window, bytes));
        if (address % bytes != 0)
            fail(warp, op, lane, fmt::format("misaligned address 0x{:x} ({} bytes)", address + window, bytes));
    });
}

void Engine::move_data(Warp& warp, const Operation& op, std::uint32_t mask) {
    if (op.kind == Kind::atomic) {
        const auto operand = [&](std::size_t i, std::size_t l) {
            return op.source[i] == kNoSlot ? 0 : warp.registers[op.source[i]][l];
        };
        for_lanes(mask, [&](int lane) {
            const auto l = static_cast<std::size_t>(lane);
            warp.registers[op.destination][l] = apply_atomic(op, data_[l], operand(1, l), operand(2, l));
        });
        return;
    }
    for (std::size_t e = 0; e < op.elements; ++e) {
        LaneValues& values = warp.registers[op.vector[e]];
        for_lanes(mask, [&](int lane) {
            const auto l = static_cast<std::size_t>(lane);
            std::byte* at = data_[l] + e * op.bytes;
            if (op.kind == Kind::load)
                values[l] = load_bits(at, op);
            else
                std::memcpy(at, &values[l], op.bytes);
        });
    }
}

/// A memory instruction takes `slots`, and further ones with more transactions or conflicts than one issue serves
/// (Volkov 2016, 3.6, 4.7).
void Engine::reissue(Warp& warp, std::size_t served, double slots, double now) {
    Scheduler& scheduler = schedulers_[warp.scheduler];
    take_slots(scheduler, slots, now);
    if (rules_.served_per_issue == 0 || served <= rules_.served_per_issue) return;
    const std::size_t further = (served - 1) / rules_.served_per_issue;
    const double extra = static_cast<double>(further) * rules_.issue_interval;
    take_slots(scheduler, slots + static_cast<double>(further), now);
    warp.gap = std::max(warp.gap, now + rules_.warp_interval + extra);
    warp.hold = std::max(warp.hold, now + extra);
}

double Engine::time_shared(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    const auto access = banks_.access(addresses_, mask, {.bytes = bytes_of(op), .broadcasts = op.kind != Kind::atomic});
    Sm& sm = sms_[schedulers_[warp.scheduler].sm];
    const double start = std::max(now, sm.shared_free);
    sm.shared_free = start + access.occupancy;
    counters_.bank_conflict_cycles += static_cast<std::uint64_t>(access.conflict);
    reissue(warp, access.ways, rules_.shared_slots, now);
    return start + access.latency;
}

double Engine::walk_segments(const std::vector<Segment>& segments, Transaction& transaction, double now) {
    double done = now;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        transaction.address = segments[i].address;
        transaction.bytes = segments[i].bytes;
        done = std::max(done, setup_.memory_system.access(transaction, now + spacing(transaction, i)));
    }
    return done;
}

double Engine::spacing(const Transaction& transaction, std::size_t index) const {
    const bool is_global_load = transaction.path == PathKind::global && transaction.kind == AccessKind::load;
    return is_global_load ? setup_.costs.global_loads().departure(index)
                          : static_cast<double>(index) * kTransactionSpacing;
}

/// Stores and atomics are served beyond the SM, as are loads that ask for it.
Coalescer& Engine::coalescer_for(const Operation& op, Coalescers& path) {
    return op.kind == Kind::load && !op.bypass_near ? path.near : path.far;
}

double Engine::time_transactions(Warp& warp, const Operation& op, Coalescer& coalescer, PathKind path,
                                 std::uint32_t mask, double now) {
    const Scheduler& scheduler = schedulers_[warp.scheduler];
    Transaction transaction;
    transaction.sm = scheduler.sm;
    transaction.scheduler = scheduler.number;
    transaction.path = path;
    transaction.kind = op.kind == Kind::store    ? AccessKind::store
                       : op.kind == Kind::atomic ? AccessKind::atomic
                                                 : AccessKind::load;
    transaction.hint = op.bypass_near ? CacheHint::l2_only : CacheHint::all;
    transaction.request = ++requests_;
    const auto& segments = coalescer.merge(addresses_, mask, bytes_of(op));
    const bool slower = transaction.kind == AccessKind::load && path == PathKind::global && in_both_halves(mask);
    const double done =
        walk_segments(segments, transaction, now) + (slower ? setup_.costs.global_loads().whole_warp() : 0);
    const bool store = op.kind == Kind::store;
    latest_ = std::max(latest_, store ? now : done);
    if (store) warp.hold = std::max(warp.hold, done - kStoreQueueCycles);
    warp.hold = std::max(warp.hold, now + spacing(transaction, segments.size() - 1));
    reissue(warp, segments.size(), rules_.path_slots[static_cast<std::size_t>(path)], now);
    return done;
}

/// Local memory is laid out word by word: the same word of 32 threads lies together. Addresses become those of device
/// memory.
double Engine::time_local(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    constexpr std::uint64_t kWord = 4;
    const auto number = static_cast<std::uint64_t>(&warp - warps_.data());
    const std::uint64_t frames = setup_.local_address + number * program_.local_bytes * kWarpSize;
    const std::uint32_t bytes = bytes_of(op);
    const auto offsets = addresses_;
    Operation word = op;
    word.bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(op.bytes, kWord));
    word.elements = 1;
    double done = now;
    double then = now;
    for (std::uint64_t at = 0; at < bytes; at += kWord, then += kTransactionSpacing) {
        for_lanes(mask, [&](int lane) {
            const std::uint64_t address = offsets[static_cast<std::size_t>(lane)] + at;
            const std::uint64_t word_number = address / kWord * kWarpSize + static_cast<std::uint64_t>(lane);
            addresses_[static_cast<std::size_t>(lane)] = frames + word_number * kWord + address % kWord;
        });
        done = std::max(done, time_transactions(warp, word, coalescer_for(op, local_), PathKind::local, mask, then));
    }
    return done;
}

double Engine::time_access(Warp& warp, const Operation& op, Space space, std::uint32_t mask, double now) {
    switch (space) {
        case Space::param: return now + setup_.kernel.costs[op.cost].last_latency;
        case Space::shared: return op.elements == 0 ? now : time_shared(warp, op, mask, now);
        case Space::local: return time_local(warp, op, mask, now);
        case Space::constant: return time_transactions(warp, op, constant_, PathKind::constant, mask, now);
        default: break;
    }
    if (op.read_only && rules_.read_only_is_texture)
        return time_transactions(warp, op, texture_, PathKind::texture, mask, now);
    return time_transactions(warp, op, coalescer_for(op, global_), PathKind::global, mask, now);
}

void Engine::issue_memory(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
    if (mask != 0) {
        const Space space = space_of(warp, op, mask);
        resolve(warp, op, space, mask);
        move_data(warp, op, mask);
        const double done = time_access(warp, op, space, mask, now);
        set_ready(warp, op, done, space == Space::shared && op.kind == Kind::load ? rules_.shared_to_cores : 0);
        warp.memory_done = std::max(warp.memory_done, done);
        if (rules_.load_limit != 0 && op.kind == Kind::load && op.elements != 0) warp.loads.push_back(done);
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

void Engine::issue_texture(Warp& warp, const Operation& op, std::uint32_t mask, double now) {
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
        const double done = time_transactions(warp, op, texture_, PathKind::texture, mask, now);
        set_ready(warp, op, done);
        warp.memory_done = std::max(warp.memory_done, done);
    }
    warp.paths.advance(warp.paths.current().pc + 1);
}

}  // namespace gputomo::sim
