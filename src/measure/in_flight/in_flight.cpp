#include "measure/in_flight/in_flight.hpp"

#include "measure/kernel/grouped_accesses.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace gputomo::measure {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// The most threads that a block may have on any GPU so far.
constexpr int kMostThreads = 1024;
/// GPUs allocate registers for this many threads at once (Wong 2010, Fig. 9), or for fewer.
constexpr int kRegisterThreads = 64;
/// The first pass warms code and translations.
constexpr int kPasses = 2;
/// What each warp stores.
struct Stamp {
    std::uint32_t begin = 0;
    std::uint32_t last = 0;  ///< when the data of the access that was written last had arrived
    std::uint32_t all = 0;   ///< when all data had arrived and were used
    std::uint32_t end = 0;   ///< after the barrier
    std::uint32_t sum = 0;
};

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
    if (shape.count == 0) return {};
    return {TimedCode{.operation = {opcode_of(shape.access)}, .counts = {shape.count}, .together = true}};
}

/// Appends the accesses and returns the registers of those with results.
std::vector<Reg> append_accesses(ptx::KernelBuilder& k, InFlightShape shape, Reg address, Reg sum) {
    const auto results = k.regs(Type::b32, shape.access == InFlightAccess::store ? 0 : shape.count);
    for (int i = 0; i < shape.count; ++i) {
        const Mem at{address, std::int64_t{i} * shape.step};
        const auto result = static_cast<std::size_t>(i);
        switch (shape.access) {
            case InFlightAccess::load: k("ld.global.ca.b32", results[result], at); break;
            case InFlightAccess::load_far: k("ld.global.cg.b32", results[result], at); break;
            case InFlightAccess::atomic: k("atom.global.add.u32", results[result], at, 1); break;
            case InFlightAccess::store: k("st.global.b32", at, sum); break;
        }
    }
    return results;
}

struct Stamped {
    Reg begin, last, all, end;
};

/// Appends both passes; the stamps are those of the second.
Stamped append_passes(ptx::KernelBuilder& k, InFlightShape shape, Reg first_address, Reg address, Reg idle, Reg sum) {
    const Reg never = append_false_predicate(k, first_address), at = k.reg(Type::u64);
    const Stamped stamped{k.reg(Type::u32), k.reg(Type::u32), k.reg(Type::u32), k.reg(Type::u32)};
    k("mov.u64", at, first_address);
    k.loop(kPasses, [&] {
        const Label skip = k.label();
        k("bar.sync", 0);
        k("mov.u32", stamped.begin, k.clock_after(at));
        k("mov.u32", stamped.last, stamped.begin);
        k("mov.u32", stamped.all, stamped.begin);
        k.when(idle)("bra", skip);
        const auto results = append_accesses(k, shape, at, sum);
        k.when(never)("bra", skip);
        if (shape.access == InFlightAccess::store) {
            // separates the stores from the fence, for the check of the machine code
            k("xor.b32", sum, sum, k.clock32());
            k("membar.gl");
        }
        k("mov.u32", stamped.last, k.clock_after(results.empty() ? sum : results.back()));
        k.when(never)("bra", skip);
        append_joint_use(k, results, sum);
        k("mov.u32", stamped.all, k.clock_after(sum));
        k.place(skip);
        k("bar.sync", 0);
        k("mov.u32", stamped.end, k.clock32());
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
    ptx::KernelBuilder k(fmt::format("in_flight_{}_x{}_step{}", name_of(shape.access), shape.count, shape.step),
                         target);
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
    // One lane of each warp reports. The sum is stored too, so that the compiler drops no load.
    const Reg lane = k.reg(Type::u32);
    k("and.b32", lane, thread, kWarpSize - 1);
    const Reg first = k.reg(Type::pred);
    k("setp.eq.u32", first, lane, 0);
    const Reg warp = k.reg(Type::u32);
    k("shr.u32", warp, thread, 5);
    const Reg mine = k.element(results, warp, Bytes{sizeof(Stamp)});
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, begin)}, stamped.begin);
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, last)}, stamped.last);
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, all)}, stamped.all);
    k.when(first)("st.global.u32", Mem{mine, offsetof(Stamp, end)}, stamped.end);
    k.when(first)("st.global.b32", Mem{mine, offsetof(Stamp, sum)}, sum);
    return k;
}

InFlight::InFlight(device::Device& device, InFlightShape shape)
    : kernel_(device, in_flight_kernel(target_of(device), shape), expected_code(shape)),
      results_(device, Bytes{kMostThreads / kWarpSize * static_cast<std::int64_t>(sizeof(Stamp))}),
      ordered_(!kernel_.module().machine_code()) {}

int InFlight::most_threads() const {
    const int most = kernel_.properties().max_threads_per_block;
    return most < kMostThreads ? std::max(kWarpSize, most / kRegisterThreads * kRegisterThreads) : most;
}

InFlightTime InFlight::run(int threads, device::Address base, device::Address warm, device::Address offsets,
                           Bytes shared) {
    device::Arguments arguments;
    arguments.add(base).add(warm).add(offsets).add(results_.address());
    kernel_.launch({1}, {static_cast<std::uint32_t>(threads)}, arguments, shared);
    const auto stamps = results_.read<Stamp>(static_cast<std::size_t>((threads + kWarpSize - 1) / kWarpSize));
    // Differences to one reading survive the wrap of the 32-bit clock.
    const auto since = [&](std::uint32_t when) {
        return static_cast<double>(static_cast<std::int32_t>(when - stamps.front().begin));
    };
    double begin = 0;
    for (const Stamp& stamp : stamps) begin = std::min(begin, since(stamp.begin));
    InFlightTime time;
    for (const Stamp& stamp : stamps) {
        const bool idle = stamp.all == stamp.begin;
        time.warps.push_back(idle ? 0 : since(ordered_ ? stamp.last : stamp.all) - begin);
        time.barrier = std::max(time.barrier, since(stamp.end) - begin);
    }
    return time;
}

}  // namespace gputomo::measure
