// Constants that instructions have as operands.
#pragma once

#include "costs/calendar.hpp"
#include "machine/cache_scope.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::costs {

/// Its latency is the time that an instruction waits for a line of constants that its SM has not read yet.
inline constexpr std::string_view kConstantOperand = "ld.const:operand";

/// No constant is among the operands.
inline constexpr std::uint32_t kNoConstant = std::numeric_limits<std::uint32_t>::max();

/// Bytes of a constant bank.
inline constexpr std::uint64_t kBankBytes = 64 * 1024;

/// The place of a constant, in bytes, where all banks lie one after the other.
[[nodiscard]] inline std::uint32_t constant_place_of(std::uint64_t bank, std::uint64_t offset) {
    return static_cast<std::uint32_t>(bank * kBankBytes + offset % kBankBytes);
}

/// The place `bytes` behind another one of its bank, at whose end addresses begin again.
[[nodiscard]] inline std::uint32_t constant_behind(std::uint32_t place, std::uint32_t bytes) {
    return constant_place_of(place / kBankBytes, place % kBankBytes + bytes);
}

/// What the description says of operands in constant banks.
struct ConstantSpec {
    double first = 0;     ///< cycles that an instruction waits for a line that its scheduler has not read yet
    double interval = 0;  ///< cycles between two such lines from the cache that several SMs share
    /// Cycles from the arrival of a line until the scheduler asks for the next. nullopt: it asks for all at once.
    std::optional<double> turnaround{};
    /// Bytes of a line of the first cache of constants. Where none is described, those of the GPUs that were measured.
    std::uint32_t line_bytes = 64;

    [[nodiscard]] bool described() const { return first > 0; }
    /// What a scheduler waits for that shares the cache with no other one.
    [[nodiscard]] ConstantSpec alone() const {
        ConstantSpec spec = *this;
        spec.interval = 0;
        return spec;
    }
};
[[nodiscard]] inline ConstantSpec constant_spec_of(const machine::Machine& machine) {
    ConstantSpec spec;
    if (const auto found = machine.operations.find(std::string(kConstantOperand)); found != machine.operations.end())
        spec.first = static_cast<double>(found->second.latency.value_or(0));
    if (const auto& cycles = machine.issue.constant_turnaround) spec.turnaround = static_cast<double>(*cycles);
    if (const auto* const cache = machine::near_cache(machine, "constant"); cache != nullptr && cache->line)
        spec.line_bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(1, *cache->line));
    const auto caches = machine::caches_on(machine, "constant");
    if (caches.size() < 2) return spec;
    const auto behind = machine.caches.find(caches[1]);
    if (behind == machine.caches.end() || machine::is_shared_by_all(caches[1], behind->second)) return spec;
    if (const double rate = behind->second.bytes_per_cycle.value_or(0); rate > 0)
        spec.interval = static_cast<double>(spec.line_bytes) / rate;
    return spec;
}

/// Slots of a calendar of constants. Instructions that wait for their code ask up to 4,000 cycles ahead.
inline constexpr std::uint32_t kConstantSlots = 256;

/// The way from the cache of constants that the SMs of a GPC share, where one SM asks.
class ConstantPort {
public:
    explicit ConstantPort(const ConstantSpec& spec = {}) : interval_(spec.interval) {}
    /// When a line that is asked for at `now` can pass.
    [[nodiscard]] double reserve(double now) { return interval_ > 0 ? calendar_.reserve(now, interval_) : now; }

private:
    Calendar calendar_{kConstantSlots};
    double interval_;
};

/// Lines that a scheduler has read. All of a kernel's operands are taken to fit.
class ConstantOperands {
public:
    explicit ConstantOperands(const ConstantSpec& spec = {})
        : spec_(spec), one_by_one_(spec.turnaround ? kConstantSlots : 1, true) {}
    /// When an instruction that is there at `now` has the constant of this place. `port.reserve(now)` says when a line
    /// can pass.
    template <class Port>
    [[nodiscard]] double there(std::uint32_t place, Port&& port, double now) {
        if (place == kNoConstant || !spec_.described()) return now;
        const std::size_t line = place / spec_.line_bytes;
        if (line >= ready_.size()) ready_.resize(line + 1, kNever);
        if (ready_[line] == kNever) ready_[line] = ask(port, now);
        return std::max(now, ready_[line]);
    }

private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();

    /// When a line comes. One that is asked for at `now` waits for lines that are asked for sooner.
    template <class Port>
    [[nodiscard]] double ask(Port&& port, double now) {
        if (!spec_.turnaround) return port.reserve(now) + spec_.first;
        const double alone = spec_.first + *spec_.turnaround;
        const double asks = one_by_one_.reserve(now, alone);
        const double passes = port.reserve(asks);
        if (passes > asks) (void)one_by_one_.reserve(asks + alone, passes - asks);
        return passes + spec_.first;
    }

    ConstantSpec spec_;
    Calendar one_by_one_;        ///< the lines that are on their way
    std::vector<double> ready_;  ///< by line
};

}  // namespace gputomo::costs
