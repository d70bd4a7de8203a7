// Bulk copies between global and shared memory, and boxes of tensors: latency, bytes and rows a cycle.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/asynchronous/asynchronous_module.hpp"
#include "measure/asynchronous/tensor_maps.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace bulk_copies {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.95;
/// Rounds of the kernels; the first finds neither code nor data in the caches.
constexpr std::size_t kRounds = 6;
/// Launches at different places of the memory, whose copies come from different parts of the L2.
constexpr std::uint32_t kPlaces = 8;
constexpr std::uint32_t kPlaceBytes = 256 * 1024 + 128;
constexpr Bytes kShared{200 * 1024 - 512};
/// Bytes of which the copies for the rate are; smaller ones are still filling the way from the L2.
constexpr std::uint32_t kSmall = 16, kMany = 16 * 1024, kMost = 128 * 1024;
/// Bytes of the memory: the tensor of the boxes, and more than the places need.
constexpr Bytes kDataBytes{32 * 1024 * 1024};
/// Stall counts of the kernels from the first clock read to the issue of the copy, and behind the check.
constexpr double kCopyCode = 46, kBoxCode = 40, kStoreCode = 3;
constexpr std::array kSizes = {16U, 128U, 1024U, 4096U, kMany, 64U * 1024, kMost};
constexpr std::array kInFlight = {1U, 2U, 4U, 8U};

double least_of(const std::vector<std::uint32_t>& words, std::size_t step, std::size_t first) {
    double least = words[step + first];
    for (std::size_t round = 2; round < kRounds; ++round)
        least = std::min(least, static_cast<double>(words[step * round + first]));
    return least;
}

class Copies {
public:
    explicit Copies(Context& context) : context_(context), kernels_(context.device), data_(context.device, kDataBytes) {
        context.device.fill_u32(data_.address(), 0, static_cast<std::size_t>(kDataBytes.count() / 4));
    }
    /// Cycles until the bytes of a copy are there, at several places.
    [[nodiscard]] Measured copy(std::uint32_t bytes) {
        return at_places(fmt::format("copies of {} bytes", bytes), [&](device::Address address) {
            return least_of(kernels_.run("one_copy", one(), 2 * kRounds, {bytes, 0, 0}, address), 2, 1);
        });
    }
    [[nodiscard]] Measured store(std::uint32_t bytes) {
        return at_places(fmt::format("copies of {} bytes to global memory", bytes), [&](device::Address address) {
            return least_of(kernels_.run("one_store", one(), kRounds, {bytes}, address), 1, 0);
        });
    }
    [[nodiscard]] Measured box(const TensorBox& box) {
        return at_places(fmt::format("boxes of {} x {} halves", box.columns, box.rows), [&](device::Address address) {
            const auto map = tensor_map(box, address / kMapAlignment * kMapAlignment);
            device::Buffer there(context_.device, Bytes{static_cast<std::int64_t>(sizeof map)});
            there.write(std::span<const std::uint32_t>(map));
            return least_of(kernels_.run("one_box", one(), 2 * kRounds, {box_bytes(box), box.rows}, there.address()), 2,
                            1);
        });
    }
    /// Bytes a cycle of an SM while all SMs copy: the mean of the second of two times.
    [[nodiscard]] double in_flight(std::uint32_t blocks, std::uint32_t bytes, std::uint32_t copies) {
        const std::uint32_t total = 4 * copies;
        const auto words = kernels_.run(
            "copies_in_flight", {.blocks = blocks, .threads = 1, .shared = kShared}, std::size_t{2} * blocks,
            {bytes, copies, total, static_cast<std::uint32_t>(kDataBytes.count() / 2)}, data_.address());
        double cycles = 0;
        for (std::size_t i = 1; i < words.size(); i += 2) cycles += words[i];
        return static_cast<double>(bytes) * total * blocks / cycles;
    }

private:
    static constexpr device::Address kMapAlignment = 16;
    [[nodiscard]] static AsynchronousGrid one() { return {.shared = kShared}; }
    template <class Cycles>
    [[nodiscard]] Measured at_places(std::string_view what, Cycles cycles) {
        std::vector<double> samples;
        for (std::uint32_t place = 0; place < kPlaces; ++place) {
            context_.progress(0.5, what);
            samples.push_back(cycles(data_.address() + std::uint64_t{place} * kPlaceBytes));
        }
        return summarise(samples);
    }
    Context& context_;
    AsynchronousModule kernels_;
    device::Buffer data_;
};

void add(Outcome& outcome, const std::string& path, Measured measured, double without, const char* method) {
    const auto less = [&](double cycles) { return std::max(0.0, cycles - without); };
    outcome.estimates.push_back(
        decided_integer(path, {less(measured.value), less(measured.low), less(measured.high)}, {method, kConfidence}));
}

void add_rate(Outcome& outcome, const std::string& path, double amount, double cycles, const char* method) {
    if (cycles <= 0) return;
    outcome.estimates.push_back(
        decided_real(path, {amount / cycles, amount / cycles, amount / cycles}, {method, kConfidence}));
}

void find_copies(Copies& copies, double checked, Outcome& outcome) {
    results::Trace trace{.name = "bulk_copies/sizes", .experiment = "bulk_copies"};
    trace.columns = {{"bytes", "B", {}}, {"there", "cycles", {}}, {"stored", "cycles", {}}};
    trace.plot = {.title = "Cycles until the bytes of a copy are in shared memory, and until those of a store are read",
                  .x = "bytes",
                  .y = {"there", "stored"}};
    Measured small, many, most, store_many, store_most;
    for (const auto bytes : kSizes) {
        const Measured there = copies.copy(bytes), stored = copies.store(bytes);
        trace.add_row(bytes, there.value, stored.value);
        if (bytes == kSmall) small = there;
        if (bytes == kMany) many = there, store_many = stored;
        if (bytes == kMost) most = there, store_most = stored;
    }
    outcome.traces.push_back(std::move(trace));
    add(outcome, "operations[cp.async.bulk].latency", small, kCopyCode + checked,
        "bulk_copies: 16 bytes from the L2 until a check sees them, less the check");
    add_rate(outcome, "accesses.l2_bulk.sm_bytes_per_cycle", kMost - kMany, most.value - many.value,
             "bulk_copies: a copy of 128 KiB against one of 16 KiB");
    const double each = (store_most.value - store_many.value) / (kMost - kMany);
    add(outcome, "operations[cp.async.bulk:store].latency", store_many, kStoreCode + each * kMany,
        "bulk_copies: 16 KiB to global memory until the source has been read, less the time of the bytes");
    add_rate(outcome, "accesses.l2_bulk_store.sm_bytes_per_cycle", 1, each,
             "bulk_copies: a copy of 128 KiB to global memory against one of 16 KiB");
}

void find_boxes(Copies& copies, double checked, Outcome& outcome) {
    results::Trace trace{.name = "bulk_copies/boxes", .experiment = "bulk_copies"};
    trace.columns = {{"columns", "count", {}}, {"rows", "count", {}}, {"swizzle", "B", {}}, {"there", "cycles", {}}};
    trace.plot = {.title = "Cycles until a box of halves is in shared memory, by columns",
                  .x = "rows",
                  .y = {"there"},
                  .split = "columns"};
    Measured row, some, all;
    for (const TensorBox& box : tensor_boxes()) {
        const Measured there = copies.box(box);
        trace.add_row(box.columns, box.rows, box.swizzle, there.value);
        if (box.columns != 8) continue;
        if (box.rows == 1) row = there;
        if (box.rows == 64) some = there;
        if (box.rows == 256) all = there;
    }
    outcome.traces.push_back(std::move(trace));
    add(outcome, "operations[cp.async.bulk.tensor].latency", row, kBoxCode + checked,
        "bulk_copies: a box of one row of 16 bytes until a check sees it, less the check");
    add_rate(outcome, "operations[cp.async.bulk.tensor:row].throughput", 256 - 64, all.value - some.value,
             "bulk_copies: a box of 256 rows of 16 bytes against one of 64");
}

void find_in_flight(Context& context, Copies& copies, Outcome& outcome) {
    results::Trace trace{.name = "bulk_copies/in flight", .experiment = "bulk_copies"};
    trace.columns = {{"SMs", "count", {}}, {"bytes", "B", {}}, {"in flight", "count", {}}, {"rate", "B/cycle/SM", {}}};
    trace.plot = {.title = "Bytes a cycle of an SM against copies in flight, one SM and all of them",
                  .x = "in flight",
                  .y = {"rate"},
                  .split = "SMs"};
    for (const std::uint32_t blocks : {1U, sms_of(context.device)})
        for (const std::uint32_t bytes : {4096U, 16384U})
            for (const auto in_flight : kInFlight)
                trace.add_row(blocks, bytes, in_flight, copies.in_flight(blocks, bytes, in_flight));
    outcome.traces.push_back(std::move(trace));
}

Outcome measure(Context& context) {
    if (!executes_asynchronous_kernels(context.device)) {
        context.progress(1, "does not apply: the kernels are for compute capability 9.0");
        return {};
    }
    Outcome outcome;
    Copies copies(context);
    const double checked =
        *context.findings.number("shared.latency") + *context.findings.number("operations[mbarrier.try_wait].latency");
    find_copies(copies, checked, outcome);
    find_boxes(copies, checked, outcome);
    find_in_flight(context, copies, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace bulk_copies

Experiment bulk_copies_experiment() {
    return {
        .id = "bulk_copies",
        .title = "bulk copies and boxes of tensors (TMA): latency, bytes and rows a cycle",
        .source = "PTX ISA 9.7.9.25; Luo et al. 2024 (arXiv 2402.13499)",
        .method = "asynchronous-operations",
        .explanation =
            "One thread copies 16 bytes to 128 KiB from the L2 to shared memory and back, and boxes of tensors with "
            "rows of 16 bytes and more, and waits for each. Then one SM and all of them keep several copies in "
            "flight.",
        .needs = {"shared_latency", "shared_barriers"},
        .after = {},
        .provides = {"operations[*].latency", "operations[*].throughput", "accesses.*.sm_bytes_per_cycle"},
        .run = bulk_copies::run};
}

}  // namespace gputomo::experiments
