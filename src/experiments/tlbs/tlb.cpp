// The TLBs on the way to global memory: levels, reach, span of an entry, ways, and what a miss costs.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/tlbs/tlb_levels.hpp"
#include "measure/kernel/device_facts.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace gputomo::experiments {
namespace tlb {
namespace {

/// Pages of an aliased window: 64 GiB of 2 MiB pages, mapped in under a second.
constexpr std::uint64_t kMappings = 32768;
/// Pages of a second window lie this many pages apart, in case the first window shows nothing because an entry spans
/// several pages.
constexpr std::uint64_t kSparse = 16;
/// Bytes of a plain array if memory cannot be aliased: several times the reach of the largest TLB of GPUs without
/// aliasing (Wong 2010, IV-I).
constexpr std::uint64_t kPlainArray = std::uint64_t{1} << 30;

/// Corrects a level that only the sparse window shows. In that window, entries that span less than the distance of its
/// pages look as if they spanned it, so span and reach become intervals.
FoundTlb resolved(FoundTlb tlb, const Window& sparse, const Window& dense) {
    auto& findings = tlb.findings;
    const auto word = static_cast<std::int64_t>(sparse.word);
    if (!tlb.has_geometry() || findings.line.value > word) return tlb;
    const auto page = static_cast<std::int64_t>(dense.word);
    const std::int64_t entries = findings.capacity.value / word;
    const bool beyond = findings.capacity.value > static_cast<std::int64_t>(dense.bytes);
    findings.line = {word, deduce::kBracketedConfidence, {page, word}, {}};
    findings.capacity = {entries * word,
                         deduce::kBracketedConfidence,
                         {beyond ? static_cast<std::int64_t>(dense.bytes) : entries * page, entries * word},
                         {}};
    return tlb;
}

/// Measures the dense and the sparse window of a device that can alias memory.
std::vector<FoundTlb> find_in_aliased_windows(Context& context, std::uint64_t page, DataCaches caches,
                                              Outcome& outcome) {
    context.progress(0, "mapping memory");
    auto mapped = std::make_unique<MappedWindow>(MappedWindow::aliased(context.device, page, kMappings));
    const Window dense = mapped->window();
    auto found = find_tlbs(context, *mapped, {.stride = page, .trace = "tlb/levels", .caches = caches}, outcome);
    mapped.reset();
    context.progress(0.5, "mapping memory");
    const auto sparse = MappedWindow::aliased(context.device, kSparse * page, kMappings);
    const auto farther = find_tlbs(
        context, sparse, {.stride = sparse.window().word, .trace = "tlb/sparse_levels", .caches = caches}, outcome);
    for (std::size_t level = found.size(); level < farther.size(); ++level)
        found.push_back(resolved(farther[level], sparse.window(), dense));
    return found;
}

std::vector<FoundTlb> find_in_plain_array(Context& context, DataCaches caches, Outcome& outcome) {
    const auto memory = static_cast<std::uint64_t>(
        context.device.attribute(device::Attribute::total_memory_bytes).value_or(kPlainArray));
    const std::uint64_t bytes = std::min(kPlainArray, std::bit_floor(memory / 2));
    // Windows of active pages begin at multiples of their size on the known GPUs (Mei 2014, 4.2: 512 MB). The array is
    // placed so that no window ends among its first pages.
    const PageWindows windows{
        static_cast<std::uint64_t>(context.findings.number("paths.global.page_window").value_or(0)),
        context.findings.number("paths.global.page_window_penalty").value_or(0)};
    const auto mapped = MappedWindow::plain(context.device, bytes, kPlainPage,
                                            windows.bytes > 0 ? std::min(windows.bytes, bytes) : bytes / 2);
    return find_tlbs(context, mapped,
                     {.stride = kPlainStride, .trace = "tlb/levels", .caches = caches, .page_windows = windows},
                     outcome);
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto caches = data_caches(context.findings, "global", "l");
    const std::uint64_t page = aliased_page(context.device);
    const auto found = page > 0 ? find_in_aliased_windows(context, page, caches, outcome)
                                : find_in_plain_array(context, caches, outcome);
    report_tlbs(found, "global", page > 0 ? kSparse * page * kMappings : kPlainArray, "tlb", outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace tlb

Experiment tlb_experiment() {
    return {.id = "tlb",
            .title = "TLBs on the way to global memory",
            .source = "Wong 2010, IV-I, Figs. 13-15; Mei 2014, 4.2",
            .method = "tlbs",
            .explanation =
                "Loads touch pages that lie far apart. The latency of the same data without a TLB miss is "
                "subtracted, so that the cost of translation is left. Each step of this cost with the range of "
                "addresses is the reach of a TLB.",
            .needs = {},
            .after = {"clock", "caches", "page_window"},
            .provides = {"tlbs.*.reach", "tlbs.*.entries", "tlbs.*.ways", "tlbs.*.sets", "tlbs.*.set_ways",
                         "tlbs.*.span", "tlbs.*.policy", "tlbs.*.miss_penalty", "paths.global.tlbs"},
            .run = tlb::run};
}

}  // namespace gputomo::experiments
