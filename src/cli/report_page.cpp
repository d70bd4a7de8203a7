#include "cli/report_page.hpp"

#include "cli/devices.hpp"
#include "experiments/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

struct Explanation {
    std::string_view experiment;
    std::string_view text;
};
/// One row per experiment; docs/methods.md has the whole story.
constexpr Explanation kExplanations[] = {
    {"attributes",
     "The driver is asked. These values are not measured; experiments use them as limits of what they launch."},
    {"clock",
     "The clock register is read twice in a row for the cost of a read, many times for its step, and on all SMs at "
     "once to see which of them read the same "
     "register. Its rate is the cycles of a long loop over the time between two events."},
    {"arithmetic_latency",
     "One thread runs a chain of operations, each of which needs the result of the one before. The chain is timed at "
     "two lengths; the difference, divided by "
     "the number of operations, is the latency, with no cost of reading the clock in it."},
    {"arithmetic_throughput",
     "More and more warps run independent operations in a loop on one SM. The rate at which more warps bring nothing "
     "more is the throughput."},
    {"arithmetic_units",
     "Pairs of operations run together. If both take as long as one of them alone they have different units; if they "
     "take as long as one after the other they "
     "share one."},
    {"issue",
     "More and more equal warps run independent adds. Each time they outnumber the schedulers once more, all take a "
     "step longer. Whether instructions of "
     "several units together come as often as their units take them shows how often a scheduler issues; one warp with "
     "more and more chains shows how closely "
     "its own instructions follow each other."},
    {"issue_cost",
     "Warps of dependent adds fill the issue slots. Beside them, one warp of each scheduler, then two and three, "
     "execute nothing but special functions, or "
     "loads. How many adds each of these displaces is what it takes of the issue slots."},
    {"tensor_products",
     "One warp on each SM multiplies matrices in a chain, then with an add behind each product; more warps with four "
     "chains show how many products a cycle "
     "there "
     "are. With 16 and 64 adds for each product, what a group takes longer than its adds are the issue slots of the "
     "product."},
    {"shared_latency",
     "One thread follows a chain of addresses through shared memory. Then a warp does so with its threads a stride "
     "apart: where the latency grows, threads "
     "meet in the same bank."},
    {"shared_throughput",
     "Warps read from shared memory without bank conflicts; bytes are counted over cycles for several widths of a load "
     "and numbers of warps."},
    {"caches",
     "One thread follows a chain of addresses in random order through arrays of growing size. Each step in latency is "
     "a level that the array no longer fits. "
     "Size, line, sets, ways and policy follow from which groups of lines come to stay and which line a miss throws "
     "out."},
    {"constant_caches",
     "The same chain of addresses as for global memory, in constant memory. Loads to a farther level first push the "
     "lines out of the nearer ones."},
    {"constant_bandwidth",
     "One thread on each of more and more SMs reads constants that only the shared cache holds, several loads at a "
     "time. The rate at which more SMs bring "
     "nothing more is that cache's."},
    {"texture_caches", "The same chain of addresses as for global memory, by texture fetches from linear memory."},
    {"instruction_caches",
     "A dispatcher reads the clock and jumps through code of growing size in an order that no prefetcher follows. "
     "Where constants push code out, both share a "
     "cache."},
    {"fetch_block",
     "One warp reads the clock twice behind each of many barriers, while another one runs through so much code that "
     "nothing of the first one's stays in the "
     "nearest cache. Pairs of reads that lie in the same piece of code are fast all the same, since the warp has it "
     "already; where a new piece begins, it "
     "waits."},
    {"operand_banks",
     "All warps run multiply-adds that read the same two or three of a dozen registers. Where some choices of "
     "registers take longer than others, those lie in "
     "the same bank of the register file."},
    {"tlb",
     "Loads touch pages far apart. The latency of the same data without translation is taken off, so that what is left "
     "is the cost of translation; each step "
     "with the range of addresses is a TLB that no longer reaches."},
    {"page_window",
     "A few loads at one address and a few at another take turns. Where only the first at each is slow, the two are in "
     "different windows of memory whose page "
     "entries are active at once, and each turn switches the window."},
    {"page_walk",
     "Pages are visited that no TLB and lines that no cache has, each page's neighbour just before or not. A neighbour "
     "brings the line of the page table that "
     "both share, so that what the loads take longer without it is a page walk to memory."},
    {"texture_tlb",
     "Texture fetches touch pages far apart, several lines of each so that the first texture cache does not keep them. "
     "What the first fetch of a page takes "
     "longer than the others of it is translation."},
    {"scopes",
     "A block on one SM fills part of a cache, a block on another SM does the same elsewhere, then the first walks "
     "again: it is slower where both share the "
     "cache."},
    {"tlb_scopes",
     "A block on one SM touches part of the pages that a TLB holds, a block on another SM as many others, then the "
     "first again: it is slower where both share "
     "the TLB."},
    {"latency_map",
     "One thread on each SM reads lines that only the cache of all SMs holds, one after the other, several times each. "
     "Where some SMs wait longer for some "
     "lines and others for the others, the cache has partitions."},
    {"dram_bandwidth",
     "All SMs stream through an array several times the size of the caches, with more and more bytes in flight. The "
     "rate is the difference between the array "
     "and its half."},
    {"launch",
     "Empty kernels are launched back to back. In a longer launch, the gap between the end of a block and the start of "
     "the next on its SM is read from the "
     "clock."},
    {"control_flow",
     "Threads of a warp take different ways and read the clock at both ends of each. The order of the readings shows "
     "which side runs first, whether paths "
     "overlap, and where they join."},
    {"barriers",
     "The clock is read around a barrier with more and more warps. Then parts of warps arrive, late or not at all, to "
     "see what a barrier counts."},
    {"register_file",
     "Kernels with growing numbers of registers and threads are launched: which launch succeeds, and how many blocks "
     "are on an SM together, tells the units in "
     "which registers are handed out."},
    {"shared_allocation",
     "Blocks ask for growing amounts of shared memory while the number that fits on an SM is counted. What is missing "
     "is the overhead of a block, and steps "
     "are the unit of allocation."},
    {"shared_split",
     "A block that takes more and more shared memory walks through as many lines as the L1 held before. Where lines "
     "begin to go missing, a launch has set a "
     "larger part of common storage aside, and a bisection counts the lines that are left."},
    {"occupancy",
     "More and more warps do nothing but one kind of instruction, each waiting for its last result. Throughput rises "
     "with the number of warps until a unit is "
     "full; one warp alone shows the latency, and streams show how latency grows under load."},
    {"occupancy_over_time",
     "Warps that each do the same work: all at once, or eight times as many as fit, in blocks of each size, and in one "
     "block of more and more warps. When each "
     "began "
     "and ended says how many an SM had at any time."},
    {"kernels",
     "Real kernels, from the sum of two vectors to a product of matrices, run with more and more blocks on each SM; "
     "shared memory that they do not use keeps "
     "further blocks away. What half of a grid takes is taken off what all of it takes."},
    {"memory_latencies",
     "All warps stream, each load waiting for the last. One warp of each SM times one of its loads in eight, so that "
     "the distribution of single latencies is "
     "seen, at several loads of the memory. Mean latency over throughput is fitted with a + b x / (c - x)."},
    {"random_access",
     "Each thread follows its own chain of addresses through an array in random order, so that each load is 32 "
     "transactions. One warp alone shows what a "
     "transaction adds to the latency; more warps and other sizes show the throughput."},
    {"memory_pauses",
     "Eight warps of one block load lines at random, each load waiting for the last, and keep the clock before and "
     "after. A load that comes late alone may "
     "have met "
     "a queue; where loads of several warps come late at the same time, the memory stood still. What comes meanwhile "
     "waits for the end, so that delays go up "
     "to the "
     "length of a pause, and the times from one to the next show how often."},
    {"write_delay",
     "Few warps read, each waiting for one access before the next, and then read and write as much. What writes add to "
     "the time of an access is divided by the "
     "share "
     "of the memory's time that they take: reads wait where writes are kept back and done together."},
    {"memory_parallelism",
     "Warps read, write, add to or copy several words at a time and wait for all of them before they go on, so that a "
     "known number of bytes is under way. "
     "Rates of one SM and of all rise with it up to a peak; Little's law, bytes in flight over latency, is drawn "
     "beside them."},
    {"access_patterns",
     "Warps of one SM load from addresses of different shapes, from the last cache and from memory. A limit that gives "
     "the same rate at both latencies is a "
     "rate; one that gives so much less as latency is longer is a number of places, rate times latency."},
    {"l2_copy",
     "Copies of growing size, once right after the same copy and once after everything was pushed out of the caches. "
     "What the first gains grows with size "
     "until the cache is full."},
    {"outstanding",
     "More and more threads issue loads that miss. Time jumps where the table that tracks outstanding loads is full; "
     "whether it counts threads, lines or warp "
     "instructions tells its design."},
};

using Capability = std::pair<std::int64_t, std::int64_t>;

std::optional<Capability> capability_of(const machine::Machine& machine) {
    if (!machine.identity.compute_capability_major || !machine.identity.compute_capability_minor) return std::nullopt;
    return Capability{*machine.identity.compute_capability_major, *machine.identity.compute_capability_minor};
}

std::vector<machine::Machine> shipped_descriptions() {
    std::vector<machine::Machine> all;
    for (const auto& name : shipped_machines()) all.push_back(simulated_machine("sim:" + name));
    return all;
}

}  // namespace

std::string_view explanation_of(std::string_view experiment) {
    const auto found = std::find_if(std::begin(kExplanations), std::end(kExplanations),
                                    [&](const auto& row) { return row.experiment == experiment; });
    return found == std::end(kExplanations) ? std::string_view{} : found->text;
}

std::optional<report::Earlier> generation_before(const machine::Machine& machine) {
    const auto own = capability_of(machine);
    if (!own) return std::nullopt;
    const auto shipped = shipped_descriptions();
    std::set<std::string> own_architectures;
    for (const auto& other : shipped)
        if (capability_of(other) == own) own_architectures.insert(other.identity.architecture.value_or(""));
    const machine::Machine* last = nullptr;
    for (const auto& other : shipped) {
        const auto theirs = capability_of(other);
        if (!theirs || *theirs >= *own || own_architectures.contains(other.identity.architecture.value_or("")) ||
            (last != nullptr && *theirs <= *capability_of(*last)))
            continue;
        last = &other;
    }
    return last == nullptr ? std::nullopt
                           : std::optional(report::Earlier{last->identity.name.value_or("another GPU"), *last});
}

report::Page page_of(const scan::Scan& scan) {
    report::Page page;
    page.device = fmt::format("{} ({})", scan.device_name, scan.device_id);
    const auto catalogue = experiments::catalogue();
    for (const auto& record : scan.records) {
        if (!record.error.empty())
            page.warnings.push_back(
                fmt::format("{} {}: {}", record.id, scan::status_name(record.status), record.error));
        for (const auto& warning : record.outcome.warnings)
            page.warnings.push_back(warning.starts_with(record.id + ":") ? warning
                                                                         : fmt::format("{}: {}", record.id, warning));
        page.traces.insert(page.traces.end(), record.outcome.traces.begin(), record.outcome.traces.end());
        for (const auto& estimate : record.outcome.estimates) page.experiment_of[estimate.path] = record.id;
        for (const auto& check : record.outcome.code_checks)
            page.code_checks.push_back({record.id, check.kernel, std::string(results::name_of(check.result)),
                                        check.expected, check.found, check.listing});
        const auto known =
            std::find_if(catalogue.begin(), catalogue.end(), [&](const auto& e) { return e.id == record.id; });
        if (record.status == scan::Status::skipped) continue;
        if (known == catalogue.end())
            page.methods.push_back({record.id, record.id, "", ""});
        else
            page.methods.push_back({record.id, std::string(known->title), std::string(known->source),
                                    std::string(explanation_of(record.id))});
    }
    return page;
}

}  // namespace gputomo::cli
