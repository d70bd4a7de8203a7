#include "launch/trace/accel_sim_trace.hpp"

#include "launch/profile/rough_clock.hpp"
#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/resident_run.hpp"
#include "sim/sm/engine/residency.hpp"
#include "units/error.hpp"
#include "units/interruption.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

namespace gputomo::launch {
namespace {

using sim::machine_code::Observer;
using sim::machine_code::Space;
using Clock = std::chrono::steady_clock;

/// The version of the text format. Readers only ask whether it is 3 or later.
constexpr int kFormatVersion = 5;
/// What the newest release of Accel-Sim 1 calls machine code of compute capability 8.6.
constexpr int kNewestOfRelease1 = 86;
/// Registers that a line of a trace can name.
constexpr std::size_t kMostSources = 4;
/// How addresses are written: one for each lane, or the first and the distance of neighbours.
constexpr int kListed = 0, kStrided = 1;
/// Generic addresses of shared and local memory in the trace. Device memory lies elsewhere.
constexpr std::uint64_t kSharedAt = 0x10'0000'0000'0000, kLocalAt = kSharedAt + 0x100'0000;
/// Instructions between two looks at the clock.
constexpr std::uint64_t kTracedBetweenLooks = 1 << 14;

/// An instruction that a release does not know, and one that takes as long there.
struct Renamed {
    std::string_view name, as;
    AccelSimRelease last;  ///< the last release that does not know it
};
constexpr std::array kRenamed = {
    Renamed{"REDG", "RED", AccelSimRelease::two},        Renamed{"STSM", "STS", AccelSimRelease::two},
    Renamed{"LDCU", "ULDC", AccelSimRelease::two},       Renamed{"CS2UR", "S2UR", AccelSimRelease::two},
    Renamed{"CLMAD", "IMAD", AccelSimRelease::two},      Renamed{"PREEXIT", "NOP", AccelSimRelease::two},
    Renamed{"ACQBULK", "NOP", AccelSimRelease::two},     Renamed{"ENDCOLLECTIVE", "NOP", AccelSimRelease::two},
    Renamed{"USETSHMSZ", "NOP", AccelSimRelease::two},   Renamed{"VIADD", "IADD3", AccelSimRelease::one},
    Renamed{"VIADDMNMX", "IADD3", AccelSimRelease::one}, Renamed{"VIMNMX", "IMNMX", AccelSimRelease::one},
    Renamed{"VIMNMX3", "IMNMX", AccelSimRelease::one},   Renamed{"CGAERRBAR", "ERRBAR", AccelSimRelease::one},
    Renamed{"ELECT", "VOTE", AccelSimRelease::one},
};

/// Whether a trace cannot say what the instruction does.
bool needs_more_than_text(const sass::Instruction& instruction) {
    using enum sass::Operation;
    constexpr std::array kOthers = {BGMMA,        HGMMA,      IGMMA, QGMMA, WARPGROUP, UCGABAR_ARV,
                                    UCGABAR_WAIT, USETMAXREG, STAS,  REDAS, FENCE,     UTMACCTL};
    const auto what = instruction.form->facts->what;
    return what == sass::Class::bulk_copy || what == sass::Class::bulk_group || what == sass::Class::shared_barrier ||
           std::ranges::find(kOthers, instruction.operation) != kOthers.end();
}

/// The parts of an instruction's lines that are always the same.
struct TraceLine {
    std::string before;  ///< its place in the code
    std::string after;   ///< result, name and sources
    bool accesses = false;
    int bytes = 4;
    std::int64_t immediate = 0;
};

class TraceLines {
public:
    TraceLines(const sim::machine_code::MachineProgram& program, AccelSimRelease release)
        : program_(program), release_(release), lines_(program.steps.size()) {}

    const TraceLine& of(std::size_t step) {
        TraceLine& line = lines_[step];
        if (line.before.empty()) line = make(step);
        return line;
    }
    [[nodiscard]] const std::set<std::string>& replaced() const { return replaced_; }

private:
    TraceLine make(std::size_t at) {
        const auto& step = program_.steps[at];
        const auto& instruction = step.instruction;
        if (instruction.form != nullptr && needs_more_than_text(instruction))
            throw InputError(fmt::format(
                "kernel '{}': no trace is written, because its lines cannot say what {} does. Asynchronous copies, "
                "barriers in shared memory, products of warp groups and clusters are not traced",
                program_.kernel, text_of(program_, at)));
        TraceLine line{
            .before = fmt::format("{:04x} ", at * sass::kInstructionBytes), .after = {}, .bytes = step.bytes};
        if (instruction.form == nullptr) {
            line.after = "0 NOP 0 ";
            return line;
        }
        const auto what = instruction.form->facts->what;
        line.accesses = what == sass::Class::memory || what == sass::Class::copy;
        std::string result = "0";
        std::vector<std::string> sources;
        const auto operands = instruction.operands();
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const sass::Operand& operand = operands[i];
            using enum sass::OperandKind;
            const bool is_register = operand.kind == reg || (operand.kind == memory && operand.has_reg);
            if (operand.kind == immediate) line.immediate = operand.value;
            if (!is_register || operand.reg == sass::kZeroRegister) continue;
            const auto text = fmt::format("R{}", operand.reg);
            if (operand.kind == reg && instruction.form->writes_value && result == "0" && sources.empty())
                result = "1 " + text;
            else if (sources.size() < kMostSources)
                sources.push_back(text);
        }
        sources.insert(sources.begin(), fmt::format("{}", sources.size()));
        line.after = fmt::format("{} {} {} ", result, name_of(instruction), fmt::join(sources, " "));
        return line;
    }

    std::string name_of(const sass::Instruction& instruction) {
        const std::string whole = sass::mnemonic_of(instruction);
        const auto dot = std::min(whole.find('.'), whole.size());
        const auto name = std::string_view(whole).substr(0, dot);
        const auto other = std::ranges::find_if(
            kRenamed, [&](const Renamed& row) { return row.name == name && release_ <= row.last; });
        if (other == kRenamed.end()) return whole;
        replaced_.insert(fmt::format("{} as {}", name, other->as));
        return std::string(other->as) + whole.substr(dot);
    }

    const sim::machine_code::MachineProgram& program_;
    AccelSimRelease release_;
    std::vector<TraceLine> lines_;
    std::set<std::string> replaced_;
};

/// Ends the execution of a launch that takes too long.
class TooLong : public std::exception {};

/// Ends the execution when its time is over.
class TimeLeft {
public:
    explicit TimeLeft(std::chrono::milliseconds limit) : deadline_(Clock::now() + limit) {}
    /// Counts an instruction of any block. Throws TooLong.
    void count() {
        if (++executed_ % kTracedBetweenLooks != 0) return;
        look_for_interruption();
        if (Clock::now() > deadline_) throw TooLong();
    }

private:
    Clock::time_point deadline_;
    std::uint64_t executed_ = 0;
};

/// What a block executes, as text.
class BlockText final : public Observer {
public:
    BlockText(const sim::machine_code::MachineProgram& program, TraceLines& lines, std::size_t warps, TimeLeft& time)
        : program_(program), lines_(lines), time_(time), warps_(warps) {}

    void begin() {
        for (Warp& warp : warps_) warp = {};
        pending_ = false;
    }
    void turn(std::size_t warp) override {
        finish();
        warp_ = warp;
    }
    void execute(std::size_t step, std::uint32_t /*lanes*/, std::uint32_t mask) override {
        finish();
        time_.count();
        step_ = step;
        mask_ = mask;
        count_ = 0;
        pending_ = true;
    }
    void access(Space space, sim::machine_code::Access /*access*/, std::uint64_t offset,
                std::uint64_t /*bytes*/) override {
        const auto* const form = program_.steps[step_].instruction.form;
        // A copy from global to shared memory is traced with its global addresses.
        if (form != nullptr && form->facts->what == sass::Class::copy && space != Space::global) return;
        if (space == Space::constant || count_ == addresses_.size()) return;
        const bool generic = form != nullptr && form->facts->space == sass::MemorySpace::generic;
        addresses_[count_++] = offset + (!generic                 ? 0
                                         : space == Space::shared ? kSharedAt
                                         : space == Space::local  ? kLocalAt
                                                                  : 0);
    }
    bool end_block(std::uint64_t /*index*/) override {
        finish();
        return true;
    }

    /// The text of the block, which has ended.
    [[nodiscard]] std::string text(const device::Dim3& at) const {
        std::string out = fmt::format("\n#BEGIN_TB\n\nthread block = {},{},{}\n", at.x, at.y, at.z);
        for (std::size_t warp = 0; warp < warps_.size(); ++warp)
            out += fmt::format("\nwarp = {}\ninsts = {}\n{}", warp, warps_[warp].count, warps_[warp].text);
        return out + "\n#END_TB\n";
    }

private:
    struct Warp {
        std::string text;
        std::uint64_t count = 0;
    };

    void finish() {
        if (!pending_) return;
        pending_ = false;
        const TraceLine& line = lines_.of(step_);
        Warp& warp = warps_[warp_];
        ++warp.count;
        fmt::format_to(std::back_inserter(warp.text), "{}{:08x} {}", line.before, mask_, line.after);
        if (line.accesses)
            add_addresses(line.bytes, warp.text);
        else
            warp.text += "0 ";
        fmt::format_to(std::back_inserter(warp.text), "{} \n", line.immediate);
    }

    /// Neighbouring lanes whose addresses are equally far apart take a base and a distance. Instructions that move
    /// matrices do not have one address for each lane; lanes then take what there is in turn.
    void add_addresses(int bytes, std::string& text) {
        const auto lanes = static_cast<std::size_t>(std::popcount(mask_));
        for (std::size_t i = count_; i < lanes; ++i) addresses_[i] = count_ == 0 ? 0 : addresses_[i % count_];
        const auto distance = [&](std::size_t i) {
            return static_cast<std::int64_t>(addresses_[i + 1] - addresses_[i]);
        };
        const std::uint32_t neighbours = mask_ == 0 ? 0 : mask_ >> static_cast<unsigned>(std::countr_zero(mask_));
        bool strided = (neighbours & (neighbours + 1)) == 0;
        for (std::size_t i = 1; strided && i + 1 < lanes; ++i) strided = distance(i) == distance(0);
        if (strided) {
            const std::int64_t stride = lanes > 1 ? distance(0) : 0;
            strided = stride >= std::numeric_limits<std::int32_t>::min() &&
                      stride <= std::numeric_limits<std::int32_t>::max();
            if (strided) {
                fmt::format_to(std::back_inserter(text), "{} {} {:#x} {} ", bytes, kStrided,
                               lanes > 0 ? addresses_[0] : 0, stride);
                return;
            }
        }
        fmt::format_to(std::back_inserter(text), "{} {} ", bytes, kListed);
        for (std::size_t i = 0; i < lanes; ++i) fmt::format_to(std::back_inserter(text), "{:#x} ", addresses_[i]);
    }

    const sim::machine_code::MachineProgram& program_;
    TraceLines& lines_;
    TimeLeft& time_;
    std::vector<Warp> warps_;
    std::size_t warp_ = 0, step_ = 0, count_ = 0;
    std::uint32_t mask_ = 0;
    bool pending_ = false;
    std::array<std::uint64_t, kWarpSize> addresses_{};
};

/// Hands each block its text, and writes the texts in the order in which blocks start.
class TraceWriter final : public sim::machine_code::BlockWatcher {
public:
    TraceWriter(const sim::machine_code::MachineProgram& program, const device::Dim3& grid, std::size_t warps,
                const AccelSimOptions& options, std::ostream& out)
        : program_(program),
          lines_(program, options.release),
          grid_(grid),
          warps_(warps),
          time_(options.time_limit),
          out_(out) {}

    Observer& start_block(std::uint64_t /*block*/, std::uint64_t /*sm*/) override {
        if (free_.empty()) {
            texts_.push_back(std::make_unique<BlockText>(program_, lines_, warps_, time_));
            free_.push_back(texts_.back().get());
        }
        BlockText* const text = free_.back();
        free_.pop_back();
        text->begin();
        return *text;
    }
    void end_block(Observer& observer, std::uint64_t block, std::uint64_t /*sm*/) override {
        auto& text = static_cast<BlockText&>(observer);
        const std::uint64_t in_plane = std::uint64_t{grid_.x} * grid_.y;
        ended_[block] = text.text({.x = static_cast<std::uint32_t>(block % grid_.x),
                                   .y = static_cast<std::uint32_t>(block % in_plane / grid_.x),
                                   .z = static_cast<std::uint32_t>(block / in_plane)});
        free_.push_back(&text);
        for (auto next = ended_.find(next_); next != ended_.end(); next = ended_.find(next_)) {
            out_ << next->second;
            ended_.erase(next);
            ++next_;
        }
    }
    [[nodiscard]] std::vector<std::string> replaced() const {
        return {lines_.replaced().begin(), lines_.replaced().end()};
    }

private:
    const sim::machine_code::MachineProgram& program_;
    TraceLines lines_;
    device::Dim3 grid_;
    std::size_t warps_;
    TimeLeft time_;
    std::ostream& out_;
    std::vector<std::unique_ptr<BlockText>> texts_;
    std::vector<BlockText*> free_;
    std::map<std::uint64_t, std::string> ended_;  ///< blocks that have ended before an earlier one
    std::uint64_t next_ = 0;                      ///< block to be written
};

std::string trace_head(const sim::machine_code::MachineProgram& program,
                       const sim::machine_code::FunctionalLaunch& launch, std::uint64_t shared,
                       const AccelSimOptions& options) {
    const int sm = options.release == AccelSimRelease::one ? std::min(program.sm, kNewestOfRelease1) : program.sm;
    const auto size = [](const device::Dim3& of) { return fmt::format("({},{},{})", of.x, of.y, of.z); };
    return fmt::format(
        "-kernel name = {}\n"
        "-kernel id = {}\n"
        "-grid dim = {}\n"
        "-block dim = {}\n"
        "-shmem = {}\n"
        "-nregs = {}\n"
        "-binary version = {}\n"
        "-cuda stream id = 0\n"
        "-shmem base_addr = {:#018x}\n"
        "-local mem base_addr = {:#018x}\n"
        "-nvbit version = none, written by gputomo\n"
        "-accelsim tracer version = {}\n"
        "-enable lineinfo = 0\n\n"
        "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [addresscompress?] "
        "[mem_addresses] immediate\n",
        program.kernel, options.number, size(launch.grid), size(launch.block), shared, program.registers, sm, kSharedAt,
        kLocalAt, kFormatVersion);
}

}  // namespace

TracedLaunch write_accel_sim_trace(const PreparedLaunch& prepared, const machine::Machine& machine,
                                   const AccelSimOptions& options, std::ostream& out) {
    const auto& program = prepared.program();
    const auto launch = prepared.launch_on(machine);
    if (prepared.has_clusters() || program.uses_grid_barrier)
        throw InputError(fmt::format("kernel '{}': no trace is written: its blocks are {}, which traces cannot say",
                                     program.kernel,
                                     prepared.has_clusters() ? "in clusters" : "of a cooperative launch"));
    const std::uint64_t threads = launch.block.count();
    const std::uint64_t shared = program.shared_bytes - program.system_shared_bytes + launch.dynamic_shared;
    const auto residency = sim::resident_blocks(machine, {.threads = threads,
                                                          .shared_bytes = shared,
                                                          .registers_per_thread = program.registers,
                                                          .arguments = program.parameters.size()});
    if (!residency.why.empty())
        throw InputError(fmt::format("kernel '{}': no block fits an SM of {}: {}", program.kernel,
                                     machine.identity.name.value_or("the GPU"), residency.why));
    out << trace_head(program, launch, shared, options);
    TraceWriter writer(program, launch.grid, (threads + kWarpSize - 1) / kWarpSize, options, out);
    const sim::machine_code::BlockOrder order{
        .sms = static_cast<std::uint64_t>(machine.topology.sms.value_or(1)),
        .blocks_of_sm = residency.blocks,
        .cycles = rough_cycles(program, machine),
        .replacement = static_cast<double>(machine.launch.block_replacement.value_or(0))};
    sim::machine_code::Executed executed;
    try {
        sim::machine_code::run_resident({program, launch, prepared.memory()}, order, writer, executed);
    } catch (const TooLong&) {
        throw TimeLimitError(
            fmt::format("kernel '{}': writing its trace took more than {} ms; give a larger "
                        "--time-limit",
                        program.kernel, options.time_limit.count()));
    }
    return {.warp_instructions = executed.total, .replaced = writer.replaced(), .waits = !executed.waits.empty()};
}

}  // namespace gputomo::launch
