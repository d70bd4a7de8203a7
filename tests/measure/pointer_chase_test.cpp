#include "scripted_device.hpp"

#include "measure/chase/pointer_chase.hpp"
#include "measure/chase/pointer_chase_kernels.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gputomo::measure {
namespace {

using testing::ArgumentReader;
using testing::ScriptedDevice;

constexpr std::uint32_t kAverageOverhead = 46;
constexpr std::uint32_t kRecordOverhead = 19;
constexpr std::uint32_t kStartToStart = 83;      ///< from the start of a load to the next one's, without its latency
constexpr std::uint32_t kIterationOverhead = 7;  ///< of the averaging loops

/// Loads take 30 cycles, or 300 if 24 divides the address, and an iteration of an averaging loop takes some more. The
/// kernels do what their PTX does.
class ChaseDevice : public ScriptedDevice {
public:
    explicit ChaseDevice(std::uint32_t unroll = 8, bool start_to_start = false) : start_to_start_(start_to_start) {
        script("write_links", [](ScriptedDevice& d, const device::Launch& launch) {
            ArgumentReader arguments(launch.arguments);
            const auto order = arguments.next<device::Address>();
            const auto count = arguments.next<std::uint32_t>();
            for (std::uint32_t i = 0; i < count; ++i)
                d.store(d.load<device::Address>(order + 8 * i), d.load<device::Address>(order + 8 * (i + 1)));
        });
        for (const std::uint32_t loads : {unroll, 3 * unroll})
            script("average_chase_ca_x" + std::to_string(loads),
                   [this, loads](ScriptedDevice& d, const device::Launch& launch) { chase(d, launch, loads, false); });
        script("fine_chase", [this](ScriptedDevice& d, const device::Launch& launch) { chase(d, launch, 1, true); });
    }
    std::uint32_t sm_of_lone_block = 0;
    std::uint32_t wrong_by = 0;  ///< added to the checksum of the returned addresses

private:
    bool start_to_start_;
    void chase(ScriptedDevice& d, const device::Launch& launch, std::uint32_t loads_per_iteration, bool fine) const {
        ArgumentReader arguments(launch.arguments);
        auto p = arguments.next<device::Address>();
        const auto warm = arguments.next<std::uint32_t>();
        const auto iterations = arguments.next<std::uint32_t>();
        const auto wanted = arguments.next<std::uint32_t>();
        const auto results = arguments.next<device::Address>();
        if (wanted != kAnySm && wanted >= launch.grid.x / 8) return;  // too small a grid reaches only the first SMs
        d.store(results, std::uint32_t{1});
        for (std::uint32_t i = 0; i < warm; ++i) p = d.load<device::Address>(p);
        std::uint32_t start = 0xffff'fff0, before = 0, sum = 0;  // the clock wraps within a reading
        std::uint32_t cycles = kAverageOverhead + iterations * kIterationOverhead;
        for (std::uint32_t i = 0; i < iterations * loads_per_iteration; ++i) {
            const std::uint32_t latency = p % 24 == 0 ? 300 : 30;
            p = d.load<device::Address>(p);
            cycles += latency;
            if (!fine) continue;
            const std::uint32_t reading = start_to_start_ ? start - before : latency + kRecordOverhead;
            d.store(results + kHeaderBytes + kRecordBytes * i,
                    static_cast<std::uint16_t>(std::min(reading, kLongestReading)));
            sum += static_cast<std::uint32_t>(p);
            before = start;
            start += latency + kStartToStart;
        }
        d.store(results + kSumOffset, sum + wrong_by);
        d.store(results + 4, std::uint32_t{0xffff'ff00});
        d.store(results + 8, std::uint32_t{0xffff'ff00 + cycles});
    }
};

/// 100 elements, 8 bytes apart; every third one is slow.
std::vector<device::Address> elements(device::Address base) {
    std::vector<device::Address> order;
    for (int i = 0; i < 100; ++i) order.push_back(base + static_cast<device::Address>(8 * i));
    return order;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

TEST(PointerChase, CalibrationMeasuresTheOverheadOfClockReadsAndRecords) {
    ChaseDevice device;
    PointerChase chase(device, {});
    const device::Buffer memory(device, Bytes{8});
    LinkWriter(device).write_cycle(std::vector{memory.address()});
    chase.calibrate(memory.address());
    EXPECT_EQ(chase.average_overhead(), kAverageOverhead);
    EXPECT_EQ(chase.record_overhead(), kRecordOverhead);
}

TEST(PointerChase, AveragedAndFineGrainedLatencyAgreeForEveryUnrollFactor) {
    for (const int unroll : {1, 4, 16}) {
        ChaseDevice device(static_cast<std::uint32_t>(unroll));
        PointerChase chase(device, {.unroll = unroll});
        const device::Buffer memory(device, Bytes{4096});
        LinkWriter writer(device);
        writer.write_cycle(std::vector{memory.address()});
        chase.calibrate(memory.address());
        writer.write_cycle(elements(memory.address()));
        const ChaseRun run{.start = memory.address(), .warm = 100, .loads = 4800};
        const double average = chase.average(run).value();
        EXPECT_NEAR(average, mean(chase.latencies(run)), 1e-9) << "unroll factor " << unroll;
        EXPECT_GT(average, 30);
    }
}

TEST(PointerChase, StartToStartReadingsExcludeTheRecordingOverhead) {
    ChaseDevice device(8, true);
    PointerChase chase(device, {.start_to_start = true});
    const device::Buffer memory(device, Bytes{4096});
    LinkWriter writer(device);
    writer.write_cycle(std::vector{memory.address()});
    chase.calibrate(memory.address());
    writer.write_cycle(elements(memory.address()));
    const ChaseRun run{.start = memory.address(), .warm = 100, .loads = 4800};
    EXPECT_NEAR(mean(chase.latencies(run)), chase.average(run).value(), 1e-9);
}

TEST(PointerChase, LongTracesContinueOverSeveralLaunches) {
    ChaseDevice device;
    PointerChase chase(device, {.records = 64});
    const device::Buffer memory(device, Bytes{4096});
    const auto order = elements(memory.address());
    LinkWriter(device).write_cycle(order);
    device.launches = 0;
    const auto loads = chase.fine({.start = order[0], .warm = 7, .loads = 250});
    EXPECT_EQ(device.launches, 4);
    ASSERT_EQ(loads.size(), 250U);
    for (std::size_t i = 0; i < loads.size(); ++i)
        EXPECT_EQ(loads[i], kRecordOverhead + (order[(7 + i) % 100] % 24 == 0 ? 300U : 30U));
}

TEST(PointerChase, ThrowsWhenTheLoadsLeaveTheirCycle) {
    ChaseDevice device;
    PointerChase chase(device, {.records = 64});
    const device::Buffer memory(device, Bytes{4096});
    const auto order = elements(memory.address());
    LinkWriter(device).write_cycle(order);
    EXPECT_EQ(chase.latencies_of_cycle(order, 7, 250, 0).size(), 250U);
    device.wrong_by = 8;
    EXPECT_THROW(static_cast<void>(chase.latencies_of_cycle(order, 7, 250, 0)), DeviceError);
}

TEST(PointerChase, TriesLargerGridsUntilABlockReachesTheWantedSm) {
    ChaseDevice device;
    PointerChase chase(device, {});
    const device::Buffer memory(device, Bytes{8});
    LinkWriter(device).write_cycle(std::vector{memory.address()});
    device.launches = 0;
    EXPECT_TRUE(chase.average({.start = memory.address(), .loads = 24, .sm = 3}).has_value());
    EXPECT_EQ(device.launches, 4) << "two grids for each of the two loops";
    EXPECT_FALSE(chase.average({.start = memory.address(), .loads = 24, .sm = 99}).has_value());
}

TEST(PointerChase, RefusesLoadsThatDoNotFillTheUnrolledLoop) {
    ChaseDevice device;
    PointerChase chase(device, {.unroll = 8});
    EXPECT_THROW((void)chase.average({.start = 0, .loads = 8}), std::logic_error);
}

}  // namespace
}  // namespace gputomo::measure
