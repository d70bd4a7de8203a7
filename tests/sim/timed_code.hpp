// Kernels of a few machine instructions whose cycles the tests of timing compare.
#pragma once

#include "machine/json.hpp"
#include "sass/code.hpp"
#include "sass/cubin_writer.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::sim::timed_code {

using sass::Control;
using sass::Word;

// Instructions as ptxas encodes them; their control fields are replaced.
constexpr Word kDescriptor{0x0000820000067ab9, 0x000fce0000000a00};    // ULDC.64 UR6, c[0x0][0x208]
constexpr Word kOutput{0x00008400ff047b82, 0x000e620000000a00};        // LDC.64 R4, c[0x0][0x210]
constexpr Word kInput{0x00008600ff027b82, 0x000e220000000a00};         // LDC.64 R2, c[0x0][0x218]
constexpr Word kThread{0x0000000000097919, 0x000e2e0000002100};        // S2R R9, SR_TID.X
constexpr Word kOwnResult{0x0000000409047825, 0x002fc600078e0004};     // IMAD.WIDE.U32 R4, R9, 0x4, R4
constexpr Word kClock{0x0000000000037805, 0x000fe20000005000};         // CS2R.32 R3, SR_CLOCKLO
constexpr Word kMultiply{0x0000001000107224, 0x000fc800078e0203};      // IMAD R16, R0, R16, R3
constexpr Word kAdd{0x0000000704127210, 0x000fe40007ffe80a};           // IADD3 R18, R4, R7, -R10
constexpr Word kExponential{0x0000000600067308, 0x000e300000000800};   // MUFU.EX2 R6, R6
constexpr Word kLoad{0x0000000602027981, 0x000ea2000c1e1900};          // LDG.E R2, desc[UR6][R2.64]
constexpr Word kStore{0x0000000304007986, 0x000fe2000c101906};         // STG.E desc[UR6][R4.64], R3
constexpr Word kBlockBarrier{0x0000000000007b1d, 0x000fec0000010000};  // BAR.SYNC.DEFER_BLOCKING 0x0
constexpr Word kBranch{0x0000000000388947, 0x000fea0003800000};        // @!P0 BRA
constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};

constexpr Control kLongest{.stall = 15};

/// The instruction with other registers, in the order of its operands, and other control fields.
inline Word with(const Word& word, std::initializer_list<int> registers, const Control& control) {
    auto instruction = sass::decode(word, 90, 0);
    auto next = registers.begin();
    for (int i = 0; i < instruction.operand_count && next != registers.end(); ++i)
        if (auto& operand = instruction.operand_store[static_cast<std::size_t>(i)];
            operand.kind == sass::OperandKind::reg) {
            operand.reg = static_cast<std::uint8_t>(*next++);
            operand.reuse = false;
        }
    instruction.control = control;
    instruction.control.reuse = 0;
    return sass::encode(instruction);
}

/// The instruction after a change of its operands, executed by all threads.
inline Word changed(const Word& word, const std::function<void(sass::Instruction&)>& change) {
    auto instruction = sass::decode(word, 90, 0);
    instruction.guard = {};
    instruction.control.reuse = 0;
    change(instruction);
    return sass::encode(instruction);
}

/// An H200 whose instructions are always there, as those of a loop are.
inline machine::Machine h200() {
    auto machine = completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    machine.paths.erase("instruction");
    machine.instruction_supply = {};
    return machine;
}

struct Outcome {
    std::vector<std::uint32_t> results;  ///< by thread: what the kernel stored
    Counters counters;
    ExecutedCode code;
};

/// What R2 points to.
constexpr std::uint64_t kInputBytes = 1 << 16;

/// Runs instructions between two clock reads in R11 and R10. Each thread stores the cycles between them.
class Kernel {
public:
    explicit Kernel(std::vector<Word> body, int shared_bytes = 0) : body_(std::move(body)), shared_(shared_bytes) {}

    [[nodiscard]] std::vector<std::byte> cubin() const {
        std::vector<Word> code{with(kDescriptor, {}, kLongest),
                               with(kOutput, {}, {.stall = 2, .write_barrier = 0}),
                               with(kInput, {}, {.stall = 2, .write_barrier = 0}),
                               with(kThread, {}, {.stall = 2, .write_barrier = 1}),
                               with(kOwnResult, {}, {.stall = 15, .wait = 3}),
                               with(kClock, {11}, {.stall = 2})};
        code.insert(code.end(), body_.begin(), body_.end());
        code.push_back(with(kClock, {10}, kLongest));
        code.push_back(with(kAdd, {3, 10, 255, 11}, kLongest));
        code.push_back(with(kStore, {}, kLongest));
        code.push_back(with(kExit, {}, {.stall = 5}));
        return sass::write_cubin(std::vector<sass::CubinKernel>{{.name = "timed",
                                                                 .code = code,
                                                                 .registers = 40,
                                                                 .parameter_bytes = {8, 8},
                                                                 .barriers = 1,
                                                                 .shared_bytes = shared_}},
                                 90);
    }

    [[nodiscard]] Outcome run(const machine::Machine& machine, std::uint32_t threads = 32,
                              std::uint32_t blocks = 1) const {
        const auto gpu = make_device(machine, {});
        const auto bytes = cubin();
        const auto module = gpu->load({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        device::Buffer out(*gpu, Bytes(4 * threads)), in(*gpu, Bytes(kInputBytes));
        device::Launch launch{.grid = {blocks}, .block = {threads}, .time_limit = std::chrono::seconds(20)};
        launch.arguments.add(out.address()).add(in.address());
        module->kernel("timed").launch(launch);
        return {out.read<std::uint32_t>(threads), gpu->counters(), gpu->executed_code()};
    }
    [[nodiscard]] std::uint32_t cycles() const { return run(h200()).results[0]; }

private:
    std::vector<Word> body_;
    int shared_;
};

/// Cycles from the first clock read to the instruction behind it.
constexpr std::uint32_t kFirst = 2;

}  // namespace gputomo::sim::timed_code
