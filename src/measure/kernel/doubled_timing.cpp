#include "measure/kernel/doubled_timing.hpp"

#include <algorithm>
#include <array>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

constexpr int kStamps = 4;  ///< start and end of the shorter run, start and end of the longer one

}  // namespace

void append_doubled(ptx::KernelBuilder& k, const DoubledBody& body) {
    const std::vector<Reg> times = k.regs(Type::u32, kStamps);
    k.loop(kTimedPasses, [&] {
        for (int part = 0; part < 2; ++part) {
            k("bar.sync", 0);
            k("mov.u32", times[2 * part], k.clock_after(body.waited));
            body.append((part + 1) * body.length);
            k("mov.u32", times[2 * part + 1], k.clock_after(body.waited));
        }
    });
    const Reg mine = k.element(body.stamps, k.thread_index(), Bytes{kStamps * 4});
    for (int i = 0; i < kStamps; ++i) k("st.global.u32", Mem{mine, 4 * i}, times[i]);
}

void append_timed_loop(ptx::KernelBuilder& k, const DoubledBody& body, Reg iterations) {
    const Reg mine = k.element(body.stamps, k.thread_index(), Bytes{kStamps * 4});
    const Reg slot = k.reg(Type::u64);
    const Reg now = k.reg(Type::u32);
    const Reg last = k.reg(Type::pred);
    k("mov.u32", now, 1);
    k("mov.u64", slot, mine);
    // The last pass overwrites the stamps of the passes before.
    k.loop(kTimedPasses, [&](Reg pass) {
        k("setp.eq.u32", last, pass, kTimedPasses - 1);
        k.when(last)("add.u32", now, iterations, now);
        k.when(last)("add.u64", slot, mine, 8);
        k("bar.sync", 0);
        const Reg begin = k.clock_after(body.waited);
        k.loop(now, [&] { body.append(body.length); });
        const Reg end = k.clock_after(body.waited);
        k("st.global.u32", Mem{slot}, begin);
        k("st.global.u32", Mem{slot, 4}, end);
    });
}

Stamps::Stamps(device::Device& device, int max_threads)
    : buffer_(device, Bytes{std::int64_t{4} * kStamps * max_threads}) {}

double Stamps::cycles_of_n(int threads) const {
    const auto raw = buffer_.read<std::uint32_t>(static_cast<std::size_t>(threads) * kStamps);
    // Differences to one reading survive the wrap of the 32-bit clock.
    const std::uint32_t origin = raw.at(0);
    std::array<std::int64_t, kStamps> extreme{};
    for (std::size_t i = 0; i < raw.size(); ++i) {
        const std::int64_t time = static_cast<std::int32_t>(raw[i] - origin);
        auto& kept = extreme[i % kStamps];
        if (i < kStamps)
            kept = time;
        else
            kept = i % 2 == 0 ? std::min(kept, time) : std::max(kept, time);
    }
    return static_cast<double>((extreme[3] - extreme[2]) - (extreme[1] - extreme[0]));
}

}  // namespace gputomo::measure
