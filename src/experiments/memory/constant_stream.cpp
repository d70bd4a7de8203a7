#include "experiments/memory/constant_stream.hpp"

#include "deduce/cache/levels/levels.hpp"
#include "measure/chase/pointer_chase_kernels.hpp"
#include "measure/kernel/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Passes over the rings, of which the second half counts.
constexpr std::uint32_t kStreamPasses = 8;
/// Blocks that are launched for each SM, so that every SM gets at least one.
constexpr std::uint32_t kBlocksPerSm = 2;

/// What one block records; the first block on its SM takes `claim`.
struct BlockResult {
    std::uint32_t claim = 0, begin = 0, end = 0, padding = 0;
};

/// One thread on each of `active` SMs follows its rings. `active` counts the first SM of each of the `groups` groups of
/// `per` SMs, and then the second SM of each group. The second SM begins elsewhere. An untimed pass before the timed
/// ones runs the same code.
ptx::KernelBuilder bandwidth_kernel(ptx::Target target) {
    ptx::KernelBuilder k("constant_bandwidth", target);
    std::vector<Reg> starts;
    for (std::size_t i = 0; i < kConstantChains; ++i) starts.push_back(k.param(Type::u64, fmt::format("start{}", i)));
    const Reg iterations = k.param(Type::u32, "iterations"), per = k.param(Type::u32, "per"),
              groups = k.param(Type::u32, "groups"), active = k.param(Type::u32, "active"),
              shift = k.param(Type::u32, "shift"), results = k.param(Type::u64, "results"),
              sink = k.param(Type::u64, "sink");
    static_cast<void>(k.array(constant_array()));
    const Label leave = k.label();
    const Reg sm = k.special(SpecialRegister::smid), number = k.reg(Type::u32), rest = k.reg(Type::u32),
              other = k.reg(Type::pred), taken = k.reg(Type::u32);
    k("div.u32", number, sm, per);
    k("rem.u32", rest, sm, per);
    k("mad.lo.u32", number, rest, groups, number);
    k("setp.ge.u32", other, number, active);
    k.when(other)("bra", leave);
    const Reg mine = k.element(results, number, Bytes{sizeof(BlockResult)});
    k("atom.global.exch.b32", taken, Mem{mine}, 1);
    k("setp.ne.u32", other, taken, 0);
    k.when(other)("bra", leave);
    // The thread index, which is 0, keeps the compiler from treating the addresses as uniform over the warp.
    const Reg thread = k.reg(Type::u64);
    k("cvt.u64.u32", thread, k.special(SpecialRegister::tid_x));
    const Reg begins = k.reg(Type::u64);
    k("mul.wide.u32", begins, rest, shift);
    k("add.u64", thread, thread, begins);
    std::vector<Reg> at = k.regs(Type::u64, static_cast<int>(kConstantChains));
    for (std::size_t i = 0; i < kConstantChains; ++i) k("add.u64", at[i], starts[i], thread);
    k.loop(2, [&] {
        const Reg begin = k.clock_after(at[0]);
        k.loop(iterations, [&] {
            for (const Reg a : at) k("ld.const.u64", a, Mem{a});
        });
        for (std::size_t i = 1; i < kConstantChains; ++i) k("add.u64", at[0], at[0], at[i]);
        const Reg end = k.clock_after(at[0]);
        for (std::size_t i = 1; i < kConstantChains; ++i) k("sub.u64", at[0], at[0], at[i]);
        k("st.global.u32", Mem{mine, offsetof(BlockResult, begin)}, begin);
        k("st.global.u32", Mem{mine, offsetof(BlockResult, end)}, end);
    });
    for (const Reg a : at) k("st.volatile.global.u64", Mem{sink}, a);
    k.place(leave);
    return k;
}

}  // namespace

ConstantStream::ConstantStream(device::Device& device, const ConstantCache& cache)
    : device_(device),
      cache_(cache),
      module_(load(device)),
      kernel_(module_, bandwidth_kernel(target_of(device)).name(),
              {LoopedCode{.operation = {"LDC"}, .count = kConstantChains}}),
      links_(device, module_),
      sms_(sms_of(device)),
      results_(device, Bytes{static_cast<std::int64_t>(sizeof(BlockResult)) * sms_ + 16}) {
    lines_ = static_cast<std::uint32_t>(kShareOfCache * static_cast<double>(cache.capacity)) / kConstantChains /
             static_cast<std::uint32_t>(cache.line);
    write_rings(1);
    for (std::uint64_t chain = 0; chain < kConstantChains; ++chain)
        starts_.push_back(links_.link_to(chain * lines_ * cache_.line));
}
bool ConstantStream::split_rings() {
    const std::uint64_t part = lines_ / cache_.per;
    if (cache_.per < 2 || (cache_.per - 1) * kConstantChains * part * cache_.line <= cache_.before) return false;
    write_rings(cache_.per);
    return true;
}

Throughput ConstantStream::rate(std::uint32_t active) {
    const auto half = cycles(active, kStreamPasses / 2 * lines_), whole = cycles(active, kStreamPasses * lines_);
    constexpr std::uint32_t kTimed = kStreamPasses - kStreamPasses / 2;
    const double bytes = cache_.bytes * kConstantChains * kTimed * lines_;
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (whole[i] <= half[i]) continue;
        sum += bytes / (whole[i] - half[i]);
        all += bytes;
    }
    return {sum == 0 ? 0 : all / (std::ranges::max(whole) - std::ranges::max(half)), sum};
}

void ConstantStream::write_rings(std::uint32_t parts) {
    const std::uint64_t part = lines_ / parts * cache_.line;
    for (std::uint64_t begin = 0; begin < kConstantChains * lines_ * cache_.line; begin += lines_ * cache_.line) {
        for (std::uint64_t number = 0; number < parts; ++number) {
            auto ring = deduce::strided(part, cache_.line);
            for (auto& offset : ring) offset += begin + number * part;
            links_.write_cycle(ring);
        }
    }
}

std::vector<double> ConstantStream::cycles(std::uint32_t active, std::uint32_t iterations) {
    device::Arguments arguments;
    for (const auto start : starts_) arguments.add(start);
    const std::uint32_t shift = lines_ / cache_.per * static_cast<std::uint32_t>(cache_.line);
    arguments.add(iterations).add(cache_.per).add(groups()).add(active).add(shift);
    arguments.add(results_.address()).add(results_.address() + sizeof(BlockResult) * sms_);
    device_.fill_u32(results_.address(), 0, sizeof(BlockResult) / 4 * sms_);
    kernel_.launch({kBlocksPerSm * sms_}, {1}, arguments);
    std::vector<double> spans;
    for (const auto& block : results_.read<BlockResult>(sms_))
        spans.push_back(block.claim != 0 ? block.end - block.begin : 0);
    return spans;
}

std::shared_ptr<device::Module> ConstantStream::load(device::Device& device) {
    ptx::ModuleBuilder module(target_of(device));
    module.add(bandwidth_kernel(target_of(device)));
    module.add(constant_base_kernel(target_of(device)));
    return device.load(module.text());
}
}  // namespace gputomo::experiments
