#include "experiments/memory/random_chains.hpp"

#include "measure/kernel/device_facts.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "units/warp.hpp"

#include <bit>
#include <cstddef>
#include <map>
#include <vector>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

constexpr std::int64_t kPointerBytes = 8;
/// Loads of an iteration, and iterations of a launch. With eight loads, some 20 cycles of the
/// loop's own instructions add less than 1% to an iteration of loads from memory. More iterations take longer; fewer
/// let the first, cold loads count for more.
constexpr int kChainLoads = 8;
constexpr std::int64_t kIterations = 8;

struct Record {
    std::uint32_t start = 0, end = 0;
    std::uint32_t sm = 0;
};

/// Lines between two coalesced loads of a warp. Neighbouring lines would not do, because a cache may fetch them
/// together.
constexpr std::int64_t kLinesApart = 37;
constexpr std::int64_t kLineBytes = 128, kThreadsOfPointer = kWarpSize * kPointerBytes / kLineBytes;
constexpr std::uint32_t kLinePointers = kLineBytes / kPointerBytes;
/// Groups of 2^shift threads begin at one pointer, the first group at `begin` and each next one `stride` pointers
/// later. Arguments: array, begin, stride, shift, iterations, records.
ptx::KernelBuilder random_kernel(ptx::Target target) {
    ptx::KernelBuilder k("random_access", target);
    const Reg array = k.param(Type::u64, "array"), begin = k.param(Type::u32, "begin"),
              stride = k.param(Type::u32, "stride"), shift = k.param(Type::u32, "shift"),
              iterations = k.param(Type::u32, "iterations"), records = k.param(Type::u64, "records");
    const Reg index = k.thread_index(), pointer = k.reg(Type::u32), first = k.reg(Type::u32), warp = k.reg(Type::u32),
              first_lane = k.reg(Type::pred), at = k.reg(Type::b64);
    k("shr.u32", pointer, index, shift);
    k("mad.lo.u32", first, pointer, stride, begin);
    k("mov.b64", at, k.element(array, first, Bytes{kPointerBytes}));
    k("shr.u32", warp, index, 5);
    k("setp.eq.u32", first_lane, k.special(ptx::SpecialRegister::laneid), 0);
    const Reg start = k.clock_after(at);
    k.loop(iterations, [&] { k.repeat(kChainLoads, [&](int) { k("ld.global.b64", at, Mem{at}); }); });
    const Reg end = k.clock_after(at);
    const Reg mine = k.element(records, warp, Bytes{sizeof(Record)});
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(Record, start)}, start);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(Record, end)}, end);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(Record, sm)}, k.special(ptx::SpecialRegister::smid));
    return k;
}

/// A permutation of the numbers below a power of 2.
class Shuffle {
public:
    explicit Shuffle(std::uint64_t count) : mask_(count - 1), half_((std::countr_zero(count) + 1) / 2) {}
    [[nodiscard]] std::uint64_t place(std::uint64_t number) const { return folded((folded(number) * kFactor) & mask_); }
    [[nodiscard]] std::uint64_t number(std::uint64_t place) const { return folded((folded(place) * kInverse) & mask_); }

private:
    /// 2^64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4), which scatters neighbours, and its
    /// inverse modulo 2^64.
    static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15, kInverse = 0xF1DE83E19937733D;
    static_assert(kFactor * kInverse == 1);
    /// Its own inverse, because the upper half of the bits is not longer than the lower one.
    [[nodiscard]] std::uint64_t folded(std::uint64_t value) const { return value ^ (value >> half_); }

    std::uint64_t mask_;
    int half_;
};

/// One cycle through all pointers of an array, by a linear congruential generator (Hull and Dobell 1962). The
/// multiplier is one more than a multiple of 4, the increment is odd, and the modulus is a power of 2. The low bits of
/// the generator's numbers repeat after few steps, so the places are shuffled. Without that, threads that begin powers
/// of 2 apart would meet in one set of a cache.
std::vector<std::uint64_t> chain(device::Address base, std::int64_t bytes) {
    // Knuth's multiplier for 64 bits (MMIX) and an odd increment.
    constexpr std::uint64_t kMultiplier = 0x5851F42D4C957F2D, kIncrement = 0x14057B7EF767814F;
    const auto pointers = static_cast<std::uint64_t>(bytes / kPointerBytes);
    const Shuffle shuffle(pointers);
    std::vector<std::uint64_t> links(pointers);
    for (std::uint64_t i = 0; i < pointers; ++i) {
        const std::uint64_t next = (shuffle.number(i) * kMultiplier + kIncrement) & (pointers - 1);
        links[i] = base + kPointerBytes * shuffle.place(next);
    }
    return links;
}

/// A ring of pointers, each to the one `kLinesApart` lines further on.
std::vector<std::uint64_t> lines_apart(device::Address base, std::int64_t bytes) {
    std::vector<std::uint64_t> links(static_cast<std::size_t>(bytes / kPointerBytes));
    for (std::size_t i = 0; i < links.size(); ++i)
        links[i] = base + (i * kPointerBytes + static_cast<std::uint64_t>(kLinesApart * kLineBytes)) %
                              static_cast<std::uint64_t>(bytes);
    return links;
}

}  // namespace

RandomChains::RandomChains(device::Device& device, std::int64_t bytes, Order order)
    : kernel_(device, random_kernel(target_of(device)), {LoopedCode{{"LDG", 8}, kChainLoads}}),
      sms_(sms_of(device)),
      bytes_(bytes),
      order_(order),
      array_(device, Bytes{bytes}),
      records_(device, Bytes{sms_ * max_warps_of(device) * static_cast<std::int64_t>(sizeof(Record))}) {
    array_.write(order == Order::random ? chain(array_.address(), bytes) : lines_apart(array_.address(), bytes));
}

std::optional<RandomChains::Rate> RandomChains::run(std::int64_t blocks, int warps, std::uint32_t runs) {
    if (warps * kWarpSize > kernel_.properties().max_threads_per_block) return std::nullopt;
    const std::int64_t all = blocks * warps;
    const bool coalesced = order_ == Order::coalesced;
    const auto stride = coalesced ? 1 : static_cast<std::uint32_t>(bytes_ / kPointerBytes / (all * kWarpSize));
    const auto other = coalesced ? static_cast<std::uint32_t>(kLinesApart * kLineBytes / kPointerBytes)
                                 : stride;  // pointers between the starts of two loads
    const auto shift =
        coalesced ? static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(kThreadsOfPointer))) : 0;
    Rate rate;
    // An untimed launch brings translations and code into their caches, but not the lines of the timed ones.
    for (std::uint32_t i = 0; i <= runs; ++i) {
        const std::uint32_t part = other * i / (runs + 1),
                            begin = coalesced ? part / kLinePointers * kLinePointers : part;
        device::Arguments arguments;
        arguments.add(array_.address())
            .add(begin)
            .add(stride)
            .add(shift)
            .add(static_cast<std::uint32_t>(kIterations))
            .add(records_.address());
        kernel_.launch({static_cast<std::uint32_t>(blocks)}, {static_cast<std::uint32_t>(warps * kWarpSize)},
                       arguments);
        if (i > 0 && !add_run(rate, all, warps, runs)) return std::nullopt;
    }
    return rate;
}
bool RandomChains::add_run(Rate& rate, std::int64_t all, int warps, std::uint32_t runs) {
    std::map<std::uint32_t, int> warps_of;
    for (const auto& record : records_.read<Record>(static_cast<std::size_t>(all))) {
        const double cycles = static_cast<std::int32_t>(record.end - record.start),
                     loads = static_cast<double>(kIterations * kChainLoads);
        rate.latency += cycles / loads / static_cast<double>(all * runs);
        rate.loads += loads / cycles / runs;
        if (++warps_of[record.sm] > warps) return false;
    }
    return true;
}

}  // namespace gputomo::experiments
