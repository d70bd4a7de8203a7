#include "report/picture.hpp"

#include "report/boxes.hpp"
#include "report/parts/quantities.hpp"
#include "report/parts/storages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace gputomo::report {
namespace {

using machine::Knowledge;

/// Longest line, in characters, with which two boxes fit side by side on a phone (340 units wide). Longer lines leave
/// one box in a row there.
constexpr std::size_t kShortLine = 21;

class Painter {
public:
    Painter(const machine::Machine& machine, const Facts& facts, const std::vector<results::Trace>& traces)
        : machine_(machine), facts_(facts), traces_(traces) {}

    [[nodiscard]] std::vector<BoxFrame> frames() const {
        std::vector<BoxFrame> all;
        add(all, sm());
        add(all, {shared_by("TPC", facts_.text("topology.sms_per_tpc")), {caches_in("tpc")}});
        add(all, {shared_by("CPC", facts_.text("topology.sms_per_cpc")), {caches_in("cpc")}});
        add(all, {shared_by("GPC", facts_.text("topology.sms_per_gpc")), {caches_in("gpc")}});
        add(all, {"Shared by all SMs", {caches_in("gpu")}});
        add(all, {"Which SMs share these is undecided", {caches_in("")}});
        add(all, {"Address translation (TLBs, nearest first)", {tlbs()}});
        add(all, {"Off chip", {dram()}});
        return all;
    }

private:
    static void add(std::vector<BoxFrame>& frames, BoxFrame frame) {
        std::erase_if(frame.rows, [](const auto& row) { return row.empty(); });
        if (!frame.rows.empty()) frames.push_back(std::move(frame));
    }
    static std::string shared_by(std::string_view unit, const std::string& sms) {
        return sms.empty() ? fmt::format("Shared by the SMs of a {}", unit)
                           : fmt::format("Shared by the SMs of a {} ({} SMs)", unit, sms);
    }
    /// Adds a line with the value between `before` and `after`, unless the value is not known. An undecided value marks
    /// the box.
    void line(Box& box, std::string_view path, std::string_view before = "", std::string_view after = "") const {
        const auto text = facts_.text(path);
        if (text.empty()) return;
        box.lines.push_back(fmt::format("{}{}{}", before, text, after));
        box.undecided |= facts_.has(path, Knowledge::undecided);
    }

    /// Whether the leaf is undecided without candidates or an interval to show.
    [[nodiscard]] bool open(std::string_view path) const { return facts_.text(path) == "undecided"; }

    /// Adds the value to the last line, or as a line of its own where both are longer than kShortLine.
    void more(Box& box, std::string_view path, std::string_view before = "") const {
        Box another;
        line(another, path, before);
        if (another.lines.empty()) return;
        box.undecided |= another.undecided;
        if (box.lines.empty() || box.lines.back().size() + another.lines[0].size() > kShortLine)
            box.lines.push_back(another.lines[0]);
        else
            box.lines.back() += ", " + another.lines[0];
    }
    /// Adds the latency behind the size. A latency of 0 means that other work hid all of it from the measurement.
    void latency(Box& box, std::string_view path) const {
        if (facts_.number(path) == 0.0)
            box.lines.emplace_back("latency hidden");
        else
            more(box, path, open(path) ? "latency " : "");
    }

    [[nodiscard]] BoxFrame sm() const {
        const auto sms = facts_.text("topology.sms"), threads = facts_.text("topology.max_threads_per_sm"),
                   blocks = facts_.text("topology.max_blocks_per_sm");
        std::string title = sms.empty() ? "One SM" : fmt::format("One of {} SMs", sms);
        if (!threads.empty()) title += fmt::format(", {} threads", threads);
        if (!blocks.empty()) title += fmt::format(", {} blocks", blocks);
        BoxRow stores = registers();
        const auto shared = shared_memory();
        stores.insert(stores.end(), shared.begin(), shared.end());
        return {title, {schedulers(), pipelines(), stores, caches_in("sm")}};
    }

    [[nodiscard]] int scheduler_count() const {
        const auto count = facts_.number("issue.schedulers_per_sm");
        return count && *count >= 1 && *count <= 16 ? static_cast<int>(*count) : 0;
    }
    [[nodiscard]] BoxRow schedulers() const {
        BoxRow row;
        for (int i = 0; i < scheduler_count(); ++i) {
            Box box{.title = scheduler_count() == 1 ? "Warp scheduler" : fmt::format("Scheduler {}", i + 1),
                    .kind = "compute",
                    .link = "issue"};
            line(box, "issue.issue_interval", "issues every ");
            if (const auto width = facts_.number("issue.dual_issue"); width && *width > 1)
                line(box, "issue.dual_issue", "", " at once");
            row.push_back(box);
        }
        return row;
    }

    [[nodiscard]] BoxRow pipelines() const {
        BoxRow row;
        for (const auto& [key, pipeline] : machine_.pipelines) {
            const auto path = fmt::format("pipelines.{}.", key);
            Box box{.title = key, .kind = "compute", .link = "arithmetic"};
            std::transform(box.title.begin(), box.title.end(), box.title.begin(),
                           [](unsigned char c) { return std::toupper(c); });
            if (const auto lanes = facts_.number(path + "lanes"); lanes && key == "tensor") {
                product_rates(box);
            } else if (lanes) {
                const double whole = std::round(*lanes);
                if (std::abs(*lanes - whole) < 0.05 * whole && whole <= 512) box.cells = static_cast<int>(whole);
                box.lines.push_back(box.cells > 0 ? fmt::format("{} lane{}", box.cells, box.cells == 1 ? "" : "s")
                                                  : fmt::format("{:.3g} operations/cycle", *lanes));
            } else {
                line(box, path + "lanes");
            }
            more(box, path + "latency");
            if (const int parts = scheduler_count(); parts > 1 && box.cells > 0 && box.cells % parts == 0)
                box.groups = parts;
            if (!box.lines.empty()) row.push_back(box);
        }
        std::sort(row.begin(), row.end(), [](const Box& a, const Box& b) { return a.cells > b.cells; });
        return row;
    }

    /// The rates of FP16 products, in operations: a product is no operation of a thread.
    void product_rates(Box& box) const {
        for (const auto& rate : tensor_rates(facts_))
            if (rate.type == "FP16")
                box.lines.push_back(fmt::format("{:.0f} {}/cycle, {}", rate.per_cycle, rate.unit(),
                                                rate.instruction.substr(0, rate.instruction.find('.'))));
    }

    [[nodiscard]] BoxRow registers() const {
        Box box{.title = "Register file", .kind = "store", .link = "gpu"};
        if (const auto count = facts_.number("topology.registers_per_sm"))
            box.lines.push_back(number_text(4 * *count, machine::Unit::bytes));
        line(box, "topology.registers_per_sm", "", " registers");
        line(box, "topology.register_partitions", "partitions: ");
        line(box, "topology.max_registers_per_thread", "up to ", " a thread");
        return box.lines.empty() ? BoxRow{} : BoxRow{box};
    }

    [[nodiscard]] BoxRow shared_memory() const {
        if (facts_.has("shared.capacity", Knowledge::absent)) return {};
        Box box{.title = "Shared memory", .kind = "store", .link = "shared"};
        const auto cache = unified();
        if (!cache.empty()) {
            box.title = fmt::format("{} and shared memory: one storage", shown_name(cache));
            add_cache(box, cache, shown_name(cache) + ": ");
        }
        line(box, "shared.capacity", cache.empty() ? "" : "shared memory: ");
        if (const auto cycles = facts_.text("shared.latency"); !cache.empty() && !box.lines.empty() && !cycles.empty())
            box.lines.back() += ", " + cycles;
        else
            latency(box, "shared.latency");
        line(box, "shared.bytes_per_cycle");
        if (const auto banks = facts_.number("shared.banks"); banks && *banks >= 1 && *banks <= 128)
            box.cells = static_cast<int>(*banks);
        const auto width = facts_.text("shared.bank_width");
        line(box, "shared.banks", "", width.empty() ? " banks" : " banks of " + width);
        return box.lines.empty() ? BoxRow{} : BoxRow{box};
    }

    /// The cache that is one storage with shared memory; empty where there is none.
    [[nodiscard]] std::string unified() const {
        const auto key = facts_.text("shared.unified_cache");
        return machine_.caches.contains(key) ? key : "";
    }

    /// The paths on which the cache, or another name of its storage, lies.
    [[nodiscard]] std::vector<std::string> paths_of(const std::string& cache) const {
        std::vector<std::string> paths;
        for (const auto& [name, path] : machine_.paths) {
            if (!path.caches.known()) continue;
            const auto& caches = path.caches.value;
            if (std::ranges::any_of(caches, [&](const auto& key) { return storage_of(machine_, key) == cache; }))
                paths.push_back(name);
        }
        return paths;
    }
    /// How the cache is shared; empty where that is said by its frame.
    [[nodiscard]] std::string doubt(const Scope& scope, const std::string& key) const {
        if (scope.sure || scope.where == "gpu") return {};
        if (scope.where == "sm") return "sharers unknown";
        return facts_.has(fmt::format("caches.{}.scope", key), Knowledge::undecided) ? "sharers not certain" : "";
    }

    /// Ways, sets and, where that is more than the capacity, the bytes that the tags are for.
    [[nodiscard]] std::string geometry(const std::string& path) const {
        const auto ways = facts_.text(path + "ways"), sets = facts_.text(path + "sets");
        if (ways.empty() || sets.empty()) return {};
        const auto tags = bytes_of_tags(facts_, path), capacity = facts_.number(path + "capacity");
        const bool more = tags && capacity && *tags > *capacity;
        return fmt::format("{} ways x {} sets{}", ways, sets,
                           more ? ": tags for " + number_text(*tags, machine::Unit::bytes) : "");
    }

    /// Adds the lines of a cache. `before` precedes its size where another storage is in the same box.
    void add_cache(Box& box, const std::string& key, const std::string& before = "") const {
        const auto path = fmt::format("caches.{}.", key);
        const auto partitions = facts_.number(path + "partitions");
        const bool parted = partitions && *partitions > 1;
        line(box, path + "capacity", before.empty() && open(path + "capacity") ? "size " : before,
             parted ? " seen by an SM" : "");
        if (const auto cycles = facts_.text(path + "latency");
            (parted || !before.empty()) && !box.lines.empty() && !cycles.empty())
            box.lines.back() += ", " + cycles;
        else
            latency(box, path + "latency");
        if (parted) add_total(box, key, *partitions);
        line(box, path + "line", "lines of ");
        if (const auto text = geometry(path); !text.empty()) box.lines.push_back(text);
        more(box, path + "policy");
        for (const auto& other : also_seen_as(machine_, key)) {
            const auto name = shown_name(other);
            const auto cycles = facts_.text(fmt::format("caches.{}.latency", other));
            box.lines.push_back(fmt::format("{} path: {}", name.substr(0, name.rfind(" L")),
                                            cycles.empty() || cycles == "undecided" ? "latency undecided" : cycles));
        }
    }
    void add_total(Box& box, const std::string& key, double partitions) const {
        if (const auto all = bytes_in_all(traces_, key))
            box.lines.push_back(range_text((*all)[0], (*all)[1], machine::Unit::bytes) + " in all");
        else if (const auto least = least_in_all(facts_, key))
            box.lines.push_back("at least " + number_text(*least, machine::Unit::bytes) + " in all");
        box.lines.push_back(fmt::format("{:.0f} partitions", partitions));
        line(box, fmt::format("caches.{}.far_latency", key), "far one: ");
    }

    [[nodiscard]] BoxRow caches_in(std::string_view place) const {
        BoxRow row;
        for (const auto& [key, cache] : machine_.caches) {
            const auto path = fmt::format("caches.{}.", key);
            const auto scope = scope_of(machine_, key);
            if ((scope.where == "scheduler" ? "sm" : scope.where) != place || key == unified() ||
                storage_of(machine_, key) != key || facts_.has(path + "capacity", Knowledge::absent))
                continue;
            Box box{.title = shown_name(key), .kind = "cache", .link = "caches"};
            add_cache(box, key);
            // Another path to the storage has a line of its own.
            if (const auto paths = paths_of(key); paths.size() > 1 && also_seen_as(machine_, key).empty())
                box.lines.push_back("for " + joined(paths));
            if (scope.where == "scheduler") box.lines.emplace_back("one for each scheduler");
            if (const auto text = doubt(scope, key); !text.empty() && !box.lines.empty()) box.lines.push_back(text);
            if (!box.lines.empty()) row.push_back(box);
        }
        return row;
    }
    static std::string joined(const std::vector<std::string>& names) {
        std::string out;
        for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
        return out;
    }

    [[nodiscard]] BoxRow tlbs() const {
        BoxRow row;
        for (const auto& [key, tlb] : machine_.tlbs) {
            const auto path = fmt::format("tlbs.{}.", key);
            if (facts_.has(path + "reach", Knowledge::absent)) continue;
            Box box{.title = shown_name(key), .kind = "translation", .link = "translation"};
            line(box, path + "reach", "reaches ");
            const auto span = facts_.text(path + "span");
            line(box, path + "entries", "", span.empty() ? " entries" : " entries of " + span);
            line(box, path + "miss_penalty", "a miss adds ");
            if (!box.lines.empty()) row.push_back(box);
        }
        return row;
    }

    [[nodiscard]] BoxRow dram() const {
        Box latencies{.title = "DRAM latency", .kind = "memory", .link = "caches"},
            rates{.title = "DRAM bandwidth", .kind = "memory", .link = "memory"};
        const bool any = std::any_of(machine_.paths.begin(), machine_.paths.end(),
                                     [](const auto& path) { return path.second.memory_latency.known(); });
        for (const auto& [name, path] : machine_.paths)
            if (const auto leaf = fmt::format("paths.{}.memory_latency", name); !any || !open(leaf))
                line(latencies, leaf, name + ": ");
        line(rates, "memory.read_bandwidth", "reads ");
        line(rates, "memory.copy_bandwidth", "copies ");
        line(rates, "memory.peak_bandwidth", "pins ");
        BoxRow row;
        for (auto& box : {latencies, rates})
            if (!box.lines.empty()) row.push_back(box);
        return row;
    }

    const machine::Machine& machine_;
    const Facts& facts_;
    const std::vector<results::Trace>& traces_;
};

}  // namespace

std::string picture(const machine::Machine& machine, const Facts& facts, const std::vector<results::Trace>& traces,
                    double width) {
    return draw(Painter(machine, facts, traces).frames(), width,
                "The GPU: one SM, its caches, what SMs share, address translation and memory");
}

}  // namespace gputomo::report
