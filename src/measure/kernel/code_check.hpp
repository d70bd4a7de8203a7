// Did the driver's compiler make of a kernel what was written? What a kernel's machine code must hold, and whether it
// does.
#pragma once

#include "device/device.hpp"
#include "results/outcome.hpp"
#include "units/error.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gputomo::measure {

/// Instructions of one kind: any of the opcodes.
struct MachineOperation {
    std::string_view opcodes;  ///< "IADD3|IMAD"
    int access_bytes = 0;      ///< of each thread, for loads and stores; 0: any
};

/// Code between two clock reads. The sections that hold the operation (more than half of the smallest count; others
/// hold barriers) are, in the order of the code, these: at least as many of the operation, few other instructions, and
/// none that is slow.
struct TimedCode {
    MachineOperation operation;
    std::vector<int> counts;  ///< {n, 2n}
    int companions = 0;       ///< further instructions that belong to each, where an operation takes several
    bool together = false;  ///< nothing stands between the first and the last of a section that could wait for a result
};

/// A loop that holds `count` of the operation, or a multiple.
struct LoopedCode {
    MachineOperation operation;
    int count = 1;
    bool together = false;  ///< nothing stands within a group of `count` that could wait for a result
};

/// n and 2n of an operation whose machine instructions aren't known beforehand: the two longest pieces of code between
/// clock reads, of which the second is longer by one instruction or more for each of n = `operations`.
struct GrowingCode {
    int operations = 1;
};

/// `pairs` clock reads or more that follow another one at once.
struct ReadsBackToBack {
    int pairs = 1;
};

/// A loop that reads the clock in each turn.
struct ReadInLoop {};

using CodeExpectation = std::variant<TimedCode, LoopedCode, GrowingCode, ReadsBackToBack, ReadInLoop>;

/// The compiler made something else of a kernel than what was written, and what is measured with it would be of
/// something else too.
class CodeMismatch : public Error {
public:
    explicit CodeMismatch(results::CodeCheck check);
    [[nodiscard]] const results::CodeCheck& check() const { return check_; }

private:
    results::CodeCheck check_;
};

/// Unavailable where the device has no machine code (a simulated GPU) or code that can't be decoded; the reason is in
/// `found`.
[[nodiscard]] results::CodeCheck check_code(const std::optional<device::MachineCode>& code, std::string_view kernel,
                                            const CodeExpectation& expectation);

/// Throws CodeMismatch with expectation, finding and listing where the check failed.
void require(const results::CodeCheck& check);

/// Machine instructions that a driver made of each of n operations: what 2n have more than n.
struct Expansion {
    double instructions = 0;                ///< of each operation
    std::map<std::string, double> opcodes;  ///< by name
};
/// Of a kernel that GrowingCode or TimedCode describes; nothing where the device has no machine code, or none that can
/// be decoded.
[[nodiscard]] std::optional<Expansion> expansion_of(const std::optional<device::MachineCode>& code,
                                                    std::string_view kernel, int operations);

}  // namespace gputomo::measure
