#include "measure/bandwidth/access_loop.hpp"

#include "measure/kernel/device_facts.hpp"
#include "measure/kernel/grouped_accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;
using ptx::Vec;

/// Two launches whose times differ by at most this share take the same time.
constexpr double kAlike = 0.005;

/// Bytes that an asynchronous copy past the L1 moves (PTX ISA, cp.async.cg).
constexpr std::uint32_t kAsyncBytes = 16;

/// What each warp stores.
struct Stamp {
    std::uint32_t begin = 0, end = 0, sm = 0, sum = 0;
};

std::vector<CodeExpectation> expected_code(AccessForm form) {
    if (form.count == 0) return {};
    constexpr std::string_view kOpcodes[] = {"LDG", "STG", "ATOMG|ATOM", "LDGSTS"};
    return {LoopedCode{{kOpcodes[static_cast<std::size_t>(form.kind)],
                        form.kind == AccessKind::load || form.kind == AccessKind::store ? form.bytes : 0},
                       form.count,
                       true}};
}

std::int64_t most_blocks(const device::Device& device) { return sms_of(device); }

/// The cache operator that bypasses the SM's caches. GPUs without it cache no global memory there (PTX ISA, cache
/// operators).
std::string_view bypassing_suffix(ptx::Target target) { return target.sm >= 20 ? ".cg" : ""; }

struct FalseBranch {
    Reg never;  ///< see append_false_predicate()
    ptx::Label out;
};

/// The accesses of an iteration from `address` on; mixed ones alternate between `address` and `other`. `sum` is known
/// when they have completed. `false_branch` separates them from their uses.
void append_accesses(ptx::KernelBuilder& k, AccessForm form, Reg address, Reg other, Reg sum,
                     const std::vector<Reg>& async_targets, FalseBranch false_branch) {
    const int words = form.bytes / 4;
    const auto results =
        k.regs(Type::b32, form.kind == AccessKind::load || form.kind == AccessKind::atomic ? words * form.count : 0);
    const std::vector<Reg> stored(4, sum);
    for (int i = 0; i < form.count; ++i) {
        const Mem at{form.mixed && i % 2 == 1 ? other : address, std::int64_t{i} * form.span};
        const auto first = static_cast<std::size_t>(words * i);
        switch (form.kind) {
            case AccessKind::load:
                if (words == 1)
                    k(fmt::format("ld.global{}.b32", bypassing_suffix(k.target())), results[first], at);
                else
                    k(fmt::format("ld.global{}.v4.b32", bypassing_suffix(k.target())),
                      Vec(std::span<const Reg>(&results[first], 4)), at);
                break;
            case AccessKind::store:
                if (words == 1)
                    k("st.global.b32", at, sum);
                else
                    k("st.global.v4.b32", at, Vec(std::span<const Reg>(stored)));
                break;
            case AccessKind::atomic: k("atom.global.add.u32", results[first], at, 1); break;
            case AccessKind::async: k("cp.async.cg.shared.global", Mem{async_targets[first / 4]}, at, 16); break;
        }
    }
    if (form.count == 0) {
        const Reg low = k.reg(Type::u32);
        k("cvt.u32.u64", low, address);
        k("xor.b32", sum, sum, low);
    }
    k.when(false_branch.never)("bra", false_branch.out);
    append_joint_use(k, results, sum);
    if (form.kind == AccessKind::store && form.count > 0) k("membar.gl");
    if (form.kind != AccessKind::async || form.count == 0) return;
    k("cp.async.commit_group");
    k("cp.async.wait_all");
}

struct WarpPlace {
    Reg warp;  ///< its number among those that take part
    Reg lane;
    Reg takes;  ///< whether it takes part
};

WarpPlace append_warp_place(ptx::KernelBuilder& k, Reg every) {
    const Reg thread = k.special(SpecialRegister::tid_x), in_block = k.reg(Type::u32), lane = k.reg(Type::u32),
              warp = k.reg(Type::u32), over = k.reg(Type::u32);
    k("shr.u32", in_block, thread, 5);
    k("and.b32", lane, thread, AccessLoop::kWarp - 1);
    k("rem.u32", over, in_block, every);
    k("div.u32", warp, in_block, every);
    const Reg threads = k.special(SpecialRegister::ntid_x), of_block = k.reg(Type::u32), takes = k.reg(Type::pred);
    k("shr.u32", of_block, threads, 5);
    k("div.u32", of_block, of_block, every);
    k("mad.lo.u32", warp, k.special(SpecialRegister::ctaid_x), of_block, warp);
    k("setp.eq.u32", takes, over, 0);
    return {warp, lane, takes};
}

/// Where each asynchronous copy of a thread goes. Two copies to the same place could be merged.
std::vector<Reg> append_async_targets(ptx::KernelBuilder& k, AccessForm form) {
    if (form.kind != AccessKind::async) return {};
    auto async_targets = k.regs(Type::u32, std::max(form.count, 1));
    const Reg threads = k.reg(Type::u32);
    k("mad.lo.u32", async_targets.front(), k.special(SpecialRegister::tid_x), kAsyncBytes, k.dynamic_shared());
    k("mul.lo.u32", threads, k.special(SpecialRegister::ntid_x), kAsyncBytes);
    for (std::size_t i = 1; i < async_targets.size(); ++i)
        k("add.u32", async_targets[i], async_targets[i - 1], threads);
    return async_targets;
}

}  // namespace

std::string_view name_of(AccessKind kind) {
    constexpr std::string_view kNames[] = {"load", "store", "atomic", "async"};
    return kNames[static_cast<std::size_t>(kind)];
}

ptx::KernelBuilder access_loop_kernel(ptx::Target target, AccessForm form) {
    ptx::KernelBuilder k(fmt::format("{}_{}x{}_span{}{}", name_of(form.kind), form.count, form.bytes, form.span,
                                     form.mixed ? "_mixed" : ""),
                         target);
    const Reg base = k.param(Type::u64, "base"), lanes = k.param(Type::u64, "lanes"),
              start = k.param(Type::u32, "start"), mask = k.param(Type::u32, "mask");
    const Reg step = k.param(Type::u32, "step"), every = k.param(Type::u32, "every"), zero = k.param(Type::u32, "zero"),
              iterations = k.param(Type::u32, "iterations");
    const Reg results = k.param(Type::u64, "results");
    const Reg other_base = form.mixed ? k.param(Type::u64, "other_base") : base,
              other_mask = form.mixed ? k.param(Type::u32, "other_mask") : mask;
    const WarpPlace place = append_warp_place(k, every);
    const Reg offset = k.reg(Type::u32), mine = k.reg(Type::u64), other = k.reg(Type::u64), at = k.reg(Type::u32),
              sum = k.reg(Type::b32);
    k("ld.global.u32", offset, Mem{k.element(lanes, place.lane, Bytes{4})});
    k("cvt.u64.u32", mine, offset);
    k("add.u64", other, mine, other_base);
    k("add.u64", mine, mine, base);
    k("mad.lo.u32", at, place.warp, std::max(form.count, 1) * static_cast<std::int64_t>(form.span), start);
    k("mov.b32", sum, 0);
    const auto async_targets = append_async_targets(k, form);
    const ptx::Label out = k.label();
    k("bar.sync", 0);
    k.unless(place.takes)("bra", out);
    const Reg never = append_false_predicate(k, base), begin = k.clock_after(at);
    k.loop(iterations, [&] {
        const Reg wrapped = k.reg(Type::u32);
        k("and.b32", wrapped, at, mask);
        const Reg address = k.element(mine, wrapped, Bytes{1});
        Reg there = address;
        if (form.mixed) {
            k("and.b32", wrapped, at, other_mask);
            there = k.element(other, wrapped, Bytes{1});
        }
        append_accesses(k, form, address, there, sum, async_targets, {never, out});
        // Adds zero, which the compiler does not know: the next accesses wait for these.
        const Reg nothing = k.reg(Type::u32);
        k("and.b32", nothing, sum, zero);
        k("add.u32", at, at, step);
        k("add.u32", at, at, nothing);
    });
    const Reg end = k.clock_after(at);
    const Reg first = k.reg(Type::pred), stamp = k.element(results, place.warp, Bytes{sizeof(Stamp)});
    k("setp.eq.u32", first, place.lane, 0);
    k.when(first)("st.global.u32", Mem{stamp, offsetof(Stamp, begin)}, begin);
    k.when(first)("st.global.u32", Mem{stamp, offsetof(Stamp, end)}, end);
    k.when(first)("st.global.u32", Mem{stamp, offsetof(Stamp, sm)}, k.special(SpecialRegister::smid));
    k.when(first)("st.global.b32", Mem{stamp, offsetof(Stamp, sum)}, sum);
    k.place(out);
    return k;
}

AccessLoop::AccessLoop(device::Device& device, AccessForm form, const std::function<std::uint32_t(int)>& offset_of)
    : form_(form),
      kernel_(device, access_loop_kernel(target_of(device), form), expected_code(form)),
      results_(device, Bytes{most_blocks(device) * kMostWarps * static_cast<std::int64_t>(sizeof(Stamp))}),
      lanes_(device, Bytes{kWarp * 4}),
      most_shared_(device.attribute(device::Attribute::max_shared_memory_per_block).value_or(0)) {
    std::vector<std::uint32_t> offsets;
    for (int lane = 0; lane < kWarp; ++lane) offsets.push_back(offset_of(lane));
    lanes_.write(offsets);
}

std::optional<double> AccessLoop::cycles(AccessShape shape, int iterations, AccessArea& area, const AccessArea* other) {
    const auto threads = static_cast<std::uint32_t>(shape.warps * shape.every * kWarp);
    const int most = kernel_.properties().max_threads_per_block;
    if (most > 0 && static_cast<int>(threads) > most) return std::nullopt;
    const std::int64_t async_targets =
        form_.kind == AccessKind::async ? std::int64_t{threads} * form_.count * kAsyncBytes : 0;
    if (async_targets > most_shared_) return std::nullopt;
    const std::int64_t step = std::int64_t{shape.blocks} * shape.warps * std::max(form_.count, 1) * form_.span;
    device::Arguments arguments;
    arguments.add(area.base)
        .add(lanes_.address())
        .add(static_cast<std::uint32_t>(area.continues ? area.at : 0))
        .add(static_cast<std::uint32_t>(area.bytes - 1));
    arguments.add(static_cast<std::uint32_t>(step))
        .add(static_cast<std::uint32_t>(shape.every))
        .add(std::uint32_t{0})
        .add(static_cast<std::uint32_t>(iterations))
        .add(results_.address());
    if (form_.mixed) arguments.add(other->base).add(static_cast<std::uint32_t>(other->bytes - 1));
    kernel_.launch({static_cast<std::uint32_t>(shape.blocks)}, {threads}, arguments, Bytes{async_targets});
    area.at = (area.at + step * iterations) & (area.bytes - 1);
    const auto stamps =
        results_.read<Stamp>(static_cast<std::size_t>(shape.blocks) * static_cast<std::size_t>(shape.warps));
    std::map<std::uint32_t, int> blocks_of_sm;
    double sum = 0;
    for (int block = 0; block < shape.blocks; ++block) {
        const std::span<const Stamp> warps(
            &stamps[static_cast<std::size_t>(block) * static_cast<std::size_t>(shape.warps)],
            static_cast<std::size_t>(shape.warps));
        if (++blocks_of_sm[warps.front().sm] > 1) return std::nullopt;
        // Differences to one reading survive the wrap of the 32-bit clock.
        const auto since = [&](std::uint32_t when) { return static_cast<std::int32_t>(when - warps.front().begin); };
        std::int32_t first = 0, last = 0;
        for (const Stamp& warp : warps)
            first = std::min(first, since(warp.begin)), last = std::max(last, since(warp.end));
        sum += last - first;
    }
    return sum / shape.blocks;
}

std::optional<double> AccessLoop::cycles_per_iteration(AccessShape shape, int iterations, int runs, AccessArea& area,
                                                       const AccessArea* other) {
    double shorter = 0, longer = 0;
    for (int run = 0; run < runs; ++run) {
        const auto once = cycles(shape, iterations, area, other), twice = cycles(shape, 2 * iterations, area, other);
        if (!once || !twice) return std::nullopt;
        const bool alike =
            std::abs(*once - shorter) <= kAlike * shorter && std::abs(*twice - longer) <= kAlike * longer;
        shorter = run == 0 ? *once : std::min(shorter, *once);
        longer = run == 0 ? *twice : std::min(longer, *twice);
        if (alike) break;
    }
    if (longer <= shorter) return std::nullopt;
    return (longer - shorter) / iterations;
}

}  // namespace gputomo::measure
