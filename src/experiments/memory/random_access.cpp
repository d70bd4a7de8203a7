// Loads of which each thread follows its own chain through memory: latency, throughput, and how both depend on the
// array's size.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/residency/occupancy_control.hpp"
#include "results/estimates.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::Type;

constexpr double kConfidence = 0.85;
constexpr std::int64_t kPointerBytes = 8;
constexpr int kLoads = 8;  // of a turn
constexpr std::int64_t kTurns = 8;
/// Sizes over which throughput is looked at (Volkov 2016, Fig. 6.6).
constexpr std::int64_t kSmallest = std::int64_t{1} << 20, kLargest = std::int64_t{1} << 28,
                       kQuickLargest = std::int64_t{1} << 25;
/// The one at which warps vary: the smallest that is several times the largest cache and that one twice as large is
/// slower by less than this, which the thesis judges by eye. Larger ones may have TLBs thrash.
constexpr std::int64_t kLeast = std::int64_t{1} << 22, kTimesCache = 4;
constexpr double kFlat = 1.0 / 16;
/// Warps of an SM; throughput is at its peak with few.
constexpr std::array kWarps{1, 2, 3, 4, 6, 8, 12, 16};
constexpr int kManyWarps = 8;
/// Uncertainty of a peak; and how much larger it may be than what was seen, so that anything is said of it.
constexpr double kSaturated = 0.03, kNearlySaturated = 0.15;

struct Record {
    std::uint32_t start = 0, end = 0;
    std::uint32_t sm = 0;
};

/// Lines between two loads of the warp whose loads are coalesced: no neighbours, which a cache may fetch together.
constexpr std::int64_t kLinesApart = 37;
constexpr std::int64_t kLineBytes = 128, kThreadsOfPointer = kWarpSize * kPointerBytes / kLineBytes;
constexpr std::uint32_t kLinePointers = kLineBytes / kPointerBytes;
/// Walks of one warp alone: where its transactions meet at a bank is chance.
constexpr std::uint32_t kLoneWalks = 4;

/// 2^shift threads after each other begin at one pointer, the next ones `stride` pointers behind it, the first ones at
/// `begin`. Arguments: array, begin, stride, shift, turns, records.
ptx::KernelBuilder random_kernel(ptx::Target target) {
    ptx::KernelBuilder k("random_access", target);
    const Reg array = k.param(Type::u64, "array"), begin = k.param(Type::u32, "begin"),
              stride = k.param(Type::u32, "stride"), shift = k.param(Type::u32, "shift"),
              turns = k.param(Type::u32, "turns"), records = k.param(Type::u64, "records");
    const Reg index = k.thread_index(), pointer = k.reg(Type::u32), first = k.reg(Type::u32), warp = k.reg(Type::u32),
              first_lane = k.reg(Type::pred), at = k.reg(Type::b64);
    k("shr.u32", pointer, index, shift);
    k("mad.lo.u32", first, pointer, stride, begin);
    k("mov.b64", at, k.element(array, first, Bytes{kPointerBytes}));
    k("shr.u32", warp, index, 5);
    k("setp.eq.u32", first_lane, k.special(ptx::SpecialRegister::laneid), 0);
    const Reg start = k.clock_after(at);
    k.loop(turns, [&] { k.repeat(kLoads, [&](int) { k("ld.global.b64", at, Mem{at}); }); });
    const Reg end = k.clock_after(at);
    const Reg mine = k.element(records, warp, Bytes{sizeof(Record)});
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(Record, start)}, start);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(Record, end)}, end);
    k.when(first_lane)("st.global.u32", Mem{mine, offsetof(Record, sm)}, k.special(ptx::SpecialRegister::smid));
    return k;
}

/// Numbers from 0 to a power of 2, in another order.
class Shuffle {
public:
    explicit Shuffle(std::uint64_t count) : mask_(count - 1), half_((std::countr_zero(count) + 1) / 2) {}
    [[nodiscard]] std::uint64_t place(std::uint64_t number) const { return folded((folded(number) * kFactor) & mask_); }
    [[nodiscard]] std::uint64_t number(std::uint64_t place) const { return folded((folded(place) * kInverse) & mask_); }

private:
    static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15, kInverse = 0xF1DE83E19937733D;
    static_assert(kFactor * kInverse == 1);
    /// Its own inverse, since what is folded down is not longer than what it is folded onto.
    [[nodiscard]] std::uint64_t folded(std::uint64_t value) const { return value ^ (value >> half_); }

    std::uint64_t mask_;
    int half_;
};

/// One cycle through all pointers of an array (Hull and Dobell 1962: the multiplier is one more than a multiple of 4,
/// the increment is odd, the modulus a power of 2), in shuffled places: low bits of the numbers themselves come again
/// after few steps, so that threads which begin powers of 2 apart would meet in one set of a cache.
std::vector<std::uint64_t> chain(device::Address base, std::int64_t bytes) {
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

/// A ring of pointers, each to one kLinesApart lines further on.
std::vector<std::uint64_t> lines_apart(device::Address base, std::int64_t bytes) {
    std::vector<std::uint64_t> links(static_cast<std::size_t>(bytes / kPointerBytes));
    for (std::size_t i = 0; i < links.size(); ++i)
        links[i] = base + (i * kPointerBytes + static_cast<std::uint64_t>(kLinesApart * kLineBytes)) %
                              static_cast<std::uint64_t>(bytes);
    return links;
}

class Walker {
public:
    enum class Order { random, coalesced };

    Walker(device::Device& device, std::int64_t bytes, Order order = Order::random)
        : kernel_(device, random_kernel(target_of(device)), {LoopedCode{{"LDG", 8}, kLoads}}),
          sms_(sms_of(device)),
          bytes_(bytes),
          order_(order),
          array_(device, Bytes{bytes}),
          records_(device, Bytes{sms_ * max_warps_of(device) * static_cast<std::int64_t>(sizeof(Record))}) {
        array_.write(order == Order::random ? chain(array_.address(), bytes) : lines_apart(array_.address(), bytes));
    }

    struct Rate {
        double latency = 0;  ///< cycles from load to load of a warp
        double loads = 0;    ///< of warps, per cycle, all together
    };
    /// One block of `warps` on as many SMs as there are blocks, the mean of as many `walks`; nullopt where two blocks
    /// came to one SM.
    std::optional<Rate> walk(std::int64_t blocks, int warps, std::uint32_t walks = 1) {
        if (warps * kWarpSize > kernel_.properties().max_threads_per_block) return std::nullopt;
        const std::int64_t all = blocks * warps;
        const bool coalesced = order_ == Order::coalesced;
        const auto stride = coalesced ? 1 : static_cast<std::uint32_t>(bytes_ / kPointerBytes / (all * kWarpSize));
        const auto other = coalesced ? static_cast<std::uint32_t>(kLinesApart * kLineBytes / kPointerBytes)
                                     : stride;  // pointers to where another load begins
        const auto shift =
            coalesced ? static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint64_t>(kThreadsOfPointer))) : 0;
        Rate rate;
        for (std::uint32_t i = 0; i <= walks;
             ++i) {  // the first brings translations and code into their caches, but not the lines of the others
            const std::uint32_t part = other * i / (walks + 1),
                                begin = coalesced ? part / kLinePointers * kLinePointers : part;
            device::Arguments arguments;
            arguments.add(array_.address())
                .add(begin)
                .add(stride)
                .add(shift)
                .add(static_cast<std::uint32_t>(kTurns))
                .add(records_.address());
            kernel_.launch({static_cast<std::uint32_t>(blocks)}, {static_cast<std::uint32_t>(warps * kWarpSize)},
                           arguments);
            if (i > 0 && !add_walk(rate, all, warps, walks)) return std::nullopt;
        }
        return rate;
    }
    [[nodiscard]] std::int64_t sms() const { return sms_; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    /// What the records say, as one of `walks`; false where an SM had more than `warps`.
    bool add_walk(Rate& rate, std::int64_t all, int warps, std::uint32_t walks) {
        std::map<std::uint32_t, int> warps_of;
        for (const auto& record : records_.read<Record>(static_cast<std::size_t>(all))) {
            const double cycles = static_cast<std::int32_t>(record.end - record.start),
                         loads = static_cast<double>(kTurns * kLoads);
            rate.latency += cycles / loads / static_cast<double>(all * walks);
            rate.loads += loads / cycles / walks;
            if (++warps_of[record.sm] > warps) return false;
        }
        return true;
    }

    CompiledKernel kernel_;
    std::int64_t sms_;
    std::int64_t bytes_;
    Order order_;
    device::Buffer array_, records_;
};

/// Transactions that a coalesced load counts as, by the CUDA C Programming Guide (Volkov 2016, 6.7).
int coalesced_transactions(const device::Device& device) {
    const auto major = device.attribute(device::Attribute::compute_capability_major).value_or(3);
    return major < 2 ? 2 : major == 2 ? 1 : 4;
}

class Study {
public:
    explicit Study(Context& context)
        : context_(context),
          least_(std::clamp(static_cast<std::int64_t>(
                                std::bit_ceil(static_cast<std::uint64_t>(kTimesCache * largest_cache(context)))),
                            kLeast, kLargest)) {}

    Outcome run() {
        sizes();
        warps(size_of_warps());
        return std::move(outcome_);
    }

private:
    [[nodiscard]] double per_sm(const Walker& walker, const Walker::Rate& rate) const {
        return rate.loads * kWarpSize / static_cast<double>(walker.sms());
    }

    /// Whether an array of sizes_[i] is one at which warps vary.
    [[nodiscard]] bool suits(std::size_t i) const {
        return sizes_[i].bytes >= least_ && i + 1 < sizes_.size() && sizes_[i + 1].rate >= (1 - kFlat) * sizes_[i].rate;
    }
    /// The first size that suits; the largest where none does.
    [[nodiscard]] std::int64_t size_of_warps() const {
        for (std::size_t i = 0; i < sizes_.size(); ++i)
            if (suits(i)) return sizes_[i].bytes;
        return sizes_.empty() ? least_ : sizes_.back().bytes;
    }

    void warps(std::int64_t bytes) {
        Walker walker(context_.device, bytes);
        add_code_checks(walker.compiled(), outcome_);
        results::Trace trace{.name = "random_access/occupancy", .experiment = "random_access"};
        trace.columns = {{"warps", "warp/SM", {}}, {"rate", "ops/cycle/SM", {}}, {"latency", "cycles", {}}};
        const auto add = [&](std::int64_t blocks, int warps) {
            context_.progress(0.5 + 0.5 * static_cast<double>(trace.columns[0].values.size()) / 11,
                              fmt::format("{} blocks of {} warps", blocks, warps));
            const auto rate = walker.walk(blocks, warps, blocks * warps == 1 ? kLoneWalks : 1);
            if (!rate) return;
            trace.columns[0].values.push_back(static_cast<double>(blocks * warps) / static_cast<double>(walker.sms()));
            trace.columns[1].values.push_back(per_sm(walker, *rate));
            trace.columns[2].values.push_back(rate->latency);
        };
        add(1, 1);  // of the whole GPU: one warp on each SM is no light load (6.7)
        for (const std::int64_t part : {4, 2})
            if (walker.sms() / part > 1) add(walker.sms() / part, 1);
        for (const int warps : kWarps)
            if (warps <= max_warps_of(context_.device)) add(walker.sms(), warps);
        if (trace.columns[2].values.empty()) throw DeviceError("random_access: no block came to an SM of its own");
        add_transaction_cost(trace.columns[2].values.front(), bytes);
        add_fetched(trace.columns[0].values, trace.columns[2].values, walker.sms());
        trace.plot = {fmt::format("Throughput of random access over occupancy, {} MiB", bytes >> 20),
                      "warps",
                      {"rate"},
                      false,
                      false};
        outcome_.traces.push_back(std::move(trace));
    }

    /// `latency`: of one warp alone whose loads are random, in an array of as many bytes.
    void add_transaction_cost(double latency, std::int64_t bytes) {
        Walker lines(context_.device, bytes, Walker::Order::coalesced);
        const auto coalesced = lines.walk(1, 1, kLoneWalks);
        if (!coalesced) return;
        const int transactions = kWarpSize - coalesced_transactions(context_.device);
        const double cost = (latency - coalesced->latency) / transactions;
        outcome_.estimates.push_back(decided_real(
            "paths.global.transaction_cost", {cost, cost, cost},
            {"random_access: latency of one warp's random loads less that of coalesced ones, by transaction",
             kConfidence, fmt::format("{:.4g} cycles less {:.4g}", latency, coalesced->latency)}));
    }

    /// What a word takes of the memory's time, in bytes that are streamed meanwhile. What the last number of warps
    /// loads is the least that memory gives, and the rate at which latency grows with warps the most; nothing where
    /// these are far apart.
    void add_fetched(const std::vector<double>& warps, const std::vector<double>& latencies, std::int64_t sms) {
        const auto bandwidth = context_.findings.number("memory.read_bandwidth");
        const std::size_t last = warps.size() - 1;
        if (!bandwidth || warps.size() < 2) return;
        const double words = static_cast<double>(kWarpSize * sms) * sm_mhz_of(context_.findings, context_.device) /
                             1000;  // a nanosecond, of one warp a cycle on each SM
        const double least = words * std::max(warps[last] / latencies[last], warps[last - 1] / latencies[last - 1]);
        const double longer = latencies[last] - latencies[last - 1];
        const double most = longer > 0 ? std::max(least, words * (warps[last] - warps[last - 1]) / longer) : 0;
        if (most == 0 || most > (1 + kNearlySaturated) * least) return;
        const double few = *bandwidth / most * (1 - kSaturated), many = *bandwidth / least * (1 + kSaturated);
        outcome_.estimates.push_back(
            decided_integer("memory.fetch_bytes", {(few + many) / 2, few, many},
                            {"random_access: bytes that are streamed while a word anywhere is loaded", kConfidence,
                             fmt::format("{:.3g} words a nanosecond, and no more than {:.3g}", least, most)}));
    }

    void sizes() {
        results::Trace trace{.name = "random_access/size", .experiment = "random_access"};
        trace.columns = {{"bytes", "bytes", {}}, {"rate", "ops/cycle/SM", {}}};
        const bool quick = context_.quick;  // no more than it takes to choose one
        for (std::int64_t bytes = quick ? least_ : kSmallest; bytes <= (quick ? kQuickLargest : kLargest); bytes *= 2) {
            context_.progress(0.05 * static_cast<double>(trace.columns[0].values.size()),
                              fmt::format("{} MiB", bytes >> 20));
            Walker walker(context_.device, bytes);
            const auto rate = walker.walk(walker.sms(), kManyWarps);
            if (!rate) continue;
            sizes_.push_back({bytes, per_sm(walker, *rate)});
            trace.columns[0].values.push_back(static_cast<double>(bytes));
            trace.columns[1].values.push_back(sizes_.back().rate);
            if (quick && sizes_.size() > 1 && suits(sizes_.size() - 2)) break;
        }
        trace.plot = {"Throughput of random access over the size of the array", "bytes", {"rate"}, true, true};
        outcome_.traces.push_back(std::move(trace));
    }

    struct Size {
        std::int64_t bytes = 0;
        double rate = 0;  ///< of an SM
    };

    Context& context_;
    std::int64_t least_;       ///< bytes of an array several times as large as any cache
    std::vector<Size> sizes_;  ///< rising
    Outcome outcome_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return or_left_out([&] { return Study(c).run(); }); });
}

}  // namespace

Experiment random_access_experiment() {
    return {.id = "random_access",
            .title =
                "latency and throughput of loads that diverge, over occupancy and the size of the array; cost of a "
                "transaction",
            .source = "Volkov 2016, 6.7",
            .method = "memory-and-bandwidth",
            .explanation =
                "Each thread follows its own pointer chain in random order, so that each load of a warp is 32 "
                "transactions. One warp alone shows what a transaction adds to the latency. More warps and other "
                "array sizes show the throughput.",
            .needs = {},
            .after = {"caches", "dram_bandwidth"},
            .provides = {"paths.global.transaction_cost", "memory.fetch_bytes"},
            .run = run,
            .part_of_scan = PartOfScan::on_hardware};
}

}  // namespace gputomo::experiments
