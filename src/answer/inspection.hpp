// What the machine code of a kernel is, without a launch: resources, the mix of instructions, and an annotated listing.
#pragma once

#include "machine/machine.hpp"
#include "sass/cubin.hpp"
#include "sass/line_table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::answer {

struct InspectedInstruction {
    std::uint64_t address = 0;  ///< bytes from the kernel's first instruction
    std::string text;           ///< as nvdisasm prints it
    std::string unit;           ///< that executes it; empty where no scan finds it
    // What the compiler tells the scheduler.
    int stall = 0;                                   ///< cycles until the warp's next instruction
    bool yields = false;                             ///< other warps are preferred at the next issue
    std::optional<int> write_barrier, read_barrier;  ///< released when results are written, and when operands are read
    std::vector<int> waits_for;                      ///< barriers
    // What it costs on the described GPU; nullopt without a description.
    std::optional<double> latency;              ///< cycles to its result, of what is no access to memory
    std::optional<double> interval;             ///< cycles for which a warp occupies its share of the unit
    bool assumed = false;                       ///< no scan timed it: something else stands in for it
    std::optional<sass::SourcePlace> source{};  ///< nullopt where the code does not say
};

struct InspectedKernel {
    std::string name;
    int sm = 0;  ///< compute capability, 90 for 9.0
    int registers = 0;
    std::uint64_t static_shared_bytes = 0;  ///< of a block, without what the system keeps
    std::uint64_t stack_bytes = 0;          ///< of a thread: the most that any function of the cubin needs
    std::uint64_t parameter_bytes = 0;
    std::uint64_t code_bytes = 0;
    int max_threads = 0;                                ///< of a block; 0: not limited
    std::optional<std::array<std::uint32_t, 3>> block;  ///< the only size that it is for
    /// Instructions that access local memory: spilled registers, or arrays of threads.
    std::uint64_t local_loads = 0, local_stores = 0;
    std::map<std::string, std::uint64_t> mix;         ///< instructions by what executes them
    std::map<std::string, std::uint64_t> operations;  ///< by name: "FFMA"
    std::vector<InspectedInstruction> instructions;   ///< without the padding behind the last one
    std::string damaged_lines{};                      ///< why the lines of source cannot be read; empty where they can
};

/// Decodes a kernel. `machine` gives instructions their costs and may be nullptr. Throws InputError where the cubin has
/// no such kernel, or its code cannot be read.
[[nodiscard]] InspectedKernel inspect(const sass::Cubin& cubin, std::string_view kernel,
                                      const machine::Machine* machine);

/// "registers<=64": what is counted, a comparison, and a number.
struct Assertion {
    std::string text, name, comparison;
    double number = 0;
};
/// Throws InputError that says what is counted.
[[nodiscard]] Assertion assertion_of(const std::string& text);
/// The number that an assertion is about. Operations that the kernel does not have count 0.
[[nodiscard]] double counted(const InspectedKernel& kernel, const Assertion& assertion);
[[nodiscard]] bool holds(const InspectedKernel& kernel, const Assertion& assertion);

/// `listing` adds each instruction.
[[nodiscard]] std::string inspection_text(const InspectedKernel& kernel, bool listing);
[[nodiscard]] nlohmann::ordered_json inspection_json(const InspectedKernel& kernel);

}  // namespace gputomo::answer
