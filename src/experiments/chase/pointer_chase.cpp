#include "experiments/chase/pointer_chase.hpp"

#include "deduce/statistics.hpp"
#include "experiments/chase/pointer_chase_kernels.hpp"
#include "experiments/device_facts.hpp"
#include "experiments/estimates.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace gputomo::experiments {
namespace {

constexpr std::uint32_t kCalibrationLoads = 256;
constexpr std::uint32_t kCalibrationWarm = 16;
constexpr int kCalibrationRuns = 3;
/// Runs that differ by more than this a load are disturbed; then many short ones are timed.
constexpr double kQuiet = 0.5;
constexpr int kNoisyRuns = 512;
constexpr std::uint32_t kWriterThreads = 128;
/// Grids of this many blocks an SM, then of more, are launched until one block lands on the wanted SM.
constexpr std::array kBlocksPerSm = {2U, 8U, 32U};

struct Header {
    std::uint32_t claimed = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t padding = 0;
    std::uint64_t last = 0;
    std::uint64_t reserved = 0;
};
static_assert(sizeof(Header) == kHeaderBytes);
struct Record {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t next_low = 0;
};
static_assert(sizeof(Record) == kRecordBytes);

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
    return device.load(module.text());
}

}  // namespace

LinkWriter::LinkWriter(device::Device& device) : device_(device), kernel_(device, link_writer_kernel(target_of(device))) {}

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
    for (std::size_t i = 0; i < order.size(); ++i) links_[order[i] / sizeof(std::uint64_t)] = link_to(order[(i + 1) % order.size()]);
    device_.copy_to_device(for_host_, std::as_bytes(std::span(links_)));
}

PointerChase::PointerChase(device::Device& device, Shape shape)
    : device_(device),
      shape_(shape),
      module_(load_module(device, shape)),
      writer_(device),
      average_(module_, average_chase_kernel(target_of(device), shape.hint, shape.unroll).name(), {timed_loads(shape.hint, shape.unroll)}),
      average_long_(module_, average_chase_kernel(target_of(device), shape.hint, kLonger * shape.unroll).name(),
                    {timed_loads(shape.hint, kLonger * shape.unroll)}),
      fine_(module_, fine_chase_kernel(target_of(device), shape).name(), {timed_loads(shape.hint, 1)}),
      results_(device, Bytes{kHeaderBytes + kRecordBytes * shape.records}),
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

bool PointerChase::launch(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t turns) {
    device::Arguments arguments;
    arguments.add(link_to(run.start)).add(run.warm).add(turns).add(run.sm.value_or(kAnySm)).add(results_.address());
    if (shape_.hint == LoadHint::texture) arguments.add(shape_.texture);
    const Bytes shared = std::max(run.shared, Bytes{kRecordBytes * shape_.records});
    for (const std::uint32_t blocks : kBlocksPerSm) {
        device_.fill_u32(results_.address(), 0, kHeaderBytes / 4);
        kernel.launch({run.sm ? blocks * sms_ : 1}, {1}, arguments, shared);
        if (results_.read<Header>(1).front().claimed != 0) return true;
    }
    return false;
}

std::optional<double> PointerChase::cycles_of(CompiledKernel& kernel, const ChaseRun& run, std::uint32_t unroll) {
    if (run.loads % unroll != 0) throw std::logic_error("PointerChase: the loads must be a multiple of the unroll factor");
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

std::vector<TimedLoad> PointerChase::record(const ChaseRun& run) {
    const std::uint32_t recorded = run.loads + (shape_.start_to_start ? 1 : 0);
    if (!launch(fine_, run, recorded)) return {};
    const auto bytes = results_.read<std::byte>(static_cast<std::size_t>(kHeaderBytes + kRecordBytes * recorded));
    std::vector<Record> records(recorded);
    std::memcpy(records.data(), bytes.data() + kHeaderBytes, records.size() * sizeof(Record));
    std::vector<TimedLoad> loads;
    for (std::size_t i = 0; i < run.loads; ++i)
        loads.push_back({(shape_.start_to_start ? records[i + 1].begin : records[i].end) - records[i].begin, records[i].next_low});
    return loads;
}

std::vector<TimedLoad> PointerChase::fine(const ChaseRun& run) {
    std::vector<TimedLoad> all;
    while (all.size() < run.loads) {
        ChaseRun part = run;
        part.warm = run.warm + static_cast<std::uint32_t>(all.size());
        part.loads = std::min(loads_a_launch(), run.loads - static_cast<std::uint32_t>(all.size()));
        const auto records = record(part);
        if (records.empty()) return {};
        all.insert(all.end(), records.begin(), records.end());
    }
    return all;
}

std::vector<double> PointerChase::latencies(const ChaseRun& run) {
    std::vector<double> corrected;
    for (const TimedLoad& load : fine(run)) corrected.push_back(load.cycles - record_overhead_);
    return corrected;
}

std::vector<double> PointerChase::walk(std::span<const device::Address> order, std::uint64_t warm, std::uint64_t loads, std::uint32_t rewalk,
                                       std::optional<std::uint32_t> sm) {
    std::vector<double> latencies;
    latencies.reserve(loads);
    while (latencies.size() < loads) {
        const std::uint64_t at = warm + latencies.size();
        const std::uint64_t back = latencies.empty() ? warm : std::min<std::uint64_t>(at, rewalk);
        const ChaseRun part{.start = order[(at - back) % order.size()],
                            .warm = static_cast<std::uint32_t>(back),
                            .loads = static_cast<std::uint32_t>(std::min<std::uint64_t>(loads_a_launch(), loads - latencies.size())),
                            .sm = sm};
        const auto records = record(part);
        if (records.empty()) return {};
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (records[i].next_low != static_cast<std::uint32_t>(link_to(order[(at + i + 1) % order.size()])))
                throw DeviceError(fmt::format("{}: load {} returned an address that is not the next of its list", fine_.name(), at + i));
            latencies.push_back(records[i].cycles - record_overhead_);
        }
    }
    return latencies;
}

PointerChase::Totals PointerChase::calibration_totals(const ChaseRun& run, int runs) {
    ChaseRun doubled = run;
    doubled.loads = 2 * run.loads;
    std::array<std::vector<double>, 4> cycles;  // short and long loop, once and twice as many loads
    for (int i = 0; i < runs; ++i) {
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
        return (kLonger * deduce::mean_of_lowest_cluster(cycles[at + 1]) - deduce::mean_of_lowest_cluster(cycles[at])) / (kLonger - 1);
    };
    return {without_loop(0), without_loop(2), spread};
}

void PointerChase::calibrate(device::Address start, std::uint32_t elements) {
    const std::uint32_t granularity = std::lcm(average_granularity(), elements);
    ChaseRun run{.start = start, .warm = kCalibrationWarm * elements, .loads = std::max(1U, kCalibrationLoads / granularity) * granularity};
    Totals totals = calibration_totals(run, kCalibrationRuns);
    const bool noisy = totals.spread > kQuiet;
    if (noisy) {  // few loads a run, so that enough runs are free of outliers
        run.loads = average_granularity();
        totals = calibration_totals(run, kNoisyRuns);
    }
    const double latency = (totals.twice - totals.once) / run.loads;
    // The first lap's records hold what the loop's first turn costs in instruction fetches.
    const std::uint32_t laps = std::min(kCalibrationLoads, loads_a_launch() - elements) / elements;
    std::vector<double> lap_means;
    for (int i = 0; i < (noisy ? kNoisyRuns / 4 : 1); ++i) {
        const auto records = record({.start = start, .warm = run.warm, .loads = (laps + 1) * elements});
        for (std::uint32_t lap = 1; lap <= laps && !records.empty(); ++lap) {
            double sum = 0;
            for (std::uint32_t j = 0; j < elements; ++j) sum += records[lap * elements + j].cycles;
            lap_means.push_back(sum / elements);
        }
    }
    average_overhead_ = 2 * totals.once - totals.twice;
    record_overhead_ = reading_of(lap_means, noisy) - latency;
}

double PointerChase::reading_of(const std::vector<double>& lap_means, bool noisy) const {
    if (noisy) return deduce::mean_of_lowest_cluster(lap_means);
    if (!shape_.start_to_start) return summarise(lap_means).value;
    return std::accumulate(lap_means.begin(), lap_means.end(), 0.0) / static_cast<double>(lap_means.size());
}

}  // namespace gputomo::experiments
