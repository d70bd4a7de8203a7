#include "experiments/mix_throughput.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace gputomo::experiments {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr int kTurnInstructions = 512;
/// Turns of the shorter run: this many instructions of a warp at least, and so many groups, so that several accesses take part.
constexpr int kLeastInstructions = 1024;
constexpr int kLeastGroups = 8;
constexpr std::int64_t kLineBytes = 128;
constexpr std::int64_t kWordsPerLine = kLineBytes / 4;
constexpr int kWarp = 32;
/// As floating-point numbers these are infinite or no numbers, and don't come out of an add as they went in.
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kSign = 0x80000000;
/// x + -0 is x for every x that is a number, zeros of both signs and denormal ones included.
constexpr std::uint32_t kMinusZero = kSign;
constexpr std::uint32_t kOne = 0x3f800000;
constexpr int kMostTries = 8;

bool survives_adding(device::Address first, std::int64_t bytes) {
    const device::Address last = first + static_cast<device::Address>(bytes) - 1;
    if (first >> 32 != last >> 32) return false;
    const auto low = static_cast<std::uint32_t>(first), high = static_cast<std::uint32_t>(last);
    return (low ^ high) < kSign && (high & ~kSign) < kInfinity;
}

/// One warp's part of the results; times are those of its SM's clock.
struct WarpResult {
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t pointers = 0;  ///< sum over the chains
    std::uint32_t sm = 0;
    [[nodiscard]] std::uint32_t cycles() const { return end - start; }
};

/// Dynamic shared memory with which `blocks` fit an SM and not one more, as far as one block may take so much; where it may not,
/// the grid has no more blocks than are meant to be there.
Bytes shared_for(const device::Device& device, int blocks) {
    using enum device::Attribute;
    constexpr std::int64_t kUnit = 256, kOverhead = 512;
    const auto per_sm = device.attribute(max_shared_memory_per_multiprocessor).value_or(16384);
    const auto per_block = device.attribute(max_shared_memory_per_block).value_or(16384);
    return Bytes{std::max(kUnit, std::min(per_block - kOverhead, per_sm / (blocks + 1) / kUnit * kUnit + kOverhead))};
}

/// Whether every SM had the same number of warps, all of them at the same time (5.6): the last had started before the first ended.
bool attained(const std::vector<WarpResult>& results, std::int64_t sms) {
    std::map<std::uint32_t, std::vector<WarpResult>> by_sm;
    for (const auto& result : results) by_sm[result.sm].push_back(result);
    return std::ranges::all_of(by_sm, [&](const auto& entry) {
        const auto& warps = entry.second;
        const std::uint32_t origin = warps.front().start;  // clocks wrap round, so times count from here
        const auto since = [&](std::uint32_t time) { return static_cast<std::int32_t>(time - origin); };
        std::int32_t last_start = 0, first_end = since(warps.front().end);
        for (const auto& warp : warps) last_start = std::max(last_start, since(warp.start)), first_end = std::min(first_end, since(warp.end));
        return static_cast<std::int64_t>(warps.size()) * sms == static_cast<std::int64_t>(results.size()) && last_start < first_end;
    });
}

/// Pointers of the chains, and what their loads need.
struct Chains {
    std::vector<Reg> values;     ///< b32
    std::vector<Reg> addresses;  ///< b64, of global mixes
    Reg upper;                   ///< b32
};

void append_access(ptx::KernelBuilder& k, MixAccess access, const Chains& chains, std::size_t i) {
    if (access == MixAccess::global) k("ld.global.b32", chains.values[i], Mem{chains.addresses[i]});
    if (access == MixAccess::shared) k("ld.shared.b32", chains.values[i], Mem{chains.values[i]});
    if (access == MixAccess::sfu) k("rsqrt.approx.f32", chains.values[i], chains.values[i]);
}

/// The chains side by side, one instruction of each at a time.
void append_turn(ptx::KernelBuilder& k, const MixShape& shape, const Chains& chains, Reg zero) {
    const auto each = [&](auto&& append) {
        for (std::size_t i = 0; i < chains.values.size(); ++i) append(i);
    };
    const bool joins = shape.reads_lines();
    for (int group = 0; group < shape.groups(); ++group) {
        if (!shape.arithmetic_only) each([&](std::size_t i) { append_access(k, shape.access, chains, i); });
        const int adds = shape.arithmetic_only ? 1 : shape.alpha - (joins ? 1 : 0);
        for (int add = 0; add < adds; ++add) each([&](std::size_t i) { k("add.rn.f32", chains.values[i], chains.values[i], zero); });
        if (joins) each([&](std::size_t i) { k("mov.b64", chains.addresses[i], ptx::Vec{chains.values[i], chains.upper}); });
    }
}

std::vector<CodeExpectation> expected_code(const MixShape& shape) {
    const int accesses = shape.groups() * shape.chains;
    const int adds = accesses * (shape.arithmetic_only ? 1 : shape.alpha - (shape.access == MixAccess::global ? 1 : 0));
    std::vector<CodeExpectation> expected;
    if (adds > 0) expected.emplace_back(LoopedCode{{"FADD"}, adds});
    if (shape.arithmetic_only) return expected;
    if (shape.access == MixAccess::global) expected.emplace_back(LoopedCode{{"LDG", 4}, accesses});
    if (shape.access == MixAccess::shared) expected.emplace_back(LoopedCode{{"LDS", 4}, accesses});
    if (shape.access == MixAccess::sfu) expected.emplace_back(LoopedCode{{"MUFU"}, accesses});
    return expected;
}

/// Where each chain starts: global ones at a line of their own, `lines` apart; shared ones at a word that points to itself; others at 1.
Chains append_starts(ptx::KernelBuilder& k, const MixShape& shape, Reg array, Reg first_line, Reg lines) {
    Chains chains{k.regs(Type::b32, shape.chains), k.regs(Type::b64, shape.chains), k.reg(Type::b32)};
    if (shape.access == MixAccess::shared && !shape.arithmetic_only) {
        const Reg memory = k.dynamic_shared();
        k("st.shared.b32", Mem{memory}, memory);
        k("bar.sync", 0);
        for (const Reg value : chains.values) k("mov.b32", value, memory);
        return chains;
    }
    static_cast<void>(k.dynamic_shared());
    if (shape.access == MixAccess::sfu || shape.arithmetic_only) {
        for (const Reg value : chains.values) k("mov.b32", value, kOne);
        return chains;
    }
    const Reg warp = k.reg(Type::u32), line = k.reg(Type::u32), lane = k.special(SpecialRegister::laneid), word = k.reg(Type::u32);
    k("shr.u32", warp, k.thread_index(), 5);
    for (int i = 0; i < shape.chains; ++i) {
        k("mad.lo.u32", line, warp, shape.chains, i);
        k("mad.lo.u32", line, line, lines, first_line);
        k("mad.lo.u32", word, line, static_cast<int>(kWordsPerLine), lane);
        const auto chain = static_cast<std::size_t>(i);
        k("mov.b64", chains.addresses[chain], k.element(array, word, Bytes{4}));
        k("mov.b64", ptx::Vec{chains.values[chain], chains.upper}, chains.addresses[chain]);
    }
    return chains;
}

}  // namespace

int MixShape::groups() const { return std::max(1, kTurnInstructions / ((arithmetic_only ? 1 : alpha + 1) * chains)); }
int MixShape::instructions() const { return groups() * chains * (arithmetic_only ? 1 : alpha + 1); }

std::string MixShape::name() const {
    constexpr std::string_view kNames[] = {"global", "shared", "sfu"};
    if (arithmetic_only) return fmt::format("mix_adds_x{}", chains);
    return fmt::format("mix_{}_{}_x{}", kNames[static_cast<std::size_t>(access)], alpha, chains);
}

ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape) {
    ptx::KernelBuilder k(shape.name(), target);
    const Reg array = k.param(Type::u64, "array");
    const Reg first_line = k.param(Type::u32, "first_line");
    const Reg lines = k.param(Type::u32, "lines");
    const Reg turns = k.param(Type::u32, "turns");
    const Reg zero = k.param(Type::f32, "zero");
    const Reg results = k.param(Type::u64, "results");
    const Chains chains = append_starts(k, shape, array, first_line, lines);
    const Reg start = k.clock_after(chains.values.back());
    k.loop(turns, [&] { append_turn(k, shape, chains, zero); });
    const Reg end = k.clock_after(chains.values.back());
    const Reg sum = k.reg(Type::u32), warp = k.reg(Type::u32), first_lane = k.reg(Type::pred);
    k("mov.b32", sum, 0);
    for (const Reg value : chains.values) k("add.u32", sum, sum, value);
    k("shr.u32", warp, k.thread_index(), 5);
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    const Reg mine = k.element(results, warp, Bytes{sizeof(WarpResult)});
    k.when(first_lane)("st.global.u32", Mem{mine}, start);
    k.when(first_lane)("st.global.u32", Mem{mine, 4}, end);
    k.when(first_lane)("st.global.u32", Mem{mine, 8}, sum);
    k.when(first_lane)("st.global.u32", Mem{mine, 12}, k.special(SpecialRegister::smid));
    return k;
}

LinkedArray::LinkedArray(device::Device& device, std::int64_t warps, std::int64_t lines) {
    const auto sms = device.attribute(device::Attribute::multiprocessor_count).value_or(1);
    lines_ = sms * warps * lines;
    const std::int64_t bytes = (lines_ + 1) * kLineBytes;
    buffer_ = device::Buffer(device, Bytes{bytes});
    for (int i = 0; !survives_adding(buffer_.address(), bytes); ++i) {
        if (i == kMostTries) throw DeviceError(fmt::format("{}: {} allocations of {} bytes lie where addresses don't survive adding zero; expected one that does", device.name(), i + 1, bytes));
        set_aside_.push_back(std::move(buffer_));
        buffer_ = device::Buffer(device, Bytes{bytes});
    }
    set_aside_.clear();
    std::vector<std::uint32_t> links(static_cast<std::size_t>(bytes / 4));
    const auto first = static_cast<std::uint32_t>(buffer_.address());
    for (std::size_t i = 0; i < links.size(); ++i) links[i] = first + static_cast<std::uint32_t>(4 * i + kLineBytes);
    buffer_.write(links);
}

std::int64_t LinkedArray::take(std::int64_t lines) {
    if (lines > lines_) throw std::logic_error(fmt::format("{} lines of an array that has {}", lines, lines_));
    if (next_ + lines > lines_) next_ = 0;
    return std::exchange(next_, next_ + lines);
}

MixThroughput::MixThroughput(device::Device& device, const MixShape& shape, LinkedArray& array)
    : device_(device), shape_(shape), array_(array), kernel_(device, mix_kernel(target_of(device), shape), expected_code(shape)) {
    const auto at_least = [](int all, int each) { return static_cast<std::uint32_t>((all + each - 1) / each); };
    turns_ = std::max(at_least(kLeastInstructions, shape.instructions()), at_least(kLeastGroups, shape.groups()));
    if (shape.reads_lines() && 2 * turns_ * static_cast<std::uint32_t>(shape.groups() * shape.chains) > kMostLines) throw std::logic_error("a mix that reads more lines than were planned for");
}

MixThroughput::Blocks MixThroughput::blocks_for(int warps) const {
    const int most = std::max(1, kernel_.properties().max_threads_per_block / kWarp);
    for (int blocks = 1; blocks <= warps; ++blocks)
        if (warps % blocks == 0 && warps / blocks <= most) return {blocks, warps / blocks};
    return {warps, 1};
}

std::optional<double> MixThroughput::mean_latency(const Blocks& blocks, std::uint32_t turns) {
    const auto sms = device_.attribute(device::Attribute::multiprocessor_count).value_or(1);
    const std::int64_t grid = sms * blocks.per_sm, warps = grid * blocks.warps;
    const std::int64_t lines = shape_.reads_lines() ? std::int64_t{turns} * shape_.groups() : 0;  // of a chain
    const std::int64_t first_line = array_.take(warps * shape_.chains * lines);
    const device::Buffer buffer(device_, Bytes{warps * static_cast<std::int64_t>(sizeof(WarpResult))});
    device::Arguments arguments;
    arguments.add(array_.address()).add(static_cast<std::uint32_t>(first_line)).add(static_cast<std::uint32_t>(lines)).add(turns).add(kMinusZero).add(buffer.address());
    kernel_.launch({static_cast<std::uint32_t>(grid)}, {static_cast<std::uint32_t>(blocks.warps * kWarp)}, arguments, shared_for(device_, blocks.per_sm));
    const auto results = buffer.read<WarpResult>(static_cast<std::size_t>(warps));
    for (std::size_t warp = 0; warp < results.size(); ++warp) check(warp, results[warp].pointers, first_line, lines);
    if (!attained(results, sms)) return std::nullopt;
    const double cycles = std::accumulate(results.begin(), results.end(), 0.0, [](double sum, const WarpResult& result) { return sum + result.cycles(); });
    return cycles / static_cast<double>(warps);
}

/// Pointers must have gone on as many lines as there were loads; other values must be what they were.
void MixThroughput::check(std::size_t warp, std::uint32_t pointers, std::int64_t first_line, std::int64_t lines) const {
    if (shape_.access == MixAccess::shared && !shape_.arithmetic_only) return;  // an address that the host does not know
    std::uint32_t expected = 0;
    for (int chain = 0; chain < shape_.chains; ++chain) {
        const std::int64_t line = first_line + (static_cast<std::int64_t>(warp) * shape_.chains + chain + 1) * lines;
        expected += lines > 0 ? static_cast<std::uint32_t>(array_.address() + static_cast<device::Address>(line * kLineBytes)) : kOne;
    }
    if (pointers != expected)
        throw DeviceError(fmt::format("kernel {}: warp {} ended with values that sum to {:#x}; expected {:#x}", kernel_.name(), warp, pointers, expected));
}

std::optional<double> MixThroughput::instructions_per_cycle(int warps) {
    const Blocks blocks = blocks_for(warps);
    (void)mean_latency(blocks, 1);  // fills instruction caches
    const auto once = mean_latency(blocks, turns_);
    const auto twice = mean_latency(blocks, 2 * turns_);
    if (!once || !twice || !(*twice > *once)) return std::nullopt;
    return static_cast<double>(warps) * turns_ * shape_.instructions() / (*twice - *once);
}

std::vector<int> mix_occupancies(int schedulers, int most) {
    constexpr int kPerDoubling = 4;
    std::vector<int> found;
    for (int step = 1; step * schedulers <= most; ++step) {
        int doubling = 1;
        while (2 * doubling <= step) doubling *= 2;
        if (step % std::max(1, doubling / kPerDoubling) == 0) found.push_back(step * schedulers);
    }
    return found;
}

std::vector<int> mix_alphas(bool quick) {
    constexpr int kMost = 512;
    std::vector<int> alphas;
    for (double alpha = 1; alpha <= kMost * 1.01; alpha *= quick ? 4.0 : std::sqrt(2.0))
        if (const int rounded = static_cast<int>(std::lround(alpha)); alphas.empty() || alphas.back() != rounded) alphas.push_back(rounded);
    return alphas;
}

}  // namespace gputomo::experiments
