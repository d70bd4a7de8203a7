// A kernel's machine code, prepared for execution: what each instruction does is looked up once.
#pragma once

#include "sass/cubin.hpp"
#include "sass/instruction.hpp"
#include "sass/kernel_info.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sim::machine_code {

class Warp;
struct Step;

/// Performs an instruction for the lanes in `mask`, all of which pass its guard.
using Execute = void (*)(Warp& warp, const Step& step, std::uint32_t mask);

/// What an instruction does to the path of its threads.
enum class Flow : std::uint8_t {
    next,
    branch,
    indirect_branch,
    call,
    indirect_call,
    exit,
    begin_convergence,  ///< BSSY
    converge,           ///< BSYNC
    leave_convergence,  ///< BREAK
    warp_barrier,       ///< WARPSYNC
    yield,
    block_barrier,   ///< BAR
    cluster_arrive,  ///< UCGABAR_ARV
    cluster_wait,    ///< UCGABAR_WAIT
    trap,
    refused  ///< not executed yet; Step::refusal says why
};

/// One value that an instruction reads. Its bits are ((bits & keep) ^ flip) + plus.
struct Source {
    enum class Kind : std::uint8_t { zero, reg, uniform, immediate, constant };
    Kind kind = Kind::zero;
    std::uint8_t reg = 255;  ///< number of the register
    std::uint8_t bank = 0;
    bool negate = false;
    bool absolute = false;
    bool invert = false;
    std::uint32_t keep = ~0U, flip = 0, plus = 0;
    std::uint32_t low = 0, high = 0;  ///< an immediate
    std::int64_t offset = 0;          ///< of a constant
};

struct PredicateSource {
    std::uint8_t number = sass::kTruePredicate;
    bool uniform = false;
    bool invert = false;
};

struct Destination {
    std::uint8_t reg = 255;
    bool uniform = false;
};

struct Address {
    std::uint8_t reg = sass::kZeroRegister;
    std::uint8_t uniform = sass::kZeroUniformRegister;
    bool wide = false;  ///< the register is a pair
    bool has_uniform = false;
    std::uint8_t scale = 1;  ///< of the register
    std::int64_t offset = 0;
};

/// An instruction, ready for execution.
struct Step {
    Execute execute = nullptr;
    Flow flow = Flow::next;
    bool uniform = false;  ///< performed once for the warp
    bool reads_clock = false;
    std::uint8_t barrier = 0;  ///< convergence barrier
    std::uint8_t bytes = 4;    ///< of each thread's memory access
    sass::Guard guard;
    Destination destination;
    std::uint8_t upper = sass::kZeroRegister;        ///< where the upper half of a texture fetch's result goes
    std::array<PredicateSource, 2> predicate_out{};  ///< where results go
    std::array<PredicateSource, 4> predicate{};
    std::uint8_t predicate_count = 0;
    std::array<Source, 4> source{};
    std::uint8_t source_count = 0;
    Address address;
    Address copy_to;           ///< in shared memory, of LDGSTS
    std::uint8_t bank = 0;     ///< of LDC and ULDC
    std::uint8_t special = 0;  ///< special register
    std::uint32_t mode = 0;    ///< truth table, count of threads or shift, by operation
    std::uint64_t target = 0;
    sass::Instruction instruction;
    std::string refusal;
};

/// The module-scope variables of a cubin have device addresses, which the loader chooses: section -> address.
using SectionAddress = std::function<std::uint64_t(std::string_view section)>;

/// Code of functions that the system provides, such as vprintf, has addresses from here on: one every 16 bytes.
inline constexpr std::uint64_t kSystemCode = 0x7ffe'0000'0000;

/// Where constant bank 0 has the generic address of shared memory on compute capability 8.
inline constexpr std::int64_t kSharedWindowAt = 0x18;

/// Generic addresses from here on name the bytes of constant bank 0, in which the kernel's parameters are.
inline constexpr std::uint64_t kConstantWindow = 0x7d00'0000'0000;
/// Where constant bank 0 has the generic address of the kernel's parameters on compute capability 9.
inline constexpr std::int64_t kParametersAddressAt = 0x198;
/// Where constant bank 0 has the address of itself. cuBLAS adds the offset of a tensor map within the bank.
inline constexpr std::int64_t kConstantsAddressAt = 0xc0;

/// Where constant bank 0 has what a kernel asks of its cluster on compute capability 9. In order: whether it is in one,
/// the blocks of a cluster, their reciprocals as floats, and the clusters of the grid. Elsewhere: the count of blocks.
inline constexpr std::int64_t kClusterAt = 0x140, kClusterEnd = 0x168, kClusterSizeAt = 0x188;

/// Where constant bank 0 has the bytes of dynamic shared memory (%dynamic_smem_size) and the number of SMs (%nsmid).
inline constexpr std::int64_t kDynamicSharedAt = 0x2c, kSmCountAt = 0x10c;

/// Where constant bank 0 has %envreg3 to %envreg31 on compute capability 9, and what the driver of an H200 puts there:
/// zeros but for two (580.159.04). What it puts into %envreg0 is not known, and the next two have the address below.
inline constexpr std::int64_t kEnvironmentAt = 0x4c, kEnvironmentEnd = 0xc0;
struct EnvironmentWord {
    std::int64_t at = 0;
    std::uint32_t value = 0;
};
inline constexpr EnvironmentWord kEnvironment[] = {{0x58, 1}, {0x68, 0x120}};

/// Places in constant bank 0 of the words of the address of a cooperative launch's barrier.
inline constexpr std::int64_t kGridBarrierUpper = 0x44, kGridBarrierLower = 0x48;

struct MachineProgram {
    std::string kernel;
    int sm = 0;
    std::vector<Step> steps;        ///< one for each 16 bytes of code
    int registers = 0;              ///< of a thread, as the compiler says
    std::size_t register_rows = 0;  ///< those that instructions can name, with the words of wide operands
    int max_threads = 0;            ///< most threads of a block that the compiler allows; 0: not limited
    std::vector<sass::KernelInfo::Parameter> parameters;  ///< in order
    /// Static, with those that the system keeps: what the instructions address.
    std::uint64_t shared_bytes = 0;
    /// The part of `shared_bytes` that the system keeps; descriptions count it as `shared.block_overhead`.
    std::uint64_t system_shared_bytes = 0;
    std::uint64_t local_bytes = 0;              ///< of a thread
    bool uses_sm_count = false;                 ///< it asks for the number of SMs
    bool uses_grid_barrier = false;             ///< it reads the address of the barrier of a cooperative launch
    std::array<std::uint32_t, 3> cluster{};     ///< blocks of a cluster, as the code says; zeros: it does not
    std::vector<std::string> system_functions;  ///< that the code may call, by number
    std::uint32_t parameter_offset = 0;         ///< in constant bank 0
    std::uint32_t parameter_bytes = 0;
    /// Banks by number; bank 0 is a template that a launch fills in.
    std::array<std::vector<std::uint32_t>, 8> constants;
};

/// Whether machine code of a compute capability (80 for 8.0) is executed.
[[nodiscard]] bool executes(int sm);

/// Prepares a kernel. Instructions that cannot be decoded or executed are refused when they are reached. Throws
/// InputError if the cubin has no such kernel or needs a relocation that is not known.
[[nodiscard]] MachineProgram prepare(const sass::Cubin& cubin, std::string_view kernel,
                                     const SectionAddress& address_of);

/// Whether the kernel has instructions that multiply matrices.
[[nodiscard]] bool multiplies_matrices(const MachineProgram& program);

/// "IMAD.WIDE R2, R3, 0x4, R4 at 0x40"
[[nodiscard]] std::string text_of(const MachineProgram& program, std::size_t step);

}  // namespace gputomo::sim::machine_code
