#include "report/parts/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace gputomo::report {
namespace {

constexpr double kWordBytes = 4;

constexpr Headline kHeadlines[] = {
    {kGlobalCaches, "caches of global loads"},
    {"caches.l1.capacity", "L1 capacity"},
    {"caches.l1.latency", "L1 latency"},
    {"caches.l2.capacity", "L2 capacity"},
    {"caches.l2.latency", "L2 latency"},
    {"paths.global.memory_latency", "DRAM latency"},
    {"memory.read_bandwidth", "DRAM read bandwidth"},
    {"topology.sms", "SMs"},
    {"clock.sm_mhz", "SM clock"},
    {"operations[add.f32].latency", "FP32 add latency"},
    {"operations[add.f32].throughput", "FP32 adds per SM"},
    {"shared.latency", "shared memory latency"},
    {"shared.bytes_per_cycle", "shared memory per SM"},
};

/// Cycles per nanosecond.
std::optional<double> gigahertz(const Facts& facts) {
    const auto clock = facts.number("clock.sm_mhz");
    return clock && *clock > 0 ? std::optional(*clock / 1000) : std::nullopt;
}

std::optional<double> positive(const Facts& facts, std::string_view path) {
    const auto number = facts.number(path);
    return number && *number > 0 ? number : std::nullopt;
}

/// Most loads of a thread that are called possible. The registers of more do not fit beside other work.
constexpr int kMostLoads = 16;

/// The product of one instruction, m x n x k, and the threads that issue it together. Half of a sparse A is zeros.
struct Product {
    double m = 0, n = 0, k = 0, threads = 0;
    bool sparse = false;
    [[nodiscard]] double operations() const { return 2 * m * n * k; }
};
/// mma.sync, which the experiment tensor_products times.
constexpr Product kMma{16, 8, 16, 32};
constexpr std::string_view kMmaName = "mma.m16n8k16", kMmaLeaf = "pipelines.tensor.lanes";

/// The shape of "wgmma.m64n256k16..." or "wgmma.sp.m64n256k32...", by its name.
std::optional<Product> product_of(std::string_view name) {
    constexpr double kWarpGroup = 128;
    constexpr std::string_view kDense = "wgmma.m", kSparse = "wgmma.sp.m";
    Product product{.threads = kWarpGroup, .sparse = name.starts_with(kSparse)};
    if (!product.sparse && !name.starts_with(kDense)) return std::nullopt;
    const char* at = name.data() + (product.sparse ? kSparse : kDense).size();
    const char* const end = name.data() + name.size();
    for (auto [size, next] : {std::pair(&product.m, 'n'), std::pair(&product.n, 'k'), std::pair(&product.k, '.')}) {
        int number = 0;
        const auto [rest, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || rest == end || *rest != next) return std::nullopt;
        *size = number;
        at = rest + 1;
    }
    return product;
}

/// How people call the type of the factors: FP16 for "...f32.f16.f16". Empty for an unknown one.
std::string_view type_of(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes{{{".f16.f16", "FP16"},
                                                                                   {".bf16.bf16", "BF16"},
                                                                                   {".tf32.tf32", "TF32"},
                                                                                   {".e4m3.e4m3", "FP8"},
                                                                                   {".e5m2.e5m2", "FP8"},
                                                                                   {".s8.s8", "INT8"},
                                                                                   {".u8.u8", "INT8"},
                                                                                   {".b1.b1", "1 bit"}}};
    for (const auto& [ending, type] : kTypes)
        if (name.ends_with(ending)) return type;
    return {};
}

/// The instruction of a leaf like "operations[wgmma.m64n8k16.f32.f16.f16].throughput"; empty for other leaves.
std::string_view instruction_of(std::string_view path) {
    constexpr std::string_view kStart = "operations[", kEnd = "].throughput";
    if (!path.starts_with(kStart) || !path.ends_with(kEnd)) return {};
    return path.substr(kStart.size(), path.size() - kStart.size() - kEnd.size());
}

std::optional<double> of_all_sms(const Facts& facts, double per_cycle) {
    const auto sms = positive(facts, "topology.sms"), clock = gigahertz(facts);
    return sms && clock ? std::optional(per_cycle * *sms * *clock * 1e9) : std::nullopt;
}

}  // namespace

std::span<const Headline> headlines() { return kHeadlines; }

std::optional<double> warps_for_memory(const Facts& facts) {
    const auto latency = facts.number("paths.global.memory_latency"), bandwidth = facts.number("memory.read_bandwidth"),
               clock = gigahertz(facts);
    const auto sms = positive(facts, "topology.sms"), warp = positive(facts, "topology.warp_size");
    if (!latency || !bandwidth || !clock || !sms || !warp) return std::nullopt;
    return *latency * *bandwidth / *clock / *sms / (kWordBytes * *warp);
}

std::optional<Streaming> streaming(const Facts& facts) {
    constexpr double kWide = 16;
    const auto measured = positive(facts, "memory.bytes_in_flight");
    const auto warp = positive(facts, "topology.warp_size"), threads = positive(facts, "topology.max_threads_per_sm");
    const auto by_law = warps_for_memory(facts);
    if (!warp || (!measured && !by_law)) return std::nullopt;
    Streaming found{.bytes_in_flight = measured ? *measured : *by_law * kWordBytes * *warp,
                    .measured = measured.has_value()};
    const double words = found.bytes_in_flight / (kWordBytes * *warp);
    const double most = threads ? std::floor(*threads / *warp) : std::ceil(words);
    found.loads = static_cast<int>(std::ceil(words / most));
    found.warps = static_cast<int>(std::min(most, std::ceil(words / found.loads)));
    if (found.loads > 1) found.warps = static_cast<int>(most);
    const double wide = std::ceil(found.bytes_in_flight / (kWide * *warp));
    if (wide <= most) found.wide_warps = static_cast<int>(wide);
    return found.loads <= kMostLoads ? std::optional(found) : std::nullopt;
}

std::string streaming_text(const Streaming& streaming) {
    return fmt::format("{} warps with {} load{} of 4 bytes each", streaming.warps, streaming.loads,
                       streaming.loads == 1 ? "" : "s");
}

std::string_view TensorRate::unit() const { return type.starts_with("INT") || type == "1 bit" ? "OP" : "FLOP"; }

std::vector<TensorRate> tensor_rates(const Facts& facts) {
    std::vector<TensorRate> rates;
    const auto add = [&](TensorRate rate) {
        const auto same = std::ranges::find(rates, rate.type, &TensorRate::type);
        if (same == rates.end())
            rates.push_back(std::move(rate));
        else if (rate.per_cycle > same->per_cycle)
            *same = std::move(rate);
    };
    for (const auto& leaf : facts.all()) {
        const auto name = instruction_of(leaf.path);
        const auto product = product_of(name);
        const auto products = facts.number(leaf.path);
        // A peak that counts zeros is none of dense products.
        if (!product || product->sparse || !products || type_of(name).empty()) continue;
        const double rate = *products / product->threads * product->operations();
        const auto shape = name.substr(0, name.find('.', std::string_view("wgmma.").size()));
        add({std::string(type_of(name)), std::string(shape), rate, of_all_sms(facts, rate), leaf.path});
    }
    std::ranges::stable_sort(rates, std::ranges::greater(), &TensorRate::per_cycle);
    if (const auto lanes = facts.number(kMmaLeaf)) {
        const double rate = *lanes / kMma.threads * kMma.operations();
        rates.push_back({"FP16", std::string(kMmaName), rate, of_all_sms(facts, rate), std::string(kMmaLeaf)});
    }
    return rates;
}

std::string in_operations(std::string_view path, double products_per_cycle) {
    const auto name = instruction_of(path);
    const auto product = path == kMmaLeaf ? std::optional(kMma) : product_of(name);
    if (!product) return {};
    const bool integers = name.find(".s32.") != std::string_view::npos;  // sums of integers
    const std::string note = path == kMmaLeaf  ? fmt::format(", FP16, {}", kMmaName)
                             : product->sparse ? ", zeros of A included"
                                               : "";
    return fmt::format("{:.0f} {}/cycle{}", products_per_cycle / product->threads * product->operations(),
                       integers ? "OP" : "FLOP", note);
}

std::optional<double> fused_per_second(const Facts& facts, std::string_view operation) {
    const auto rate = facts.number(fmt::format("operations[{}].throughput", operation));
    return rate ? of_all_sms(facts, 2 * *rate) : std::nullopt;
}

std::string with_prefix(double per_second, std::string_view unit) {
    constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
    std::size_t at = 0;
    // 1071 TFLOP/s is how such rates are written, so that the last step comes late.
    while (per_second >= (at == 4 ? 10000 : 1000) && at + 1 < kPrefixes.size()) per_second /= 1000, ++at;
    return per_second >= 100 ? fmt::format("{:.0f} {}{}/s", per_second, kPrefixes[at], unit)
                             : fmt::format("{:.3g} {}{}/s", per_second, kPrefixes[at], unit);
}

std::optional<double> warps_for_arithmetic(const Facts& facts) {
    const auto latency = facts.number("operations[add.f32].latency"), warp = positive(facts, "topology.warp_size");
    auto rate = facts.number("operations[add.f32].throughput");
    if (!latency || !rate || !warp) return std::nullopt;
    const auto width = facts.number("issue.dual_issue"), schedulers = facts.number("issue.schedulers_per_sm"),
               interval = positive(facts, "issue.issue_interval");
    if (width && *width > 1 && schedulers && interval) rate = std::min(*rate, *schedulers * *warp / *interval);
    return *latency * *rate / *warp;
}

std::optional<double> bytes_per_add(const Facts& facts) {
    auto bandwidth = facts.number("memory.peak_bandwidth");
    if (!bandwidth) bandwidth = facts.number("memory.read_bandwidth");
    const auto rate = positive(facts, "operations[add.f32].throughput"), sms = positive(facts, "topology.sms"),
               clock = gigahertz(facts);
    if (!bandwidth || !rate || !sms || !clock) return std::nullopt;
    return *bandwidth / (*rate * *sms * *clock);
}

std::optional<double> memory_nanoseconds(const Facts& facts) {
    const auto latency = facts.number("paths.global.memory_latency"), clock = gigahertz(facts);
    return latency && clock ? std::optional(*latency / *clock) : std::nullopt;
}

}  // namespace gputomo::report
