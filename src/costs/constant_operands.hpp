// Constants that instructions have as operands.
#pragma once

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
inline constexpr std::uint16_t kNoConstantLine = std::numeric_limits<std::uint16_t>::max();

/// The line of a constant in all banks.
[[nodiscard]] inline std::uint16_t constant_line_of(std::uint64_t bank, std::uint64_t offset) {
    constexpr std::uint64_t kBankBytes = 64 * 1024, kLineBytes = 64;
    return static_cast<std::uint16_t>((bank * kBankBytes + offset % kBankBytes) / kLineBytes);
}

/// Lines that an SM has read. All of a kernel's operands are taken to fit.
class ConstantOperands {
public:
    explicit ConstantOperands(double first = 0) : first_(first) {}
    explicit ConstantOperands(const machine::Machine& machine) {
        if (const auto found = machine.operations.find(std::string(kConstantOperand));
            found != machine.operations.end())
            first_ = static_cast<double>(found->second.latency.value_or(0));
    }
    /// When an instruction that is there at `now` has its constant.
    [[nodiscard]] double there(std::uint16_t line, double now) {
        if (line == kNoConstantLine || first_ == 0) return now;
        if (line >= ready_.size()) ready_.resize(line + std::size_t{1}, kNever);
        ready_[line] = std::min(ready_[line], now + first_);
        return std::max(now, ready_[line]);
    }

private:
    static constexpr double kNever = std::numeric_limits<double>::infinity();
    double first_ = 0;
    std::vector<double> ready_;  ///< by line
};

}  // namespace gputomo::costs
