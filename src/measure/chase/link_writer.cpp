#include "measure/chase/link_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

/// Threads of a block. Any number works.
constexpr std::uint32_t kWriterThreads = 128;

}  // namespace

ptx::ModuleArray constant_array() {
    return {.name = "constants", .space = ptx::Space::constant, .type = Type::u64, .size = kConstantBytes};
}

ptx::KernelBuilder constant_base_kernel(ptx::Target target) {
    ptx::KernelBuilder k("constant_base", target);
    const Reg result = k.param(Type::u64, "result");
    k("st.global.u64", Mem{result}, k.array(constant_array()));
    return k;
}

ptx::KernelBuilder link_writer_kernel(ptx::Target target) {
    ptx::KernelBuilder k("write_links", target);
    const Reg order = k.param(Type::u64, "order");
    const Reg count = k.param(Type::u32, "count");
    const Reg texels = k.param(Type::u64, "texels");
    const Reg i = k.thread_index();
    const Reg mine = k.reg(Type::pred);
    const Reg indices = k.reg(Type::pred);
    const ptx::Label leave = k.label();
    k("setp.lt.u32", mine, i, count);
    k.unless(mine)("bra", leave);
    // The list repeats its first address at the end.
    const Reg entry = k.element(order, i, Bytes{8});
    const Reg from = k.reg(Type::u64);
    const Reg to = k.reg(Type::u64);
    k("ld.global.u64", from, Mem{entry});
    k("ld.global.u64", to, Mem{entry, 8});
    k("setp.ne.u64", indices, texels, 0);
    k.if_(
        indices,
        [&] {
            const Reg index = k.reg(Type::u32);
            k("sub.u64", to, to, texels);
            k("shr.u64", to, to, 2);
            k("cvt.u32.u64", index, to);
            k("st.global.u32", Mem{from}, index);
        },
        [&] { k("st.global.u64", Mem{from}, to); });
    k.place(leave);
    return k;
}

LinkWriter::LinkWriter(device::Device& device)
    : device_(device), kernel_(device, link_writer_kernel(target_of(device))) {}

void LinkWriter::write(std::span<const device::Address> order, device::Address texels) {
    if (order.empty()) throw std::logic_error("write_cycle: expected at least one element");
    std::vector<device::Address> closed(order.begin(), order.end());
    closed.push_back(order.front());
    device::Buffer list(device_, Bytes{static_cast<std::int64_t>(closed.size() * sizeof(device::Address))});
    list.write(closed);
    const auto count = static_cast<std::uint32_t>(order.size());
    device::Arguments arguments;
    arguments.add(list.address()).add(count).add(texels);
    kernel_.launch({(count + kWriterThreads - 1) / kWriterThreads}, {kWriterThreads}, arguments);
}

ConstantLinks::ConstantLinks(device::Device& device, const std::shared_ptr<device::Module>& module)
    : device_(device), for_host_(module->symbol(constant_array().name).address) {
    CompiledKernel base(module, constant_base_kernel(target_of(device)).name(), {});
    const device::Buffer result(device, Bytes{sizeof begin_});
    device::Arguments arguments;
    arguments.add(result.address());
    base.launch({1}, {1}, arguments);
    begin_ = result.read<std::uint64_t>(1).front();
}

void ConstantLinks::write_cycle(std::span<const device::Address> order) {
    links_.resize(std::max<std::size_t>(links_.size(), *std::ranges::max_element(order) / sizeof(std::uint64_t) + 1));
    for (std::size_t i = 0; i < order.size(); ++i)
        links_[order[i] / sizeof(std::uint64_t)] = link_to(order[(i + 1) % order.size()]);
    device_.copy_to_device(for_host_, std::as_bytes(std::span(links_)));
}

}  // namespace gputomo::measure
