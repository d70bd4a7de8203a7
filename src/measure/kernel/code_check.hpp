// Did the driver's compiler keep what a kernel was written to do? Describes what the machine code must hold and checks
// it.
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

/// Instructions of one kind, with any of these opcodes.
struct MachineOperation {
    std::string_view opcodes;  ///< "IADD3|IMAD"
    int access_bytes = 0;      ///< bytes of each thread, for loads and stores; 0: any
};

/// Code between two clock reads. Sections that hold more than half of the smallest count of the operation are compared
/// in code order; others hold barriers. Each must have at least its count of the operation, few other instructions,
/// and none that is slow.
struct TimedCode {
    MachineOperation operation;
    std::vector<int> counts;  ///< {n, 2n}
    int companions = 0;       ///< further instructions for each operation, if the compiler needs several
    /// nothing that could wait for a result stands between the first and the last operation of a section
    bool together = false;
};

/// A loop that holds `count` of the operation, or a multiple.
struct LoopedCode {
    MachineOperation operation;
    int count = 1;
    bool together = false;  ///< nothing that could wait for a result stands within a group of `count` operations
};

/// n and 2n of an operation whose machine instructions are not known in advance. The second of the two longest pieces
/// of code between clock reads must be longer by at least n = `operations` instructions.
struct GrowingCode {
    int operations = 1;
};

/// Kernels with at least `pairs` clock reads that directly follow another one.
struct ReadsBackToBack {
    int pairs = 1;
};

/// A loop that reads the clock in each iteration.
struct ReadInLoop {};

using CodeExpectation = std::variant<TimedCode, LoopedCode, GrowingCode, ReadsBackToBack, ReadInLoop>;

/// The compiler changed a kernel, so its measurement would describe something else.
class CodeMismatch : public Error {
public:
    explicit CodeMismatch(results::CodeCheck check);
    [[nodiscard]] const results::CodeCheck& check() const { return check_; }

private:
    results::CodeCheck check_;
};

/// Unavailable if the device has no machine code (a simulated GPU) or if the code cannot be decoded. `found` then
/// holds the reason.
[[nodiscard]] results::CodeCheck check_code(const std::optional<device::MachineCode>& code, std::string_view kernel,
                                            const CodeExpectation& expectation);

/// Throws CodeMismatch with expectation, finding and listing if the check failed.
void require(const results::CodeCheck& check);

/// Machine instructions that a driver made of each of n operations: the difference between 2n and n operations.
struct Expansion {
    double instructions = 0;                ///< for each operation
    std::map<std::string, double> opcodes;  ///< for each operation, by opcode
};
/// For a kernel that GrowingCode or TimedCode describes. nullopt if the device has no machine code or none that can be
/// decoded.
[[nodiscard]] std::optional<Expansion> expansion_of(const std::optional<device::MachineCode>& code,
                                                    std::string_view kernel, int operations);

}  // namespace gputomo::measure
