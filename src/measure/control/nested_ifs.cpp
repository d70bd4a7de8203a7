#include "measure/control/nested_ifs.hpp"

#include "measure/control/branch_layout.hpp"
#include "units/statistics.hpp"
#include "units/warp.hpp"

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Launches whose median counts.
constexpr int kNestedLaunches = 5;
/// With fewer pairs a compiler would use predicates instead of a branch. With more, the nest exceeds an instruction
/// cache of 4 KiB.
constexpr int kPairsIn = 6, kPairsOut = 2;
/// Mark the code of each level on the way in and out. No other constants look like these.
constexpr std::uint32_t kInMark = 0x5eed'3000, kOutMark = 0x5eed'4000;

void append_nest(ptx::KernelBuilder& k, Reg depth, Reg value, int level) {
    const Reg continues = k.reg(Type::pred);
    const ptx::Label join = k.label();
    k("setp.le.u32", continues, depth, level);
    k.when(continues)("bra", join);
    append_marked(k, value, depth, kInMark + static_cast<std::uint32_t>(level), kPairsIn);
    if (level + 1 < NestedIfs::kNests) append_nest(k, depth, value, level + 1);
    k.place(join);
    append_marked(k, value, depth, kOutMark + static_cast<std::uint32_t>(level), kPairsOut);
}

}  // namespace

ptx::KernelBuilder nested_ifs_kernel(ptx::Target target) {
    ptx::KernelBuilder k("nested_ifs", target);
    const Reg depths = k.param(Type::u64, "depths");
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg thread = k.special(SpecialRegister::tid_x);
    const Reg depth = k.reg(Type::u32), value = k.reg(Type::u32);
    const std::vector<Reg> times = k.regs(Type::u32, 2);
    k("ld.global.u32", depth, Mem{k.element(depths, thread, Bytes{4})});
    k("mov.u32", value, depth);
    k.loop(2, [&] {  // the first iteration warms the instruction caches
        k("bar.sync", 0);
        k("mov.u32", times[0], k.clock_after(value));
        append_nest(k, depth, value, 0);
        k("mov.u32", times[1], k.clock_after(value));
    });
    const Reg mine = k.element(stamps, thread, Bytes{12});
    for (int i = 0; i < 2; ++i) k("st.global.u32", Mem{mine, 4 * i}, times[static_cast<std::size_t>(i)]);
    k("st.global.u32", Mem{mine, 8}, value);
    return k;
}

NestedIfs::NestedIfs(device::Device& device)
    : kernel_(device, nested_ifs_kernel(target_of(device))),
      depths_(device, Bytes{4 * kWarpSize}),
      stamps_(device, Bytes{12 * kWarpSize}) {}

double NestedIfs::cycles(int splits) {
    std::vector<std::uint32_t> depths(kWarpSize, kNests);
    for (int t = 0; t < splits; ++t) depths[static_cast<std::size_t>(t)] = static_cast<std::uint32_t>(t);
    depths_.write(depths);
    device::Arguments arguments;
    arguments.add(depths_.address()).add(stamps_.address());
    std::vector<double> samples;
    for (int i = 0; i < kNestedLaunches; ++i) {
        kernel_.launch({1}, {kWarpSize}, arguments);
        const auto raw = stamps_.read<std::uint32_t>(3 * kWarpSize);
        std::uint32_t longest = 0;
        for (std::size_t t = 0; t < kWarpSize; ++t) longest = std::max(longest, raw[3 * t + 1] - raw[3 * t]);
        samples.push_back(longest);
    }
    return summarise(samples).value;
}

bool NestedIfs::as_written() const {
    std::vector<std::uint32_t> marks;
    for (int level = 0; level < kNests; ++level) marks.push_back(kInMark + static_cast<std::uint32_t>(level));
    return all_fall_through(kernel_, marks).value_or(false);
}

}  // namespace gputomo::measure
