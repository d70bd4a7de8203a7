#include "measure/residency/resident_blocks.hpp"

#include "measure/kernel/device_facts.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// records, data, cycles
constexpr int kOwnArguments = 3;
/// More values than any GPU has registers for a thread (255).
constexpr std::int64_t kMostValues = 320;
/// Cycles for which a block stays resident. It must be so long that the last block of an SM starts before the first one
/// ends; longer only costs time.
constexpr std::uint32_t kResidentCycles = 20'000;
/// No SM so far holds more than 32 blocks; the records hold twice as many.
constexpr std::uint32_t kMostBlocksPerSm = 64;

struct Record {
    std::uint32_t sm = 0;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
};

/// Waits until the block's time is over. It reads the clock between loads from memory, so that the wait takes few
/// iterations.
void append_wait(ptx::KernelBuilder& k, Reg data, Reg start, Reg cycles) {
    const Reg spent = k.reg(Type::u32);
    const Reg word = k.reg(Type::u32);
    const Reg more = k.reg(Type::pred);
    const ptx::Label top = k.label();
    k.place(top);
    k("ld.volatile.global.u32", word, Mem{data});
    k("sub.u32", spent, k.clock_after(word), start);
    k("setp.lt.u32", more, spent, cycles);
    k.when(more)("bra", top);
}

}  // namespace

std::size_t most_at_once(const std::vector<std::int32_t>& starts, const std::vector<std::int32_t>& ends) {
    std::size_t most = 0;
    for (std::size_t i = 0, ended = 0; i < starts.size(); ++i) {
        while (ended < ends.size() && ends[ended] <= starts[i]) ++ended;
        most = std::max(most, i + 1 - ended);
    }
    return most;
}

ptx::KernelBuilder residency_kernel(ptx::Target target, ResidencyProbe::Shape shape) {
    ptx::KernelBuilder k(fmt::format("resident_{}_{}", shape.live_values, shape.extra_arguments), target);
    const Reg start = k.entry_clock32();
    const Reg records = k.param(Type::u64, "records");
    const Reg data = k.param(Type::u64, "data");
    const Reg cycles = k.param(Type::u32, "cycles");
    for (int i = 0; i < shape.extra_arguments; ++i) static_cast<void>(k.param(Type::u32, fmt::format("unused{}", i)));
    static_cast<void>(k.dynamic_shared());
    // All values are loaded before the wait and used after it, together with a value that is only known then. So the
    // compiler must keep them in registers.
    const std::vector<Reg> values = k.regs(Type::u32, shape.live_values);
    for (int i = 0; i < shape.live_values; ++i)
        k("ld.volatile.global.u32", values[static_cast<std::size_t>(i)], Mem{data, 4 * i});
    const Reg first = k.reg(Type::pred);
    k("setp.eq.u32", first, k.special(SpecialRegister::tid_x), 0);
    k.if_(first, [&] { append_wait(k, data, start, cycles); });
    k("bar.sync", 0);
    const Reg sum = k.reg(Type::u32);
    const Reg late = k.reg(Type::u32);
    k("ld.volatile.global.u32", late, Mem{data});
    k("mov.u32", sum, late);
    for (const Reg value : values) {
        k("add.u32", sum, sum, value);
        k("xor.b32", sum, sum, late);
    }
    k.if_(first, [&] {
        const Reg mine = k.element(records, k.special(SpecialRegister::ctaid_x), Bytes{sizeof(Record)});
        k("st.global.u32", Mem{mine}, k.special(SpecialRegister::smid));
        k("st.global.u32", Mem{mine, 4}, start);
        k("st.global.u32", Mem{mine, 8}, k.clock_after(sum));
    });
    return k;
}

ResidencyProbe::ResidencyProbe(device::Device& device, Shape shape)
    : device_(device),
      shape_(shape),
      kernel_(device, residency_kernel(target_of(device), shape)),
      data_(device, Bytes{4 * kMostValues}),
      records_(device, Bytes{static_cast<std::int64_t>(sizeof(Record)) * sms_of(device) * kMostBlocksPerSm}) {
    device.fill_u32(data_.address(), 0, static_cast<std::size_t>(kMostValues));
}

int ResidencyProbe::own_arguments() { return kOwnArguments; }

void ResidencyProbe::launch(std::uint32_t blocks, int threads, Bytes shared, std::uint32_t cycles) {
    device::Arguments arguments;
    arguments.add(records_.address()).add(data_.address()).add(cycles);
    for (int i = 0; i < shape_.extra_arguments; ++i) arguments.add(std::uint32_t{0});
    kernel_.launch({blocks}, {static_cast<std::uint32_t>(threads)}, arguments, shared);
}

bool ResidencyProbe::can_launch(int threads) {
    try {
        launch(1, threads, Bytes{0}, 0);
        return true;
    } catch (const DeviceError&) {
        launch(1, kWarpSize, Bytes{0}, 0);
        return false;
    }
}

int ResidencyProbe::blocks_per_sm(int threads, Bytes shared, int expected) {
    const std::uint32_t blocks = sms_of(device_) * std::min(kMostBlocksPerSm, static_cast<std::uint32_t>(expected) + 1);
    launch(blocks, threads, shared, kResidentCycles);
    std::map<std::uint32_t, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> by_sm;
    std::map<std::uint32_t, std::uint32_t> origins;
    for (const Record& record : records_.read<Record>(blocks)) {
        const std::uint32_t origin = origins.emplace(record.sm, record.start).first->second;
        auto& [starts, ends] = by_sm[record.sm];
        starts.push_back(static_cast<std::int32_t>(record.start - origin));
        ends.push_back(static_cast<std::int32_t>(record.end - origin));
    }
    std::size_t most = 0;
    for (auto& [sm, times] : by_sm) {
        std::ranges::sort(times.first);
        std::ranges::sort(times.second);
        most = std::max(most, most_at_once(times.first, times.second));
    }
    return static_cast<int>(most);
}

}  // namespace gputomo::measure
