#include "measure/chase/pointer_chase.hpp"

#include "measure/chase/pointer_chase_kernels.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/error.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <numeric>
#include <stdexcept>

namespace gputomo::measure {
namespace {

constexpr std::uint32_t kCalibrationLoads = 256;
constexpr std::uint32_t kCalibrationWarm = 16;
constexpr int kCalibrationRuns = 3;
/// Runs that differ by more than this a load are disturbed; then single loads are compared with pairs of them, so that
/// accidents can be left out.
constexpr double kQuiet = 0.5;
/// Loads of a record of the kernel that disturbed recording is calibrated with, and how sure the overhead has to be, in
/// cycles: ranges over SMs are rounded to whole cycles, and what is wrong with the overhead is wrong with all of them.
constexpr int kTwoLoads = 2;
constexpr double kSure = 0.06;
constexpr int kMostDisturbedRuns = 512, kRunsAtOnce = 16;
constexpr std::uint32_t kDisturbedWarm = 4;
constexpr std::uint32_t kWriterThreads = 128;
/// Grids of this many blocks an SM, then of more, are launched until one block lands on the wanted SM.
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

/// Whole words.
Bytes bytes_of(std::uint32_t records) { return Bytes{(kRecordBytes * records + 3) / 4 * 4}; }

/// `loads` loads of an address each between two clock reads.
TimedCode timed_loads(LoadHint hint, int loads) {
    if (hint == LoadHint::constant) return {.operation = {"LDC"}, .counts = {loads}};
    // The coordinate is moved to the register that the fetch wants.
    if (hint == LoadHint::texture) return {.operation = {"TEX|TLD|TLD4"}, .counts = {loads}, .companions = 2};
    return {.operation = {"LDG", sizeof(device::Address)}, .counts = {loads}};
}

std::shared_ptr<device::Module> load_module(device::Device& device, const PointerChase::Shape& shape) {
    ptx::ModuleBuilder module(target_of(device));
    module.add(average_chase_kernel(target_of(device), shape.hint, shape.unroll));
    module.add(average_chase_kernel(target_of(device), shape.hint, PointerChase::kLonger * shape.unroll));
    module.add(fine_chase_kernel(target_of(device), shape));
    if (shape.hint == LoadHint::constant) module.add(constant_base_kernel(target_of(device)));
    module.add(fine_chase_kernel(target_of(device), shape, kTwoLoads));
    return device.load(module.text());
}

/// Mean of the elements' least readings, where the least one is the most frequent: nothing can be answered sooner,
/// however jitter falls.
std::optional<double> floor_of(const std::vector<std::vector<double>>& readings) {
    double sum = 0, count = 0;
    for (const auto& of_element : readings) {
        if (of_element.empty()) continue;
        std::map<double, int> times;
        for (const double reading : of_element) ++times[reading];
        if (std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; }) != times.begin())
            return std::nullopt;
        sum += times.begin()->first;
        ++count;
    }
    return count == 0 ? std::nullopt : std::optional(sum / count);
}

/// Cycles by which the readings of elements go up and down, at least.
double step_of(const std::vector<std::vector<double>>& readings) {
    std::int64_t step = 0;
    for (const auto& of_element : readings)
        for (const double reading : of_element) step = std::gcd(step, std::llround(reading - of_element.front()));
    return static_cast<double>(std::max<std::int64_t>(1, step));
}

}  // namespace

LinkWriter::LinkWriter(device::Device& device)
    : device_(device), kernel_(device, link_writer_kernel(target_of(device))) {}

void LinkWriter::write(std::span<const device::Address> order, device::Address texels) {
    if (order.empty()) throw std::logic_error("write_cycle: a cycle has at least one element");
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
        throw std::logic_error("PointerChase: the loads must be a multiple of the unroll factor");
    if (!launch(kernel, run, run.loads / unroll)) return std::nullopt;
    const auto header = results_.read<Header>(1).front();
    return static_cast<double>(header.end - header.begin);
}

std::optional<double> PointerChase::total_cycles(const ChaseRun& run) {
    // total = loads x latency + loads / unroll x (what a turn adds) + constant, for both unroll factors.
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
    // From one start to the next: the first reading is of no load.
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
        throw DeviceError(
            fmt::format("{}: loads {} to {} of a list returned addresses whose sum is not that of its next elements",
                        fine_.name(), at, at + loads - 1));
    return recorded;
}

std::vector<double> PointerChase::latencies_of_cycle(std::span<const device::Address> order, std::uint64_t warm,
                                                     std::uint64_t loads, std::uint32_t rewalk,
                                                     std::optional<std::uint32_t> sm) {
    std::vector<double> latencies;
    latencies.reserve(loads);
    while (latencies.size() < loads) {
        const std::uint64_t at = warm + latencies.size();
        const std::uint64_t back = latencies.empty() ? warm : std::min<std::uint64_t>(at, rewalk);
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

PointerChase::Totals PointerChase::calibration_totals(const ChaseRun& run) {
    ChaseRun doubled = run;
    doubled.loads = 2 * run.loads;
    std::array<std::vector<double>, 4> cycles;  // short and long loop, once and twice as many loads
    for (int i = 0; i < kCalibrationRuns; ++i) {
        cycles[0].push_back(cycles_of(average_, run, static_cast<std::uint32_t>(shape_.unroll)).value_or(0));
        cycles[1].push_back(cycles_of(average_long_, run, average_granularity()).value_or(0));
        cycles[2].push_back(cycles_of(average_, doubled, static_cast<std::uint32_t>(shape_.unroll)).value_or(0));
        cycles[3].push_back(cycles_of(average_long_, doubled, average_granularity()).value_or(0));
    }
    double spread = 0;
    for (const auto& c : cycles) {
        const auto [low, high] = std::ranges::minmax(c);
        spread = std::max(spread, (high - low) / run.loads);
    }
    const auto without_loop = [&](std::size_t at) {
        return (kLonger * std::ranges::min(cycles[at + 1]) - std::ranges::min(cycles[at])) / (kLonger - 1);
    };
    return {without_loop(0), without_loop(2), spread};
}

void PointerChase::calibrate(device::Address start, std::uint32_t elements) {
    const std::uint32_t granularity = std::max(1U, std::lcm(average_granularity(), elements));
    const ChaseRun run{.start = start,
                       .warm = kCalibrationWarm * elements,
                       .loads = std::max(1U, kCalibrationLoads / granularity) * granularity};
    const Totals totals = calibration_totals(run);
    average_overhead_ = 2 * totals.once - totals.twice;
    disturbed_ = totals.spread > kQuiet;
    if (disturbed_) {
        record_overhead_ = disturbed_record_overhead({.start = start, .warm = kDisturbedWarm * elements}, elements);
        return;
    }
    // The first lap's records hold what the loop's first turn costs in instruction fetches.
    const std::uint32_t passes = std::min(kCalibrationLoads, loads_a_launch() - elements) / elements;
    std::vector<double> lap_means;
    const auto cycles = record({.start = start, .warm = run.warm, .loads = (passes + 1) * elements}, fine_).cycles;
    for (std::uint32_t pass = 1; pass <= passes && !cycles.empty(); ++pass) {
        double sum = 0;
        for (std::uint32_t j = 0; j < elements; ++j) sum += cycles[pass * elements + j];
        lap_means.push_back(sum / elements);
    }
    const double reading = shape_.start_to_start ? std::accumulate(lap_means.begin(), lap_means.end(), 0.0) /
                                                       static_cast<double>(lap_means.size())
                                                 : summarise(lap_means).value;
    record_overhead_ = reading - (totals.twice - totals.once) / run.loads;
}

double PointerChase::disturbed_record_overhead(ChaseRun run, std::uint32_t elements) {
    CompiledKernel twice(module_, fine_chase_kernel(target_of(device_), shape_, kTwoLoads).name(),
                         {timed_loads(shape_.hint, kTwoLoads)});
    twice.prefer_l1();
    // Elements may differ: each has readings of its own, and so has each pair of neighbours.
    std::vector<std::vector<double>> singles(elements), pairs(elements);
    run.loads = loads_a_launch();
    const auto add_records = [&](CompiledKernel& kernel, std::uint32_t loads,
                                 std::vector<std::vector<double>>& readings) {
        const auto cycles = record(run, kernel).cycles;
        for (std::size_t i = elements; i < cycles.size(); ++i) readings[loads * i % elements].push_back(cycles[i]);
    };
    const auto mean_of = [](const std::vector<std::vector<double>>& readings) {
        double sum = 0, squares = 0, count = 0;
        const double step = step_of(readings);
        for (const auto& of_element : readings) {
            if (of_element.empty()) continue;
            const auto at = location(of_element, step);
            sum += at.mean, squares += at.uncertainty * at.uncertainty;
            ++count;
        }
        return Location{.mean = sum / count, .uncertainty = std::sqrt(squares) / count};
    };
    Location single, pair;
    for (int runs = 1; runs <= kMostDisturbedRuns; ++runs) {
        add_records(fine_, 1, singles);
        add_records(twice, kTwoLoads, pairs);
        if (runs % kRunsAtOnce != 0) continue;
        single = mean_of(singles), pair = mean_of(pairs);
        if (std::hypot(2 * single.uncertainty, pair.uncertainty) < kSure) break;
    }
    // Jitter only adds to a load that is answered as soon as anything could be; what it adds to two of them is not
    // twice that. Steps of the clock, too, make the least reading frequent.
    const auto single_floor = floor_of(singles), pair_floor = floor_of(pairs);
    if (!shape_.start_to_start && single_floor && pair_floor) return 2 * *single_floor - *pair_floor;
    return 2 * single.mean - pair.mean;
}

}  // namespace gputomo::measure
