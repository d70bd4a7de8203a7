#include "measure/control/uniform_branches.hpp"

#include "measure/control/branch_layout.hpp"
#include "measure/kernel/doubled_timing.hpp"
#include "sass/machine_code.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Groups of kFew and of kMany branches after four comparisons; the difference is the time of the further ones. Five
/// groups of four branches, with the code that they skip, fit an instruction cache of 4 KiB.
constexpr int kBranchGroups = 5;
constexpr int kFew = 1;
constexpr int kMany = 4;
/// Pairs of operations that a taken branch skips.
constexpr int kSkippedPairs = 6;
/// Marks the skipped code. No other constant looks like this.
constexpr std::uint32_t kSkippedMark = 0x5eed'1000;
/// Launches whose median counts.
constexpr int kBranchLaunches = 5;
constexpr int kTimes = 2;
/// Pieces of code that untaken branches lead to.
int pieces_of(int branches) { return std::max(2, branches); }

std::vector<std::uint32_t> marks_of(int branches, bool taken) {
    std::vector<std::uint32_t> marks;
    for (int i = 0; i < (taken ? kBranchGroups * branches : pieces_of(branches)); ++i)
        marks.push_back(kSkippedMark + static_cast<std::uint32_t>(i));
    return marks;
}

/// All comparisons come first, so that no branch waits for its own predicate. Taken branches skip code that never
/// executes. Untaken branches lead to pieces of code far away. Each piece is the target of several branches, so that
/// the compiler cannot move it in line by inverting them. Successive branches lead to different pieces, or the
/// compiler would merge the branches.
void append_group(ptx::KernelBuilder& k, Reg value, Reg addend, int branches, const std::vector<ptx::Label>& elsewhere,
                  int& number) {
    const bool taken = elsewhere.empty();
    const std::vector<Reg> conditions = k.regs(Type::pred, kMany);
    for (int i = 0; i < kMany; ++i)
        k(taken ? "setp.ne.u32" : "setp.eq.u32", conditions[static_cast<std::size_t>(i)], value,
          1000 + kMany * number + i);
    for (int i = 0; i < branches; ++i) {
        const auto mark = kSkippedMark + static_cast<std::uint32_t>(number++);
        const Reg condition = conditions[static_cast<std::size_t>(i)];
        if (!taken) {
            k.when(condition)("bra", elsewhere[static_cast<std::size_t>(number - 1) % elsewhere.size()]);
            continue;
        }
        const ptx::Label skip = k.label();
        k.when(condition)("bra", skip);
        append_marked(k, value, addend, mark, kSkippedPairs);
        k.place(skip);
    }
}

/// Conditional branches in the longest piece of code between clock reads.
int branches_in(const CompiledKernel& kernel) {
    const auto code = sass::kernel_code(sass::Cubin(kernel.module().machine_code()->cubin), kernel.name());
    const auto ranges = code.between_clock_reads();
    const auto longest = std::ranges::max_element(ranges, {}, &sass::CodeRange::size);
    if (longest == ranges.end()) return 0;
    const auto timed = code.instructions().subspan(longest->first, longest->size());
    return static_cast<int>(std::ranges::count_if(
        timed, [](const auto& instruction) { return instruction.is("BRA") && !instruction.guard().empty(); }));
}

}  // namespace

ptx::KernelBuilder uniform_branches_kernel(ptx::Target target, bool taken, int branches) {
    ptx::KernelBuilder k(fmt::format("branches_{}_{}", taken ? "taken" : "untaken", branches), target);
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg start = k.param(Type::u32, "start");
    const Reg value = k.reg(Type::u32);
    const std::vector<Reg> times = k.regs(Type::u32, kTimes);
    std::vector<ptx::Label> elsewhere;
    for (int i = 0; i < (taken ? 0 : pieces_of(branches)); ++i) elsewhere.push_back(k.label());
    k("mov.u32", value, start);
    k.loop(kTimedPasses, [&] {
        int number = 0;
        k("bar.sync", 0);
        k("mov.u32", times[0], k.clock_after(value));
        for (int group = 0; group < kBranchGroups; ++group) append_group(k, value, start, branches, elsewhere, number);
        k("mov.u32", times[1], k.clock_after(value));
    });
    const Reg mine = k.element(stamps, k.thread_index(), Bytes{12});
    for (int i = 0; i < kTimes; ++i) k("st.global.u32", Mem{mine, 4 * i}, times[static_cast<std::size_t>(i)]);
    k("st.global.u32", Mem{mine, 8}, value);
    k("ret");
    for (std::size_t i = 0; i < elsewhere.size(); ++i) {
        k.place(elsewhere[i]);
        append_marked(k, value, start, kSkippedMark + static_cast<std::uint32_t>(i), kSkippedPairs);
        k("st.global.u32", Mem{stamps}, value);
        k("ret");
    }
    return k;
}

UniformBranches::UniformBranches(device::Device& device, bool taken)
    : taken_(taken),
      few_(device, uniform_branches_kernel(target_of(device), taken, kFew)),
      many_(device, uniform_branches_kernel(target_of(device), taken, kMany)),
      stamps_(device, Bytes{12 * kWarpSize}) {}

double UniformBranches::cycles_of(CompiledKernel& kernel) {
    device::Arguments arguments;
    arguments.add(stamps_.address()).add(std::uint32_t{0});
    std::vector<double> samples;
    for (int i = 0; i < kBranchLaunches; ++i) {
        kernel.launch({1}, {kWarpSize}, arguments);
        const auto raw = stamps_.read<std::uint32_t>(kTimes);
        samples.push_back(raw[1] - raw[0]);
    }
    return summarise(samples).value;
}

double UniformBranches::latency() { return (cycles_of(many_) - cycles_of(few_)) / (kBranchGroups * (kMany - kFew)); }

results::CodeCheck UniformBranches::layout() const {
    results::CodeCheck check{many_.name(),
                             results::CodeResult::failed,
                             fmt::format("{} conditional branches between the clock reads, of which {} fall through",
                                         kBranchGroups * kMany, taken_ ? "none" : "all"),
                             "the compiler moved some of their targets",
                             {}};
    const auto code = sass::kernel_code(sass::Cubin(many_.module().machine_code()->cubin), many_.name());
    check.listing = code.listing(code.all());
    return check;
}

bool UniformBranches::as_written() const {
    if (!few_.module().machine_code()) return true;
    if (all_fall_through(few_, marks_of(kFew, taken_)) != taken_ ||
        all_fall_through(many_, marks_of(kMany, taken_)) != taken_)
        return false;
    return branches_in(few_) == kBranchGroups * kFew && branches_in(many_) == kBranchGroups * kMany;
}

}  // namespace gputomo::measure
