// Tests of the shipped papers: they are complete, and no row agrees whatever the GPU is like.
#include "fakes.hpp"
#include "measure/mix/mix_sweeps.hpp"
#include "measure/mix/mix_throughput.hpp"
#include "models/model.hpp"
#include "reproduce/measured/mixes.hpp"
#include "reproduce/papers/agreement.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ostream>
#include <regex>
#include <set>

namespace gputomo::reproduce {
namespace {

using testing::machine_of;
using testing::perfect;
using testing::shipped_papers;

class Shipped : public ::testing::Test {
protected:
    const std::vector<Paper> papers_ = shipped_papers();
};

/// Other values that the leaf could have.
std::vector<results::Value> others(const results::Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return {*integer * 2 + 1, *integer / 5 - 1, *integer * 9 + 1};
    if (const auto* real = std::get_if<double>(&value)) return {*real * 2.1, *real / 5.3};
    if (std::holds_alternative<std::string>(value)) return {std::string("another"), std::string("lru")};
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
        auto more = *texts;
        for (const auto* name : {"another", "sfu", "constant_l1"}) more.emplace_back(name);
        return {more, std::vector<std::string>{}};
    }
    if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
        std::vector<std::int64_t> reversed(integers->rbegin(), integers->rend()), doubled;
        for (const auto integer : *integers) doubled.push_back(2 * integer + 1);
        return {reversed, doubled, std::vector<std::int64_t>(integers->size(), 3)};
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&value))
        return {std::vector<double>(reals->size(), 0.25), std::vector<double>{0.9, 0.1}};
    return {};
}

using Findings = std::map<std::string, std::vector<results::Estimate>>;

Findings perfect(const Paper& paper) {
    Findings findings;
    for (const auto& [name, gpu] : paper.gpus) findings[name] = perfect(machine_of(gpu));
    return findings;
}

bool agrees_with(const Entry& entry, const Findings& findings) {
    Scans scans;
    for (const auto& [name, estimates] : findings) scans[name] = testing::scan_with(estimates);
    return rows_of({&entry}, scans).front().agrees;
}

/// Whether the row stops agreeing when one of the leaves that it reads has another value.
bool can_fail(const Entry& entry, Findings findings) {
    const auto& gpu = entry.on.front();
    if (!agrees_with(entry, findings)) return true;
    for (auto& finding : findings.at(gpu)) {
        if (!entry.recipe->expression.reads_of(gpu, gpu).leaves.contains(finding.path)) continue;
        const auto truth = finding.value;
        for (const auto& other : others(truth)) {
            finding.value = other;
            if (!agrees_with(entry, findings)) return true;
        }
        finding.value = truth;
        if (entry.recipe->expression.text().find("known(") == std::string::npos) continue;
        finding.knowledge = results::Knowledge::undecided;
        if (!agrees_with(entry, findings)) return true;
        finding.knowledge = results::Knowledge::known;
    }
    return false;
}

bool reads_traces(const Entry& entry) {
    const auto& reads = entry.recipe->expression.reads();
    return std::any_of(reads.begin(), reads.end(),
                       [](const auto& of) { return !of.second.experiments.empty() || !of.second.kernels.empty(); });
}

/// What a paper's file holds: entries, those with a recipe, and rows (a recipe has one for each GPU it is tried on).
struct Counts {
    std::size_t entries = 0, recipes = 0, rows = 0;
    bool operator==(const Counts&) const = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
    *out << counts.entries << " entries, " << counts.recipes << " recipes, " << counts.rows << " rows";
}

Counts counts_of(const Paper& paper) {
    Counts counts{.entries = paper.entries.size()};
    std::vector<const Entry*> tried;
    for (const auto& entry : paper.entries)
        if (entry.recipe) tried.push_back(&entry);
    counts.recipes = tried.size();
    counts.rows = rows_of(tried, {}).size();
    return counts;
}

/// A row that is dropped, or no longer tried on one of its GPUs, would not show in the share of rows that agree.
TEST_F(Shipped, PapersHaveAllTheirEntriesAndRows) {
    const std::map<std::string, Counts> expected{{"wong2010", {319, 273, 273}},
                                                 {"mei2014", {153, 124, 152}},
                                                 {"lashgar2015", {96, 53, 57}},
                                                 {"volkov2016", {924, 785, 1048}}};
    std::map<std::string, Counts> found;
    for (const auto& paper : papers_) found[paper.id] = counts_of(paper);
    EXPECT_EQ(found, expected) << "a paper that gains entries needs larger numbers here";
}

TEST_F(Shipped, GpusAreDescribed) {
    for (const auto& paper : papers_)
        for (const auto& [name, gpu] : paper.gpus)
            EXPECT_NO_THROW(machine::validate(machine_of(gpu), name)) << paper.id;
}

TEST_F(Shipped, NothingAgreesWhereNothingWasMeasured) {
    for (const auto& paper : papers_)
        for (const auto& entry : paper.entries) {
            if (!entry.recipe) continue;
            if (entry.recipe->expression.asks_models()) continue;  // some have printed parameters only
            EXPECT_FALSE(entry.recipe->expression.reads().empty()) << entry.id;
            for (const auto& row : rows_of({&entry}, {})) {
                EXPECT_FALSE(row.agrees) << entry.id;
                EXPECT_TRUE(row.reproduced.is_null()) << entry.id;
            }
        }
}

TEST_F(Shipped, EveryRowOfLeavesCanFail) {
    for (const auto& paper : papers_) {
        const auto findings = perfect(paper);
        for (const auto& entry : paper.entries)
            if (entry.recipe && !reads_traces(entry) && !entry.recipe->expression.asks_models()) {
                EXPECT_TRUE(can_fail(entry, findings)) << entry.id << ": " << entry.recipe->expression.text();
            }
    }
}

/// Whether the row agrees with each of its models replaced by `another`.
bool agrees_with_another(Entry entry, std::string_view another, const Findings& findings) {
    std::string text = entry.recipe->expression.text();
    for (const auto& id : entry.recipe->expression.models()) {
        const std::string quoted = fmt::format("'{}'", id), replacement = fmt::format("'{}'", another);
        for (auto at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + 1))
            text.replace(at, quoted.size(), replacement);
    }
    entry.recipe->expression = Expression(text);
    try {
        return agrees_with(entry, findings);
    } catch (const InputError&) {  // another model has no such quantity
        return false;
    }
}

TEST_F(Shipped, EveryRowOfModelsHoldsWithItsModelAndNotWithAnother) {
    std::size_t rows = 0;
    for (const auto& paper : papers_) {
        const auto findings = perfect(paper);
        for (const auto& entry : paper.entries) {
            if (!entry.recipe || entry.recipe->expression.models().empty()) continue;
            ++rows;
            // The roofline model knows no latency, and Agarwal's no bandwidth. A row with which all agree tests
            // nothing.
            const auto passes = [&](std::string_view another) {
                return entry.recipe->expression.models().contains(std::string(another)) ||
                       agrees_with_another(entry, another, findings);
            };
            EXPECT_FALSE(passes("roofline") && passes("agarwal") && passes("volkov-basic"))
                << entry.id << ": " << entry.recipe->expression.text();
        }
    }
    EXPECT_GE(rows, 60u);
}

/// Whether the row agrees with another expression or other listings.
bool agrees_with(Entry entry, const std::string& text, const Listings& listings, const Findings& findings) {
    entry.recipe->expression = Expression(text, listings);
    return agrees_with(entry, findings);
}

/// Variants of the listings that the text names: each lacks one instruction, or has one in its place on which nothing
/// depends.
std::vector<Listings> with_one_instruction_less(const std::string& text, const Listings& listings) {
    std::vector<Listings> all;
    for (const auto& [name, code] : listings) {
        if (text.find("'" + name + "'") == std::string::npos) continue;
        for (std::size_t begin = 0, end = 0; begin < code.size(); begin = end + 1) {
            end = std::min(code.find('\n', begin), code.size());
            if (code[end - 1] == ':') continue;  // a label
            for (const auto* other : {"", "MOV R90, RZ"}) {
                all.push_back(listings);
                all.back()[name].replace(begin, end - begin, other);
            }
        }
    }
    return all;
}

/// Variants of the text: each has another number in place of one of its own.
std::vector<std::string> with_another_number(const std::string& text) {
    std::vector<std::string> all;
    const std::regex numbers(R"([^\w.'](\d+))");
    for (std::sregex_iterator found(text.begin(), text.end(), numbers), end; found != end; ++found) {
        const auto number = std::stoll((*found)[1].str());
        for (const auto other : {number + 1, number + 4, number / 2}) {
            all.push_back(text);
            all.back().replace(static_cast<std::size_t>(found->position(1)), static_cast<std::size_t>(found->length(1)),
                               std::to_string(other));
        }
    }
    return all;
}

TEST_F(Shipped, EveryRowOfPredictionsHoldsAndCanFail) {
    std::size_t rows = 0;
    for (const auto& paper : papers_) {
        const auto findings = perfect(paper);
        for (const auto& entry : paper.entries) {
            if (!entry.recipe || reads_traces(entry) || !entry.recipe->expression.asks_models() ||
                !entry.recipe->expression.models().empty())
                continue;
            ++rows;
            const auto& text = entry.recipe->expression.text();
            EXPECT_TRUE(agrees_with(entry, findings)) << entry.id << ": " << text;
            const auto differs = [&](const std::string& other_text, const Listings& listings) {
                try {
                    return !agrees_with(entry, other_text, listings, findings);
                } catch (const InputError&) {  // nothing to compare: the row asks about the instruction that is gone
                    return false;
                }
            };
            const bool can_fail = std::ranges::any_of(with_one_instruction_less(text, paper.listings),
                                                      [&](const auto& listings) { return differs(text, listings); }) ||
                                  std::ranges::any_of(with_another_number(text), [&](const auto& other) {
                                      return differs(other, paper.listings);
                                  });
            EXPECT_TRUE(can_fail) << entry.id << ": " << text;
        }
    }
    EXPECT_GE(rows, 60u);
}

using Throughput = std::function<double(const models::Parameters&, const models::Mix&, double warps)>;

void add_curve(scan::Scan& scan, std::string_view experiment, std::string name, const Throughput& throughput,
               const models::Parameters& p, double alpha, double ops = 1) {
    results::Trace trace{.name = std::move(name), .experiment = std::string(experiment)};
    trace.columns = {{"warps", "", {}}, {"rate", "", {}}, {"latency", "", {}}};
    for (const int warps : measure::mix_occupancies(p.schedulers, p.max_warps)) {
        const double rate = throughput(p, {.alpha = alpha}, warps);
        trace.columns[0].values.push_back(warps);
        trace.columns[1].values.push_back(rate * ops);
        trace.columns[2].values.push_back(warps / rate);
    }
    scan::Record record{.id = std::string(experiment), .status = scan::Status::done};
    record.outcome.traces.push_back(std::move(trace));
    scan.records.push_back(std::move(record));
}

/// Adds findings of a memory whose latency grows with load, with a limit a tenth above its best rate.
void add_contention(scan::Scan& scan, const models::Parameters& p) {
    scan.findings.add(testing::decided("memory.contention_base", p.memory.latency));
    scan.findings.add(testing::decided("memory.contention_slopes", std::vector<double>{p.memory.latency / 10}));
    scan.findings.add(
        testing::decided("memory.contention_limits", std::vector<double>{1.1 * p.bandwidth(p.memory.throughput)}));
}

/// Scans of the paper's GPUs that find what is described, and that measure mixes with these throughputs.
Scans scans_with(const Paper& paper, const Entry& entry, const Throughput& throughput) {
    Scans scans;
    for (const auto& [name, gpu] : paper.gpus) {
        const auto machine = machine_of(gpu);
        auto& scan = scans[name] = testing::scan_with(perfect(machine));
        add_contention(scan, models::parameters_of(machine));
        const auto found = scan::describe(scan);  // curves add no estimate
        const auto parameters = [&](models::Access access) { return models::parameters_of(found, access); };
        for (const auto& mix : mixes_for({&entry}, name))
            add_curve(scan, kMixRecord, mix_trace_name(mix), throughput, parameters(models::access_named(mix.access)),
                      mix.alpha);
        for (const auto* loads : {"occupancy/stream", "occupancy/stream_ilp2", "occupancy/stream_ilp4"})
            add_curve(scan, "occupancy", loads, throughput, parameters(models::Access::global), 0, 32);
        add_curve(scan, "occupancy", "occupancy/smem", throughput, parameters(models::Access::shared), 0, 32);
        add_curve(scan, "occupancy", "occupancy/sfu", throughput, parameters(models::Access::sfu), 0, 32);
        add_curve(scan, "occupancy", "occupancy/add", throughput, parameters(models::Access::global),
                  models::Mix::kArithmeticOnly, 32);
    }
    return scans;
}

Throughput as_says(std::string_view model) {
    return [model](const auto& p, const auto& mix, double warps) {
        return models::solve(models::find_model(model), p, mix, warps).instructions_per_cycle;
    };
}

TEST_F(Shipped, EveryRowOfMixesCanFail) {
    const Throughput worlds[] = {
        as_says("volkov-basic"),
        as_says("volkov-contention"),
        as_says("huang-rr"),
        [](const auto& p, const auto& mix, double) { return models::peak_instructions_per_cycle(p, mix); },
        [](const auto& p, const auto& mix, double warps) {  // mixes lose what neither instruction loses alone
            return (mix.alpha > 0 && std::isfinite(mix.alpha) ? 0.05 : 1) *
                   models::solve(models::find_model("volkov-basic"), p, mix, warps).instructions_per_cycle;
        },
    };
    std::size_t rows = 0;
    for (const auto& paper : papers_)
        for (const auto& entry : paper.entries) {
            if (!entry.recipe || !std::ranges::any_of(entry.recipe->expression.reads(),
                                                      [](const auto& of) { return !of.second.mixes.empty(); }))
                continue;
            ++rows;
            bool differs = false, measured = false;
            for (const auto& world : worlds) {
                const auto row = rows_of({&entry}, scans_with(paper, entry, world)).front();
                differs |= !row.agrees;
                measured |= !row.reproduced.is_null();
                if (differs && measured) break;
            }
            EXPECT_TRUE(differs) << entry.id << ": " << entry.recipe->expression.text();
            EXPECT_TRUE(measured) << entry.id << " is never measured";
        }
    EXPECT_GE(rows, 50u);
}

}  // namespace
}  // namespace gputomo::reproduce
