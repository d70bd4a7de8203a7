// Constants that instructions have as operands.
#pragma once

#include "machine/cache_scope.hpp"
#include "machine/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::costs {

/// Its latency is the time that an instruction waits for a line of constants that its SM has not read yet.
inline constexpr std::string_view kConstantOperand = "ld.const:operand";

/// No constant is among the operands.
inline constexpr std::uint32_t kNoConstant = std::numeric_limits<std::uint32_t>::max();

/// The place of a constant, in bytes, where all banks lie one after the other.
[[nodiscard]] inline std::uint32_t constant_place_of(std::uint64_t bank, std::uint64_t offset) {
    constexpr std::uint64_t kBankBytes = 64 * 1024;
    return static_cast<std::uint32_t>(bank * kBankBytes + offset % kBankBytes);
}

/// Lines that an SM has read. All of a kernel's operands are taken to fit.
class ConstantOperands {
public:
    explicit ConstantOperands(double first = 0, std::uint32_t line_bytes = kLineBytes)
        : first_(first), line_bytes_(line_bytes) {}
    explicit ConstantOperands(const machine::Machine& machine) {
        if (const auto found = machine.operations.find(std::string(kConstantOperand));
            found != machine.operations.end())
            first_ = static_cast<double>(found->second.latency.value_or(0));
        if (const auto* const cache = machine::near_cache(machine, "constant"); cache != nullptr && cache->line)
            line_bytes_ = static_cast<std::uint32_t>(std::max<std::int64_t>(1, *cache->line));
    }
    /// When an instruction that is there at `now` has the constant of this place.
    [[nodiscard]] double there(std::uint32_t place, double now) {
        if (place == kNoConstant || first_ == 0) return now;
        const std::size_t line = place / line_bytes_;
        if (line >= ready_.size()) ready_.resize(line + 1, kNever);
        ready_[line] = std::min(ready_[line], now + first_);
        return std::max(now, ready_[line]);
    }

private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    /// A line has as many where no cache of constants is described. GPUs that were measured have lines of 64 bytes.
    static constexpr std::uint32_t kLineBytes = 64;
    double first_ = 0;
    std::uint32_t line_bytes_ = kLineBytes;
    std::vector<double> ready_;  ///< by line
};

}  // namespace gputomo::costs
