#include "measure/chase/latency_samples.hpp"

#include "measure/kernel/clock_difference.hpp"
#include "measure/kernel/device_facts.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// What a warp stores at its end.
struct WarpRecord {
    std::uint32_t start = 0, end = 0;
    std::uint32_t pointer = 0;  ///< the lower half of the last pointer
    std::uint32_t sm = 0;
};

/// Cycles between two clock reads around nothing, and around a load. The first is subtracted as overhead.
struct Sample {
    std::uint32_t before = 0, start = 0, end = 0;
};

void append_loads(ptx::KernelBuilder& k, Reg at, int count) {
    k.repeat(count, [&](int) { k("ld.global.b64", at, Mem{at}); });
}

void append_sample(ptx::KernelBuilder& k, Reg at, Reg slot, Reg first_lane) {
    const Reg before = k.clock_after(at), start = k.clock_after(at);
    append_loads(k, at, 1);
    const Reg end = k.clock_after(at);
    k.when(first_lane)("st.shared.u32", Mem{slot, offsetof(Sample, before)}, before);
    k.when(first_lane)("st.shared.u32", Mem{slot, offsetof(Sample, start)}, start);
    k.when(first_lane)("st.shared.u32", Mem{slot, offsetof(Sample, end)}, end);
    k("add.u32", slot, slot, static_cast<int>(sizeof(Sample)));
}

/// Copies the samples of the warp's block from shared memory to `samples`.
void append_flush(ptx::KernelBuilder& k, Reg shared, Reg samples, Reg iterations, Reg first_lane) {
    const Reg words = k.reg(Type::u32), block_words = k.reg(Type::u32), from = k.reg(Type::u32), to = k.reg(Type::u64),
              word = k.reg(Type::u32);
    k("mul.lo.u32", words, iterations, static_cast<int>(sizeof(Sample) / 4));
    k("mul.lo.u32", block_words, words, k.special(SpecialRegister::ctaid_x));
    k("mov.u64", to, k.element(samples, block_words, Bytes{4}));
    k("mov.u32", from, shared);
    k.loop(words, [&] {
        k("ld.shared.u32", word, Mem{from});
        k.when(first_lane)("st.global.u32", Mem{to}, word);
        k("add.u32", from, from, 4);
        k("add.u64", to, to, 4);
    });
}

}  // namespace

ptx::KernelBuilder latency_samples_kernel(ptx::Target target) {
    ptx::KernelBuilder k("latency_samples", target);
    const LineArguments lines = line_parameters(k);
    const Reg iterations = k.param(Type::u32, "iterations"), samplers = k.param(Type::u32, "samplers"),
              records = k.param(Type::u64, "records"), samples = k.param(Type::u64, "samples");
    const Reg warp = k.reg(Type::u32), first_lane = k.reg(Type::pred), early = k.reg(Type::pred),
              sampling = k.reg(Type::pred), slot = k.reg(Type::u32);
    const Reg shared = k.dynamic_shared();
    k("shr.u32", warp, k.thread_index(), 5);
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    k("setp.lt.u32", early, k.special(SpecialRegister::ctaid_x), samplers);
    k("setp.lt.u32", sampling, k.special(SpecialRegister::tid_x), kWarpSize);
    k("and.pred", sampling, sampling, early);
    k("mov.u32", slot, shared);
    const Reg at = line_address(k, lines, warp);
    const Reg start = k.clock_after(at);
    k.if_(
        sampling,
        [&] {
            k.loop(iterations, [&] {
                append_loads(k, at, LatencySamples::kSampledOf - 1);
                append_sample(k, at, slot, first_lane);
            });
        },
        [&] { k.loop(iterations, [&] { append_loads(k, at, LatencySamples::kSampledOf); }); });
    const Reg end = k.clock_after(at);
    const Reg mine = k.element(records, warp, Bytes{sizeof(WarpRecord)}), low = k.reg(Type::b32),
              high = k.reg(Type::b32);
    k("mov.b64", ptx::Vec{low, high}, at);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(WarpRecord, start)}, start);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(WarpRecord, end)}, end);
    k.when(first_lane)("st.global.b32", Mem{mine, offsetof(WarpRecord, pointer)}, low);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(WarpRecord, sm)}, k.special(SpecialRegister::smid));
    k.if_(sampling, [&] { append_flush(k, shared, samples, iterations, first_lane); });
    return k;
}

LatencySamples::LatencySamples(device::Device& device, LinkedArray& array)
    : device_(device),
      array_(array),
      kernel_(device, latency_samples_kernel(target_of(device)), {LoopedCode{{"LDG", 8}, kSampledOf}}),
      sms_(sms_of(device)),
      records_(device, Bytes{sms_ * max_warps_of(device) * static_cast<std::int64_t>(sizeof(WarpRecord))}),
      samples_(device, Bytes{sms_ * kSamples * static_cast<std::int64_t>(sizeof(Sample))}) {}

std::optional<double> LatencySamples::launch(int warps, std::map<std::int64_t, std::int64_t>& histogram) {
    const auto blocks = blocks_for(device_, warps, kernel_.properties().max_threads_per_block);
    if (!blocks) return std::nullopt;
    const std::int64_t grid = sms_ * blocks->per_sm, all = grid * blocks->warps, steps = kSamples * kSampledOf;
    const std::int64_t first_line = array_.take(all, kLines);
    device::Arguments arguments;
    array_.add_to(arguments, first_line, kLines);
    arguments.add(static_cast<std::uint32_t>(kSamples))
        .add(static_cast<std::uint32_t>(sms_))
        .add(records_.address())
        .add(samples_.address());
    const Bytes shared{std::max<std::int64_t>(shared_for(device_, blocks->per_sm).count(),
                                              kSamples * static_cast<std::int64_t>(sizeof(Sample)))};
    kernel_.launch({static_cast<std::uint32_t>(grid)}, {static_cast<std::uint32_t>(blocks->warps * kWarpSize)},
                   arguments, shared);

    const auto records = records_.read<WarpRecord>(static_cast<std::size_t>(all));
    double loads_per_cycle = 0;
    std::map<std::uint32_t, std::int64_t> warps_of;
    for (std::size_t warp = 0; warp < records.size(); ++warp) {
        if (records[warp].pointer != array_.after(first_line, static_cast<std::int64_t>(warp), kLines, steps))
            throw DeviceError(fmt::format("kernel {}: warp {} ended at {:#x}; expected {:#x}", kernel_.name(), warp,
                                          records[warp].pointer,
                                          array_.after(first_line, static_cast<std::int64_t>(warp), kLines, steps)));
        loads_per_cycle += static_cast<double>(steps) / cycles_between(records[warp].start, records[warp].end);
        ++warps_of[records[warp].sm];
    }
    if (std::ranges::any_of(warps_of, [&](const auto& entry) { return entry.second != warps; })) return std::nullopt;

    const auto samples = samples_.read<Sample>(static_cast<std::size_t>(sms_ * kSamples));
    for (std::int64_t sm = 0; sm < sms_; ++sm) {
        for (std::int64_t at = kSamples / 4; at < 3 * kSamples / 4; ++at) {
            const Sample& sample = samples[static_cast<std::size_t>(sm * kSamples + at)];
            ++histogram[static_cast<std::int64_t>(cycles_between(sample.start, sample.end) -
                                                  cycles_between(sample.before, sample.start))];
        }
    }
    return loads_per_cycle;
}

}  // namespace gputomo::measure
