#include "report/picture.hpp"

#include "report/boxes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace gputomo::report {
namespace {

using machine::Knowledge;

/// Longest line, in characters, with which two boxes fit side by side on a phone (340 units wide). Longer lines leave
/// one box in a row there.
constexpr std::size_t kShortLine = 21;

/// Turns a key into a title: "constant_l1" into "Constant L1".
std::string shown_name(std::string_view key) {
    std::string out(key);
    std::replace(out.begin(), out.end(), '_', ' ');
    for (std::size_t i = 0; i + 1 < out.size(); ++i)
        if ((i == 0 || out[i - 1] == ' ') && out[i] == 'l' && std::isdigit(static_cast<unsigned char>(out[i + 1])) != 0)
            out[i] = 'L';
    if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
    return out;
}

class Painter {
public:
    Painter(const machine::Machine& machine, const Facts& facts) : machine_(machine), facts_(facts) {}

    [[nodiscard]] std::vector<BoxFrame> frames() const {
        std::vector<BoxFrame> all;
        add(all, sm());
        add(all, {shared_by("TPC", facts_.text("topology.sms_per_tpc")), {caches_in("tpc")}});
        add(all, {shared_by("CPC", facts_.text("topology.sms_per_cpc")), {caches_in("cpc")}});
        add(all, {shared_by("GPC", facts_.text("topology.sms_per_gpc")), {caches_in("gpc")}});
        add(all, {"Shared by all SMs", {caches_in("gpu")}});
        add(all, {"Farther from the SM; which SMs share them is undecided", {caches_in("")}});
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
            if (const auto lanes = facts_.number(path + "lanes")) {
                const double whole = std::round(*lanes);
                if (std::abs(*lanes - whole) < 0.05 * whole && whole <= 512) box.cells = static_cast<int>(whole);
                box.lines.push_back(box.cells > 0 ? fmt::format("{} lane{}", box.cells, box.cells == 1 ? "" : "s")
                                                  : fmt::format("{:.3g} ops/cycle", *lanes));
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
        line(box, "shared.capacity");
        latency(box, "shared.latency");
        line(box, "shared.bytes_per_cycle");
        if (const auto banks = facts_.number("shared.banks"); banks && *banks >= 1 && *banks <= 128)
            box.cells = static_cast<int>(*banks);
        const auto width = facts_.text("shared.bank_width");
        line(box, "shared.banks", "", width.empty() ? " banks" : " banks of " + width);
        return box.lines.empty() ? BoxRow{} : BoxRow{box};
    }

    /// The paths that a cache serves, and whether it is the first cache on one of them.
    struct Use {
        std::vector<std::string> paths;
        bool first = false;
    };
    [[nodiscard]] Use use_of(const std::string& cache) const {
        Use use{.paths = {}, .first = cache.ends_with("l1")};  // by its name, where no path's order of caches is known
        for (const auto& [name, path] : machine_.paths) {
            if (!path.caches.known()) continue;
            const auto& caches = path.caches.value;
            const auto at = std::find(caches.begin(), caches.end(), cache);
            if (at == caches.end()) continue;
            use.paths.push_back(name);
            use.first |= at == caches.begin();
        }
        return use;
    }
    /// The frame to draw the cache in. A cache whose sharers are not known is drawn in the SM where it is the first on
    /// a path, otherwise in a frame of its own.
    [[nodiscard]] static std::string place_of(const machine::Cache& cache, const Use& use) {
        if (!cache.scope.known()) return use.first ? "sm" : "";
        return cache.scope.value == "scheduler" ? "sm" : cache.scope.value;
    }
    [[nodiscard]] BoxRow caches_in(std::string_view place) const {
        BoxRow row;
        for (const auto& [key, cache] : machine_.caches) {
            const auto use = use_of(key);
            const auto path = fmt::format("caches.{}.", key);
            if (place_of(cache, use) != place || facts_.has(path + "capacity", Knowledge::absent)) continue;
            Box box{.title = shown_name(key), .kind = "cache", .link = "caches"};
            line(box, path + "capacity", open(path + "capacity") ? "size " : "");
            latency(box, path + "latency");
            line(box, path + "line", "lines of ");
            const auto ways = facts_.text(path + "ways"), sets = facts_.text(path + "sets");
            if (!ways.empty() && !sets.empty()) box.lines.push_back(fmt::format("{} ways x {} sets", ways, sets));
            more(box, path + "policy");
            if (use.paths.size() > 1) box.lines.push_back("for " + joined(use.paths));
            if (place == "sm" && !cache.scope.known() && !box.lines.empty()) box.lines.emplace_back("sharers unknown");
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
};

}  // namespace

std::string picture(const machine::Machine& machine, const Facts& facts, double width) {
    return draw(Painter(machine, facts).frames(), width,
                "The GPU: one SM, its caches, what SMs share, address translation and memory");
}

}  // namespace gputomo::report
