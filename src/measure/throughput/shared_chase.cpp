#include "measure/throughput/shared_chase.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// The most threads that a block may have on any GPU so far.
constexpr int kMaxThreads = 1024;

/// The threads of the block share the work of writing the links. `iterations` is the most that each writes.
void append_links(ptx::KernelBuilder& k, Reg memory, Reg links, Reg count, Reg iterations) {
    const Reg i = k.special(ptx::SpecialRegister::tid_x);
    const Reg threads = k.special(ptx::SpecialRegister::ntid_x);
    const Reg more = k.reg(Type::pred);
    const Reg from = k.reg(Type::u32);
    const Reg to = k.reg(Type::u32);
    k.loop(iterations, [&] {
        k("setp.lt.u32", more, i, count);
        const Reg link = k.element(links, i, Bytes{8});
        k.when(more)("ld.global.u32", from, Mem{link});
        k.when(more)("ld.global.u32", to, Mem{link, 4});
        k.when(more)("add.u32", from, from, memory);
        k.when(more)("add.u32", to, to, memory);
        k.when(more)("st.shared.u32", Mem{from}, to);
        k("add.u32", i, i, threads);
    });
    k("bar.sync", 0);
}

/// p = the first word at p. The load is volatile, so that it stays between the clock reads and no word of a vector is
/// dropped.
void append_load(ptx::KernelBuilder& k, Reg p, std::span<const Reg> others, int width) {
    if (width == 1) return k("ld.volatile.shared.u32", p, Mem{p});
    std::vector<ptx::Arg> words{p};
    for (int i = 1; i < width; ++i) words.emplace_back(others[static_cast<std::size_t>(i - 1)]);
    k.emit(fmt::format("ld.volatile.shared.v{}.u32", width), {ptx::Arg(words), Mem{p}});
}

TimedCode timed_loads(const SharedChase::Shape& shape) {
    const int loads = shape.length * shape.chains;
    return {.operation = {"LDS", 4 * shape.width}, .counts = {loads, 2 * loads}};
}

}  // namespace

ptx::KernelBuilder shared_chase_kernel(ptx::Target target, SharedChase::Shape shape) {
    ptx::KernelBuilder k(fmt::format("shared_chase_v{}_x{}", shape.width, shape.chains), target);
    const Reg links = k.param(Type::u64, "links");
    const Reg count = k.param(Type::u32, "count");
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg starts = k.param(Type::u64, "starts");
    const Reg stamps = k.param(Type::u64, "stamps");
    const Reg results = k.param(Type::u64, "results");
    const Reg memory = k.dynamic_shared();
    append_links(k, memory, links, count, iterations);
    const std::vector<Reg> chains = k.regs(Type::u32, shape.chains);
    const std::vector<Reg> others = k.regs(Type::u32, 3 * shape.chains);
    const Reg start = k.reg(Type::u32);
    k("ld.global.u32", start, Mem{k.element(starts, k.thread_index(), Bytes{4})});
    for (const Reg p : chains) k("add.u32", p, start, memory);
    const auto append_loads = [&](int loads) {
        k.repeat(loads, [&](int) {
            for (std::size_t i = 0; i < chains.size(); ++i)
                append_load(k, chains[i], std::span(others).subspan(3 * i, 3), shape.width);
        });
    };
    // Shared memory answers in order, so waiting for the last chain means waiting for all.
    append_doubled(k, {.stamps = stamps, .waited = chains.back(), .length = shape.length, .append = append_loads});
    k("st.global.u32", Mem{results}, chains.back());
    return k;
}

SharedChase::SharedChase(device::Device& device, Shape shape)
    : device_(device),
      shape_(shape),
      kernel_(device, shared_chase_kernel(target_of(device), shape), {timed_loads(shape)}),
      stamps_(device, kMaxThreads),
      results_(device, Bytes{4}) {}

double SharedChase::cycles_of_n(std::span<const SharedLink> links, std::span<const std::uint32_t> starts) {
    device::Buffer link_buffer(device_, Bytes{static_cast<std::int64_t>(links.size_bytes())});
    device::Buffer start_buffer(device_, Bytes{static_cast<std::int64_t>(starts.size_bytes())});
    link_buffer.write(links);
    start_buffer.write(starts);
    device::Arguments arguments;
    arguments.add(link_buffer.address())
        .add(static_cast<std::uint32_t>(links.size()))
        .add(static_cast<std::uint32_t>((links.size() + starts.size() - 1) / starts.size()))
        .add(start_buffer.address())
        .add(stamps_.address())
        .add(results_.address());
    kernel_.launch({1}, {static_cast<std::uint32_t>(starts.size())}, arguments, shape_.memory);
    return stamps_.cycles_of_n(static_cast<int>(starts.size()));
}

}  // namespace gputomo::measure
