#include "experiments/outstanding/in_flight.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr int kMostThreads = 1024;
constexpr int kWarp = 32;
/// GPUs hand registers out for this many threads at once (Wong 2010, Fig. 9), or for fewer.
constexpr int kRegisterThreads = 64;
constexpr int kPasses = 2;
/// What each warp stores: start, when it had its data, after the barrier, unused.
constexpr std::uint32_t kStamps = 4;

std::string_view opcode_of(InFlightAccess access) {
    switch (access) {
        case InFlightAccess::load:
        case InFlightAccess::load_far: return "LDG";
        case InFlightAccess::atomic: return "ATOMG|ATOM";
        case InFlightAccess::store: return "STG";
    }
    return {};
}

std::vector<CodeExpectation> expected_code(InFlightShape shape) {
    // An add and a xor, or half of a three-input one, belong to each access.
    return {TimedCode{.operation = {opcode_of(shape.access)}, .counts = {shape.count}, .companions = 2, .together = true}};
}

/// Appends the accesses, and what makes sure that they are done: a use of each result, or a fence.
void append_accesses(ptx::KernelBuilder& k, InFlightShape shape, Reg address, Reg sum) {
    const auto results = k.regs(Type::b32, shape.count);
    for (int i = 0; i < shape.count; ++i) {
        const Mem at{address, std::int64_t{i} * shape.step};
        const Reg result = results[static_cast<std::size_t>(i)];
        switch (shape.access) {
            case InFlightAccess::load: k("ld.global.ca.b32", result, at); break;
            case InFlightAccess::load_far: k("ld.global.cg.b32", result, at); break;
            case InFlightAccess::atomic: k("atom.global.add.u32", result, at, 1); break;
            case InFlightAccess::store: k("st.global.b32", at, sum); break;
        }
    }
    if (shape.access == InFlightAccess::store) {
        k("xor.b32", sum, sum, k.clock32());  // parts the stores from the fence, for the check of the machine code
        return k("membar.gl");
    }
    // Each result first meets the last one: else ptxas uses, and so waits for, the first ones before it issues the last.
    for (int i = 0; i + 1 < shape.count; ++i) k("add.u32", results[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i)], results.back());
    // A tree: a chain of as many dependent operations would take longer than the accesses.
    for (int apart = 1; apart < shape.count; apart *= 2)
        for (int i = 0; i + apart < shape.count; i += 2 * apart)
            k("xor.b32", results[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i + apart)]);
    k("xor.b32", sum, sum, results.front());
}

struct Stamped {
    Reg begin, done, end;
};

/// Appends both passes; the stamps are those of the second.
Stamped append_passes(ptx::KernelBuilder& k, InFlightShape shape, Reg first_address, Reg address, Reg idle, Reg sum) {
    const Reg at = k.reg(Type::u64);
    const Reg end = k.reg(Type::u32);
    Stamped stamped{k.reg(Type::u32), k.reg(Type::u32), end};
    k("mov.u64", at, first_address);
    k.loop(kPasses, [&] {
        const Label skip = k.label();
        k("bar.sync", 0);
        k("mov.u32", stamped.begin, k.clock_after(at));
        k("mov.u32", stamped.done, stamped.begin);
        k.when(idle)("bra", skip);
        append_accesses(k, shape, at, sum);
        k("mov.u32", stamped.done, k.clock_after(sum));
        k.place(skip);
        k("bar.sync", 0);
        k("mov.u32", end, k.clock32());
        k("mov.u64", at, address);
    });
    return stamped;
}

}  // namespace

std::string_view name_of(InFlightAccess access) {
    switch (access) {
        case InFlightAccess::load: return "load";
        case InFlightAccess::load_far: return "load_far";
        case InFlightAccess::atomic: return "atomic";
        case InFlightAccess::store: return "store";
    }
    return {};
}

ptx::KernelBuilder in_flight_kernel(ptx::Target target, InFlightShape shape) {
    ptx::KernelBuilder k(fmt::format("in_flight_{}_x{}_step{}", name_of(shape.access), shape.count, shape.step), target);
    const Reg base = k.param(Type::u64, "base");
    const Reg warm = k.param(Type::u64, "warm");
    const Reg offsets = k.param(Type::u64, "offsets");
    const Reg results = k.param(Type::u64, "results");
    const Reg thread = k.special(SpecialRegister::tid_x);
    const Reg offset = k.reg(Type::u32);
    k("ld.global.u32", offset, Mem{k.element(offsets, thread, Bytes{4})});
    const Reg idle = k.reg(Type::pred);
    k("setp.eq.u32", idle, offset, kIdleThread);
    const Reg address = k.reg(Type::u64);
    k("cvt.u64.u32", address, offset);
    k("add.u64", address, base, address);
    const Reg sum = k.reg(Type::b32);
    k("mov.b32", sum, 0);
    const Stamped stamped = append_passes(k, shape, warm, address, idle, sum);
    // One lane of each warp reports; the sum goes with it, so that no load is dropped.
    const Reg lane = k.reg(Type::u32);
    k("and.b32", lane, thread, kWarp - 1);
    const Reg first = k.reg(Type::pred);
    k("setp.eq.u32", first, lane, 0);
    const Reg warp = k.reg(Type::u32);
    k("shr.u32", warp, thread, 5);
    const Reg mine = k.element(results, warp, Bytes{kStamps * 4});
    k.when(first)("st.global.u32", Mem{mine}, stamped.begin);
    k.when(first)("st.global.u32", Mem{mine, 4}, stamped.done);
    k.when(first)("st.global.u32", Mem{mine, 8}, stamped.end);
    k.when(first)("st.global.b32", Mem{mine, 12}, sum);
    return k;
}

InFlight::InFlight(device::Device& device, InFlightShape shape)
    : kernel_(device, in_flight_kernel(target_of(device), shape), expected_code(shape)), results_(device, Bytes{kMostThreads / kWarp * kStamps * 4}) {}

int InFlight::most_threads() const {
    const int most = kernel_.properties().max_threads_per_block;
    return most < kMostThreads ? std::max(kWarp, most / kRegisterThreads * kRegisterThreads) : most;
}

InFlightTime InFlight::run(int threads, device::Address base, device::Address warm, device::Address offsets) {
    device::Arguments arguments;
    arguments.add(base).add(warm).add(offsets).add(results_.address());
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments);
    const auto stamps = results_.read<std::uint32_t>(static_cast<std::size_t>((threads + kWarp - 1) / kWarp) * kStamps);
    // Differences against one reading survive the wrap of the 32-bit clock.
    const auto since = [&](std::size_t i) { return static_cast<double>(static_cast<std::int32_t>(stamps[i] - stamps[0])); };
    double begin = 0;
    for (std::size_t i = 0; i < stamps.size(); i += kStamps) begin = std::min(begin, since(i));
    InFlightTime time;
    for (std::size_t i = 0; i < stamps.size(); i += kStamps) {
        const bool idle = stamps[i + 1] == stamps[i];
        time.warps.push_back(idle ? 0 : since(i + 1) - begin);
        time.barrier = std::max(time.barrier, since(i + 2) - begin);
    }
    return time;
}

}  // namespace gputomo::experiments
