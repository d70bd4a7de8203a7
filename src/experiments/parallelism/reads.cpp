#include "experiments/parallelism/reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;
using ptx::Vec;

/// Of each warp.
struct Stamp {
    std::uint32_t begin = 0, end = 0, sm = 0, sum = 0;
};

/// Past the caches of the SM, where the instruction set can say so; older GPUs cache no global memory there (PTX ISA, cache operators).
std::string_view load_of(ptx::Target target) { return target.sm >= 20 ? "ld.global.cg.v4.b32" : "ld.global.v4.b32"; }

std::int64_t most_blocks(const device::Device& device) { return device.attribute(device::Attribute::multiprocessor_count).value_or(1); }

}  // namespace

std::int64_t ReadsShape::bytes_in_flight() const { return std::int64_t{warps} * loads * Reads::kWarp * Reads::kAccessBytes; }

ptx::KernelBuilder reads_kernel(ptx::Target target, int loads) {
    ptx::KernelBuilder k(fmt::format("reads_x{}", loads), target);
    const Reg array = k.param(Type::u64, "array"), start = k.param(Type::u32, "start"), mask = k.param(Type::u32, "mask");
    const Reg step = k.param(Type::u32, "step"), zero = k.param(Type::u32, "zero"), turns = k.param(Type::u32, "turns"), results = k.param(Type::u64, "results");
    const Reg index = k.thread_index(), at = k.reg(Type::u32), sum = k.reg(Type::b32);
    k("mad.lo.u32", at, index, Reads::kAccessBytes, start);
    k("mov.b32", sum, 0);
    k("bar.sync", 0);
    const Reg begin = k.clock_after(at);
    k.loop(turns, [&] {
        const auto words = k.regs(Type::b32, 4 * loads);
        for (int i = 0; i < loads; ++i) {
            const std::span<const Reg> word(&words[static_cast<std::size_t>(4 * i)], 4);
            const Reg wrapped = k.reg(Type::u32);
            k("and.b32", wrapped, at, mask);
            k(load_of(target), Vec(word), Mem{k.element(array, wrapped, Bytes{1})});
            k("add.u32", at, at, step);
        }
        for (const Reg word : words) k("xor.b32", sum, sum, word);
        // Nothing is added, but nobody knows: the next loads wait for these.
        const Reg nothing = k.reg(Type::u32);
        k("and.b32", nothing, sum, zero);
        k("add.u32", at, at, nothing);
    });
    const Reg end = k.clock_after(at);
    const Reg warp = k.reg(Type::u32), lane = k.reg(Type::u32), first = k.reg(Type::pred);
    k("shr.u32", warp, index, 5);
    k("and.b32", lane, index, Reads::kWarp - 1);
    k("setp.eq.u32", first, lane, 0);
    const Reg mine = k.element(results, warp, Bytes{sizeof(Stamp)});
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, begin)}, begin);
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, end)}, end);
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, sm)}, k.special(SpecialRegister::smid));
    k.when(first)("st.global.b32", Mem{mine, offsetof(Stamp, sum)}, sum);
    return k;
}

Reads::Reads(device::Device& device, int loads, device::Address array, std::int64_t bytes)
    : array_(array), bytes_(bytes), kernel_(device, reads_kernel(target_of(device), loads), {LoopedCode{{"LDG", kAccessBytes}, loads}}),
      results_(device, Bytes{most_blocks(device) * kMostWarps * static_cast<std::int64_t>(sizeof(Stamp))}) {}

std::optional<double> Reads::cycles(ReadsShape shape, int turns, bool go_on) {
    const auto threads = static_cast<std::uint32_t>(shape.warps * kWarp);
    const int most = kernel_.properties().max_threads_per_block;
    if (most > 0 && static_cast<int>(threads) > most) return std::nullopt;
    const std::int64_t step = std::int64_t{shape.blocks} * threads * kAccessBytes;
    device::Arguments arguments;
    arguments.add(array_).add(static_cast<std::uint32_t>(go_on ? at_ : 0)).add(static_cast<std::uint32_t>(bytes_ - 1)).add(static_cast<std::uint32_t>(step));
    arguments.add(std::uint32_t{0}).add(static_cast<std::uint32_t>(turns)).add(results_.address());
    kernel_.launch({static_cast<std::uint32_t>(shape.blocks)}, {threads}, arguments);
    at_ = (at_ + step * shape.loads * turns) & (bytes_ - 1);
    const auto stamps = results_.read<Stamp>(static_cast<std::size_t>(shape.blocks) * static_cast<std::size_t>(shape.warps));
    std::map<std::uint32_t, int> blocks_of;
    double sum = 0;
    for (std::size_t block = 0; block < static_cast<std::size_t>(shape.blocks); ++block) {
        const std::span<const Stamp> warps(&stamps[block * static_cast<std::size_t>(shape.warps)], static_cast<std::size_t>(shape.warps));
        if (++blocks_of[warps.front().sm] > 1) return std::nullopt;
        // Differences against one reading survive the wrap of the 32-bit clock.
        const auto since = [&](std::uint32_t when) { return static_cast<std::int32_t>(when - warps.front().begin); };
        std::int32_t first = 0, last = 0;
        for (const Stamp& warp : warps) first = std::min(first, since(warp.begin)), last = std::max(last, since(warp.end));
        sum += last - first;
    }
    return sum / shape.blocks;
}

}  // namespace gputomo::experiments
