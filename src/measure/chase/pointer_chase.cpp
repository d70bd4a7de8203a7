#include "measure/chase/pointer_chase.hpp"

#include "measure/chase/pointer_chase_kernels.hpp"
#include "measure/kernel/device_facts.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace gputomo::measure {
namespace {

/// Grid sizes in blocks for each SM. The launch is repeated with the next size until one block lands on the wanted SM.
constexpr std::array kBlocksPerSm = {2U, 8U, 32U};

struct Header {
    std::uint32_t claimed = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t padding = 0;
    std::uint64_t last = 0;
    std::uint32_t sum = 0;
    std::uint32_t starts = 0;
};
static_assert(sizeof(Header) == kHeaderBytes && offsetof(Header, sum) == kSumOffset);
using Reading = std::uint16_t;
static_assert(sizeof(Reading) == kRecordBytes);

/// Bytes of that many records, rounded up to whole words.
Bytes bytes_of(std::uint32_t records) { return Bytes{(kRecordBytes * records + 3) / 4 * 4}; }

std::shared_ptr<device::Module> load_module(device::Device& device, const PointerChase::Shape& shape) {
    ptx::ModuleBuilder module(target_of(device));
    module.add(average_chase_kernel(target_of(device), shape.hint, shape.unroll));
    module.add(average_chase_kernel(target_of(device), shape.hint, PointerChase::kLonger * shape.unroll));
    module.add(fine_chase_kernel(target_of(device), shape));
    if (shape.hint == LoadHint::constant) module.add(constant_base_kernel(target_of(device)));
    module.add(fine_chase_kernel(target_of(device), shape, kLoadsOfPair));
    return device.load(module.text());
}

}  // namespace

PointerChase::PointerChase(device::Device& device, Shape shape)
    : device_(device),
      shape_(shape),
      module_(load_module(device, shape)),
      writer_(device),
      average_(module_, average_chase_kernel(target_of(device), shape.hint, shape.unroll).name(),
               {timed_loads(shape.hint, shape.unroll)}),
      average_long_(module_, average_chase_kernel(target_of(device), shape.hint, kLonger * shape.unroll).name(),
                    {timed_loads(shape.hint, kLonger * shape.unroll)}),
      fine_(module_, fine_chase_kernel(target_of(device), shape).name(), {timed_loads(shape.hint, 1)}),
      results_(device, Bytes{kHeaderBytes} + bytes_of(shape.records)),
      sms_(sms_of(device)) {
    average_.prefer_l1();
    average_long_.prefer_l1();
    fine_.prefer_l1();
    if (shape.hint == LoadHint::constant) constants_.emplace(device, module_);
}

std::uint64_t PointerChase::link_to(device::Address address) const {
    if (constants_) return constants_->link_to(address);
    if (shape_.hint == LoadHint::texture) return (address - shape_.texture_base) / 4;
    return address;
}

void PointerChase::write_cycle(std::span<const device::Address> order) {
    if (constants_) return constants_->write_cycle(order);
    if (shape_.hint == LoadHint::texture) return writer_.write_texels(order, shape_.texture_base);
    writer_.write_cycle(order);
}

bool PointerChase::launch(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t iterations) {
    device::Arguments arguments;
    arguments.add(link_to(run.start))
        .add(run.warm)
        .add(iterations)
        .add(run.sm.value_or(kAnySm))
        .add(results_.address());
    if (shape_.hint == LoadHint::texture) arguments.add(shape_.texture);
    const Bytes shared = std::max(run.shared, bytes_of(shape_.records));
    for (const std::uint32_t blocks : kBlocksPerSm) {
        device_.fill_u32(results_.address(), 0, kHeaderBytes / 4);
        kernel.launch({run.sm ? blocks * sms_ : 1}, {1}, arguments, shared);
        if (results_.read<Header>(1).front().claimed != 0) return true;
    }
    return false;
}

std::optional<double> PointerChase::cycles_of(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t unroll) {
    if (run.loads % unroll != 0)
        throw std::logic_error("PointerChase: expected a number of loads that is a multiple of the unroll factor");
    if (!launch(kernel, run, run.loads / unroll)) return std::nullopt;
    const auto header = results_.read<Header>(1).front();
    return static_cast<double>(header.end - header.begin);
}

std::optional<double> PointerChase::total_cycles(const ChaseRun& run) {
    // For both unroll factors: total = loads x latency + loads / unroll x (cost of a loop iteration) + constant.
    const auto in_short = cycles_of(average_, run, static_cast<std::uint32_t>(shape_.unroll));
    ChaseRun again = run;
    again.start = run.start_again.value_or(run.start);
    const auto in_long = cycles_of(average_long_, again, average_granularity());
    if (!in_short || !in_long) return std::nullopt;
    return (kLonger * *in_long - *in_short) / (kLonger - 1);
}

std::optional<double> PointerChase::average(const ChaseRun& run) {
    const auto total = total_cycles(run);
    if (!total) return std::nullopt;
    return (*total - average_overhead_) / run.loads;
}

PointerChase::Recorded PointerChase::record(const ChaseRun& run, CompiledKernel& kernel) {
    // If readings go from one start to the next, the first reading belongs to no load.
    const std::uint32_t before = shape_.start_to_start ? 1 : 0;
    if (!launch(kernel, run, run.loads + before)) return {};
    const auto bytes =
        results_.read<std::byte>(static_cast<std::size_t>(kHeaderBytes + kRecordBytes * (run.loads + before)));
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    Recorded recorded{std::vector<Reading>(run.loads), header.sum};
    std::memcpy(recorded.cycles.data(), bytes.data() + kHeaderBytes + before * sizeof(Reading),
                run.loads * sizeof(Reading));
    return recorded;
}

std::vector<std::uint16_t> PointerChase::fine(const ChaseRun& run) {
    std::vector<Reading> all;
    while (all.size() < run.loads) {
        ChaseRun part = run;
        part.warm = run.warm + static_cast<std::uint32_t>(all.size());
        part.loads = std::min(loads_a_launch(), run.loads - static_cast<std::uint32_t>(all.size()));
        const auto recorded = record(part, fine_);
        if (recorded.cycles.empty()) return {};
        all.insert(all.end(), recorded.cycles.begin(), recorded.cycles.end());
    }
    return all;
}

std::vector<double> PointerChase::latencies(const ChaseRun& run) {
    std::vector<double> corrected;
    for (const Reading cycles : fine(run)) corrected.push_back(cycles - record_overhead_);
    return corrected;
}

PointerChase::Recorded PointerChase::record_cycle(std::span<const device::Address> order, std::uint64_t at,
                                                  const ChaseRun& run) {
    auto recorded = record(run, fine_);
    if (recorded.cycles.empty()) return recorded;
    const std::uint32_t loads = run.loads + (shape_.start_to_start ? 1 : 0);
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < loads; ++i)
        sum += static_cast<std::uint32_t>(link_to(order[(at + i + 1) % order.size()]));
    if (recorded.sum != sum)
        throw DeviceError(fmt::format(
            "{}: loads {} to {} left their list: the sum of the returned addresses is not that of its next elements",
            fine_.name(), at, at + loads - 1));
    return recorded;
}

std::vector<double> PointerChase::latencies_of_cycle(std::span<const device::Address> order, std::uint64_t warm,
                                                     std::uint64_t loads, std::uint32_t replayed,
                                                     std::optional<std::uint32_t> sm) {
    std::vector<double> latencies;
    latencies.reserve(loads);
    while (latencies.size() < loads) {
        const std::uint64_t at = warm + latencies.size();
        const std::uint64_t back = latencies.empty() ? warm : std::min<std::uint64_t>(at, replayed);
        const ChaseRun part{
            .start = order[(at - back) % order.size()],
            .warm = static_cast<std::uint32_t>(back),
            .loads = static_cast<std::uint32_t>(std::min<std::uint64_t>(loads_a_launch(), loads - latencies.size())),
            .sm = sm};
        const auto recorded = record_cycle(order, at, part);
        if (recorded.cycles.empty()) return {};
        for (const Reading cycles : recorded.cycles) latencies.push_back(cycles - record_overhead_);
    }
    return latencies;
}

}  // namespace gputomo::measure
