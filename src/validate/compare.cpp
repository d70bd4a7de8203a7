#include "validate/compare.hpp"

#include "machine/diff.hpp"
#include "machine/paths.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace gputomo::validate {
namespace {

using machine::Knowledge;
using machine::Leaf;
using machine::Machine;

/// Relative tolerance of reals. They come from measured times, and no scan measures those better than this.
constexpr double kRealTolerance = 0.01;
/// Cycles that the ends of a range may be off: each end is the reading of a single SM or partition.
constexpr std::int64_t kRangeTolerance = 1;

using Names = std::map<std::string, std::string>;

/// Maps scanned names to true names, by their place on the paths that both describe.
Names align(const Machine& truth, const Machine& scanned, machine::Texts machine::Path::*list) {
    Names names;
    for (const auto& [key, path] : truth.paths) {
        const auto theirs = scanned.paths.find(key);
        if (theirs == scanned.paths.end() || !(path.*list) || !(theirs->second.*list)) continue;
        const auto& mine = (path.*list).value;
        const auto& other = (theirs->second.*list).value;
        for (std::size_t i = 0; i < std::min(mine.size(), other.size()); ++i) names.emplace(other[i], mine[i]);
    }
    return names;
}

template <class Part>
std::map<std::string, Part> renamed(const std::map<std::string, Part>& parts, const Names& names) {
    std::set<std::string> taken;
    for (const auto& [from, to] : names) taken.insert(to);
    std::map<std::string, Part> result;
    for (const auto& [key, part] : parts) {
        const auto name = names.find(key);
        // A part that only the scan has must not replace a matched one that the truth calls by the same name.
        if (name != names.end())
            result.insert_or_assign(name->second, part);
        else
            result.emplace(taken.contains(key) ? key + "-further" : key, part);
    }
    return result;
}

void rename_list(machine::Texts& list, const Names& names) {
    for (auto& name : list.value)
        if (const auto found = names.find(name); found != names.end()) name = found->second;
}

/// The scanned machine with its caches and TLBs under the names of the truth.
Machine aligned(const Machine& truth, Machine scanned) {
    const Names caches = align(truth, scanned, &machine::Path::caches);
    const Names tlbs = align(truth, scanned, &machine::Path::tlbs);
    scanned.caches = renamed(scanned.caches, caches);
    scanned.tlbs = renamed(scanned.tlbs, tlbs);
    for (auto& [key, path] : scanned.paths) {
        rename_list(path.caches, caches);
        rename_list(path.tlbs, tlbs);
    }
    return scanned;
}

bool same(const machine::Value& truth, const machine::Value& scanned, std::string_view leaf, std::int64_t tolerance) {
    if (const auto* text = std::get_if<std::string>(&truth); text != nullptr && leaf == "policy") {
        const auto* other = std::get_if<std::string>(&scanned);
        return other != nullptr && (*text == *other || (*other == "not-lru" && *text != "lru"));
    }
    if (const auto* real = std::get_if<double>(&truth)) {
        const auto* other = std::get_if<double>(&scanned);
        return other != nullptr && std::abs(*real - *other) <= kRealTolerance * std::abs(*real);
    }
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&truth);
        list != nullptr && leaf.ends_with("_range")) {
        const auto* other = std::get_if<std::vector<std::int64_t>>(&scanned);
        return other != nullptr &&
               std::equal(list->begin(), list->end(), other->begin(), other->end(), [tolerance](auto a, auto b) {
                   return std::abs(a - b) <= std::max(tolerance, kRangeTolerance);
               });
    }
    if (const auto* integer = std::get_if<std::int64_t>(&truth); integer != nullptr && tolerance > 0) {
        const auto* other = std::get_if<std::int64_t>(&scanned);
        return other != nullptr && std::abs(*integer - *other) <= tolerance;
    }
    return truth == scanned;
}

/// Cycles that a value may be off: half a step of the clock. The leaf launch.block_replacement may be off by a step or
/// 1%, because it is a single interval between two clock readings.
std::int64_t tolerance_of(const Machine& truth, const machine::NamedLeaf& leaf) {
    if (leaf.info.unit != machine::Unit::cycles || leaf.path.starts_with("clock.")) return 0;
    const std::int64_t step = truth.clock.resolution.value_or(1);
    if (leaf.info.name != "block_replacement") return step / 2;
    const auto* gap = std::get_if<std::int64_t>(&leaf.leaf.value);
    return std::max(step, gap == nullptr ? 0 : *gap / 100);
}

Verdict judge(const Leaf& truth, const Leaf& scanned, std::string_view leaf, std::int64_t tolerance) {
    if (scanned.knowledge == Knowledge::unknown) return Verdict::missing;
    if (scanned.knowledge == Knowledge::undecided) {
        if (scanned.candidates.empty()) return Verdict::undecided;
        const bool has_truth =
            truth.knowledge == Knowledge::known &&
            std::any_of(scanned.candidates.begin(), scanned.candidates.end(),
                        [&](const auto& candidate) { return same(truth.value, candidate, leaf, tolerance); });
        return has_truth ? Verdict::undecided : Verdict::wrong;
    }
    if (truth.knowledge != scanned.knowledge) return Verdict::wrong;
    return truth.knowledge == Knowledge::absent || same(truth.value, scanned.value, leaf, tolerance) ? Verdict::exact
                                                                                                     : Verdict::wrong;
}

/// "caches.l1.ways" -> "caches.*.ways"
std::string parameter_of(const std::string& path, std::string_view leaf) {
    const std::string section = path.substr(0, path.find_first_of(".["));
    const bool has_key = path.size() > section.size() + 1 + leaf.size();
    return section + (has_key ? ".*." : ".") + std::string(leaf);
}

/// The cache or TLB that a path belongs to, as "caches.l1" or "tlbs.global_l1"; empty for other paths.
std::string part_of(const std::string& path) {
    if (!path.starts_with("caches") && !path.starts_with("tlbs")) return {};
    return path.substr(0, path.find_last_of('.'));
}

std::set<std::string> parts_of(const Machine& machine) {
    std::set<std::string> parts;
    for (const auto& leaf : machine::all_leaves(machine)) parts.insert(part_of(leaf.path));
    return parts;
}

/// The verdict on a leaf of a cache or TLB that the truth does not have.
Verdict verdict_of_surplus(const Leaf& scanned) {
    if (scanned.knowledge == Knowledge::absent) return Verdict::exact;
    return scanned.knowledge == Knowledge::undecided ? Verdict::undecided : Verdict::wrong;
}

/// Whether the leaf is the replacement policy of a single way, which has no choice.
bool means_nothing(const Machine& truth, const machine::NamedLeaf& leaf) {
    if (leaf.info.name != "policy") return false;
    const auto ways = machine::get_leaf(truth, part_of(leaf.path) + ".ways");
    return ways && ways->knowledge == Knowledge::known && ways->value == machine::Value(std::int64_t{1});
}

}  // namespace

std::vector<Comparison> compare(const Machine& truth, const Machine& scanned) {
    const Machine theirs = aligned(truth, scanned);
    std::vector<Comparison> comparisons;
    const auto row = [&](const machine::NamedLeaf& leaf, Verdict verdict, const Leaf& mine, const Leaf& other) {
        comparisons.push_back({leaf.path, parameter_of(leaf.path, leaf.info.name), verdict, machine::value_text(mine),
                               machine::value_text(other)});
    };
    for (const auto& leaf : machine::all_leaves(truth)) {
        if (!leaf.info.internal.empty() || means_nothing(truth, leaf)) continue;
        const Leaf other = machine::get_leaf(theirs, leaf.path).value_or(Leaf{});
        row(leaf, judge(leaf.leaf, other, leaf.info.name, tolerance_of(truth, leaf)), leaf.leaf, other);
    }
    const Leaf nothing{Knowledge::absent, {}, {}, {}};
    const auto real_parts = parts_of(truth);
    for (const auto& leaf : machine::all_leaves(theirs)) {
        const std::string part = part_of(leaf.path);
        if (!leaf.info.internal.empty() || part.empty() || real_parts.contains(part)) continue;
        row(leaf, verdict_of_surplus(leaf.leaf), nothing, leaf.leaf);
    }
    return comparisons;
}

void add(Tallies& tallies, const std::vector<Comparison>& comparisons) {
    for (const auto& comparison : comparisons) {
        Tally& tally = tallies[comparison.parameter];
        switch (comparison.verdict) {
            case Verdict::exact: ++tally.exact; break;
            case Verdict::undecided: ++tally.undecided; break;
            case Verdict::wrong: ++tally.wrong; break;
            case Verdict::missing: ++tally.missing; break;
        }
    }
}

Tallies covered(const Tallies& tallies) {
    Tallies result;
    for (const auto& [parameter, tally] : tallies)
        if (tally.missing != tally.total()) result.emplace(parameter, tally);
    return result;
}

Tally sum(const Tallies& tallies) {
    Tally all;
    for (const auto& [parameter, tally] : tallies) {
        all.exact += tally.exact;
        all.undecided += tally.undecided;
        all.wrong += tally.wrong;
        all.missing += tally.missing;
    }
    return all;
}

}  // namespace gputomo::validate
