#include "measure/bandwidth/streaming.hpp"

#include <fmt/format.h>
#include "measure/kernel/device_facts.hpp"

#include <algorithm>
#include <array>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;
using ptx::Vec;

constexpr std::int64_t kAccessBytes = 16;  ///< the widest access of a thread (PTX: v4.u32)

/// The loop must contain whole vector accesses, not words.
std::vector<CodeExpectation> looped_accesses(StreamKind kind, int unroll) {
    std::vector<CodeExpectation> expected{LoopedCode{{"LDG", kAccessBytes}, unroll}};
    if (kind == StreamKind::copy) expected.emplace_back(LoopedCode{{"STG", kAccessBytes}, unroll});
    return expected;
}

using Words = std::array<Reg, 4>;
Vec vector_of(const Words& words) { return {words[0], words[1], words[2], words[3]}; }

}  // namespace

std::vector<StreamShape> streaming_shapes(const device::Device& device) {
    using enum device::Attribute;
    const auto sms = static_cast<int>(sms_of(device));
    const auto per_sm = static_cast<int>(device.attribute(max_threads_per_multiprocessor).value_or(512));
    const auto per_block = static_cast<int>(device.attribute(max_threads_per_block).value_or(256));
    std::vector<StreamShape> shapes;
    for (int threads : {std::min(256, per_block), std::min(512, per_block)})
        for (int unroll : {4, 8}) shapes.push_back({threads, sms * std::max(1, per_sm / threads), unroll});
    return shapes;
}

void store_if_rare(ptx::KernelBuilder& k, Reg sum, Reg address) {
    const Reg rare = k.reg(Type::pred);
    k("setp.eq.b32", rare, sum, 0x5eed5eed);
    k.when(rare)("st.global.b32", Mem{address}, sum);
}

ptx::KernelBuilder streaming_kernel(ptx::Target target, StreamKind kind, int unroll) {
    ptx::KernelBuilder k(fmt::format("stream_{}_x{}", kind == StreamKind::read ? "read" : "copy", unroll), target);
    const Reg from = k.param(Type::u64, "from");
    const Reg to = k.param(Type::u64, "to");
    const Reg step = k.param(Type::u64, "step");  // bytes between successive accesses of a thread
    const Reg iterations = k.param(Type::u32, "iterations");
    const Reg index = k.thread_index();
    const Reg source = k.element(from, index, Bytes{kAccessBytes});
    const Reg target_address = k.element(to, index, Bytes{kAccessBytes});
    const Reg sum = k.reg(Type::b32);
    k("mov.b32", sum, 0);
    std::vector<Words> data;
    for (int i = 0; i < unroll; ++i)
        data.push_back({k.reg(Type::b32), k.reg(Type::b32), k.reg(Type::b32), k.reg(Type::b32)});
    k.loop(iterations, [&] {
        for (const Words& words : data) {
            k("ld.global.v4.b32", vector_of(words), Mem{source});
            k("add.u64", source, source, step);
        }
        for (const Words& words : data) {
            if (kind == StreamKind::copy) {
                k("st.global.v4.b32", Mem{target_address}, vector_of(words));
                k("add.u64", target_address, target_address, step);
            } else {
                for (const Reg word : words) k("xor.b32", sum, sum, word);
            }
        }
    });
    store_if_rare(k, sum, target_address);
    return k;
}

Streaming::Streaming(device::Device& device, StreamKind kind, StreamShape shape, device::Address arrays, Bytes size)
    : kind_(kind),
      shape_(shape),
      arrays_(arrays),
      size_(size),
      registers_(device.attribute(device::Attribute::max_registers_per_block).value_or(0)),
      kernel_(device, streaming_kernel(target_of(device), kind, shape.unroll), looped_accesses(kind, shape.unroll)) {}

bool Streaming::fits() const {
    return registers_ == 0 || std::int64_t{kernel_.properties().registers_per_thread} * shape_.threads <= registers_;
}

std::int64_t StreamShape::iteration_bytes() const { return std::int64_t{threads} * blocks * unroll * kAccessBytes; }

std::uint32_t Streaming::iterations(Bytes size) const {
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, size.count() / shape_.iteration_bytes()));
}

Nanoseconds Streaming::run(Bytes size) {
    device::Arguments arguments;
    arguments.add(arrays_)
        .add(arrays_ + static_cast<device::Address>(size_.count()))
        .add(static_cast<std::uint64_t>(shape_.iteration_bytes() / shape_.unroll))
        .add(iterations(size));
    return kernel_
        .launch({static_cast<std::uint32_t>(shape_.blocks)}, {static_cast<std::uint32_t>(shape_.threads)}, arguments)
        .elapsed;
}

Streaming::SecondHalf Streaming::second_half(Bytes size, int launches) {
    const auto fastest = [&](Bytes array) {
        Nanoseconds time{1e18};
        for (int i = 0; i < launches; ++i) time = std::min(time, run(array));
        return time;
    };
    const Nanoseconds whole = fastest(size), half = fastest(size / 2);
    return {whole - half, moved(size) - moved(size / 2), iterations(size) - iterations(size / 2)};
}

Bytes Streaming::moved(Bytes size) const {
    return Bytes{iterations(size) * shape_.iteration_bytes() * (kind_ == StreamKind::copy ? 2 : 1)};
}

std::string Streaming::name() const {
    return fmt::format("{} of 16 bytes, {} in flight a thread, {} blocks of {} threads",
                       kind_ == StreamKind::read ? "reads" : "copies", shape_.unroll, shape_.blocks, shape_.threads);
}

}  // namespace gputomo::measure
