#include "measure/bandwidth/atomic_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// What each block stores.
struct BlockStamp {
    std::uint32_t begin = 0, end = 0;
};

struct AtomicKindRow {
    std::string_view name, instruction;
    Type type;
    std::uint32_t bytes;
    int capability;
};
constexpr std::array kAtomicKinds{AtomicKindRow{"integer", "red.global.add.u32", Type::u32, 4, 11},
                                  AtomicKindRow{"float", "red.global.add.f32", Type::f32, 4, 20},
                                  AtomicKindRow{"double", "red.global.add.f64", Type::f64, 8, 60},
                                  AtomicKindRow{"swap", "atom.global.cas.b32", Type::b32, 4, 11}};

const AtomicKindRow& atomic_row_of(AtomicKind kind) { return kAtomicKinds[static_cast<std::size_t>(kind)]; }

/// The value to add, or to compare and to store.
Reg added_value(ptx::KernelBuilder& k, Type type) {
    const Reg value = k.reg(type);
    if (type == Type::f32 || type == Type::f64)
        k(type == Type::f32 ? "mov.f32" : "mov.f64", value, 1.0);
    else
        k("mov.b32", value, 1);
    return value;
}

ptx::KernelBuilder atomic_loop_kernel(ptx::Target target, AtomicKind kind) {
    const AtomicKindRow& row = atomic_row_of(kind);
    ptx::KernelBuilder k(fmt::format("atomics_{}", row.name), target);
    const Reg array = k.param(Type::u64, "array"), offsets = k.param(Type::u64, "offsets"),
              iterations = k.param(Type::u32, "iterations"), results = k.param(Type::u64, "results");
    const Reg offset = k.reg(Type::u32), address = k.reg(Type::u64), takes = k.reg(Type::pred),
              first = k.reg(Type::pred);
    const auto old = k.regs(Type::b32, AtomicLoop::kCount);
    k("ld.global.u32", offset, Mem{k.element(offsets, k.thread_index(), Bytes{4})});
    k("cvt.u64.u32", address, offset);
    k("add.u64", address, address, array);
    k("setp.ne.u32", takes, offset, AtomicLoop::kNone);
    const Reg value = added_value(k, row.type);
    k("bar.sync", 0);
    const Reg begin = k.clock_after(offset);
    k.if_(takes, [&] {
        k.loop(iterations, [&] {
            k.repeat(AtomicLoop::kCount, [&](int i) {
                if (kind == AtomicKind::compare_swap)
                    k(row.instruction, old[static_cast<std::size_t>(i)], Mem{address}, value, value);
                else
                    k(row.instruction, Mem{address}, value);
            });
        });
    });
    k("membar.gl");
    k("bar.sync", 0);
    const Reg end = k.clock_after(offset);
    const Mem stamp{k.element(results, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(BlockStamp)})};
    k("setp.eq.u32", first, k.special(SpecialRegister::tid_x), 0);
    k.when(first)("st.global.v2.u32", stamp, ptx::Vec{begin, end});
    return k;
}

}  // namespace

std::string_view name_of(AtomicKind kind) { return atomic_row_of(kind).name; }
std::uint32_t bytes_of(AtomicKind kind) { return atomic_row_of(kind).bytes; }
int needed_capability(AtomicKind kind) { return atomic_row_of(kind).capability; }

AtomicLoop::AtomicLoop(device::Device& device, AtomicKind kind, int most_blocks)
    : kernel_(device, atomic_loop_kernel(target_of(device), kind), {LoopedCode{{"REDG|RED|ATOMG|ATOM"}, kCount}}),
      offsets_(device, Bytes{std::int64_t{most_blocks} * kWarps * kWarpSize * 4}),
      results_(device, Bytes{most_blocks * static_cast<std::int64_t>(sizeof(BlockStamp))}) {}

double AtomicLoop::launch(int blocks, device::Address array, int iterations) {
    device::Arguments arguments;
    arguments.add(array).add(offsets_.address()).add(static_cast<std::uint32_t>(iterations)).add(results_.address());
    kernel_.launch({static_cast<std::uint32_t>(blocks)}, {kWarps * kWarpSize}, arguments);
    std::uint32_t longest = 0;
    for (const BlockStamp& stamp : results_.read<BlockStamp>(static_cast<std::size_t>(blocks)))
        longest = std::max(longest, stamp.end - stamp.begin);
    return longest;
}

std::optional<double> AtomicLoop::cycles_of_warp(int blocks, const OffsetOf& offset_of, device::Address array,
                                                 int iterations, int runs) {
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t warp = 0; warp < static_cast<std::uint32_t>(blocks * kWarps); ++warp)
        for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) offsets.push_back(offset_of(warp, lane));
    offsets_.write(offsets);
    (void)launch(blocks, array, 1);  // brings code and lines to the caches
    double once = launch(blocks, array, iterations), twice = launch(blocks, array, 2 * iterations);
    for (int run = 1; run < runs; ++run) {
        once = std::min(once, launch(blocks, array, iterations));
        twice = std::min(twice, launch(blocks, array, 2 * iterations));
    }
    if (twice <= once) return std::nullopt;
    return (twice - once) / iterations / kCount / (blocks * kWarps);
}

}  // namespace gputomo::measure
