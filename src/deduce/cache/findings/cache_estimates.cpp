#include "deduce/cache/findings/cache_estimates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::deduce {
namespace {

void add(std::vector<results::Estimate>& to, const std::string& path, const Finding& finding,
         const std::string& method) {
    if (finding.confidence <= 0 && finding.candidates.empty()) return;
    results::Estimate estimate;
    estimate.path = path;
    estimate.method = method;
    estimate.confidence = finding.confidence;
    estimate.value = finding.value;
    estimate.interval = {static_cast<double>(finding.bracket[0]), static_cast<double>(finding.bracket[1])};
    if (finding.confidence <= kBracketedConfidence) estimate.knowledge = results::Knowledge::undecided;
    if (!finding.candidates.empty()) {
        estimate.knowledge = results::Knowledge::undecided;
        estimate.candidates.assign(finding.candidates.begin(), finding.candidates.end());
    }
    to.push_back(std::move(estimate));
}

void add(std::vector<results::Estimate>& to, const std::string& path, results::Value value, double confidence,
         const std::string& method) {
    to.push_back({.path = path, .value = std::move(value), .method = method, .confidence = confidence});
}

/// Longest sequence that is written out, in characters: about 20 loads for 16 ways take 60.
constexpr std::size_t kMaxWritten = 240;

/// What speaks against the policies, a sentence for each.
std::string rejections_note(const std::vector<PolicyRejection>& rejections) {
    std::string note;
    bool sequences = false;
    for (const auto& r : rejections) {
        sequences = sequences || !r.sequence.empty();
        const auto loads = std::ranges::count(r.sequence, ' ') + 1;
        const std::string sequence =
            r.sequence.size() <= kMaxWritten ? r.sequence : fmt::format("a sequence of {} loads", loads);
        note += r.sequence.empty() ? fmt::format(". {} is out: {}", r.policy, r.reason)
                                   : fmt::format(". {} is out: in {}, {}", r.policy, sequence, r.reason);
    }
    if (sequences) note += ". Sequences name the lines of one set in order of appearance; * marks a miss";
    return note;
}

std::string policy_note(const PolicyFinding& policy) {
    std::string note;
    // A rejected policy has a sentence of its own. Its share would mislead: a policy that allows several victims
    // explains more of them than one that names each.
    for (const auto& [name, share] : policy.agreement)
        if (std::ranges::find(policy.rejections, name, &PolicyRejection::policy) == policy.rejections.end())
            note += fmt::format("{}{} explains {:.1f}%", note.empty() ? "" : ", ", name, share * 100);
    if (!policy.evidence.empty()) note = note.empty() ? policy.evidence : policy.evidence + "; " + note;
    return note + rejections_note(policy.rejections);
}

void add_policy(std::vector<results::Estimate>& to, const PolicyFinding& policy, const std::string& prefix,
                const std::string& method) {
    if (policy.name.empty() && policy.candidates.empty()) return;
    results::Estimate estimate{.path = prefix + ".policy",
                               .method = method + ": candidates explain which lines a full set evicts",
                               .confidence = policy.confidence,
                               .note = policy_note(policy)};
    if (policy.name.empty()) {
        estimate.knowledge = results::Knowledge::undecided;
        estimate.candidates.assign(policy.candidates.begin(), policy.candidates.end());
    } else {
        estimate.value = policy.name;
    }
    to.push_back(std::move(estimate));
}

void add_set_ways(std::vector<results::Estimate>& to, const CacheFindings& findings, const std::string& prefix,
                  const std::string& method) {
    if (!findings.set_ways.empty())
        add(to, prefix + ".set_ways", findings.set_ways, findings.ways.confidence,
            method + ": lines that are resident together, set by set");
}

constexpr auto kPredicted = ": eviction sets; confidence from predictions about unseen groups of lines";

}  // namespace

std::vector<results::Estimate> cache_estimates(const CacheFindings& findings, const std::string& prefix,
                                               const std::string& method) {
    std::vector<results::Estimate> estimates;
    const double confidence = findings.ways.confidence;
    add(estimates, prefix + ".sector", findings.sector,
        method + ": distance of the misses when words are read in order");
    add(estimates, prefix + ".capacity", findings.capacity,
        method + (confidence > 0 ? kPredicted : ": largest array read without misses"));
    add(estimates, prefix + ".line", findings.line,
        method + (confidence > 0 ? ": distance at which a neighbour of a full set's line needs another way"
                                 : ": neighbours before and after a load that its miss brings"));
    add(estimates, prefix + ".ways", findings.ways, method + kPredicted);
    add(estimates, prefix + ".sets", findings.sets, method + kPredicted);
    add_set_ways(estimates, findings, prefix, method);
    if (!findings.index.empty())
        add(estimates, prefix + ".index", findings.index, confidence, method + ": which lines share a set");
    if (!findings.index_bits.empty())
        add(estimates, prefix + ".index_bits", findings.index_bits, confidence,
            method + ": address bits that change the set");
    if (!findings.index_hash.empty())
        add(estimates, prefix + ".index_hash", findings.index_hash, confidence,
            method + ": combinations of address bits that leave the set unchanged, by linear algebra over GF(2)");
    add_policy(estimates, findings.policy, prefix, method);
    if (!findings.policy.odds.empty())
        add(estimates, prefix + ".way_odds", findings.policy.odds, findings.policy.confidence,
            method + ": victims counted by way");
    return estimates;
}

std::vector<results::Estimate> tlb_estimates(const CacheFindings& findings, const std::string& prefix,
                                             const std::string& method) {
    std::vector<results::Estimate> estimates;
    add(estimates, prefix + ".span", findings.line,
        method + ": distance at which a neighbour of a full set's entry needs another way");
    add(estimates, prefix + ".reach", findings.capacity,
        method + (findings.ways.confidence > 0 ? kPredicted : ": largest range read without misses"));
    add(estimates, prefix + ".ways", findings.ways, method + kPredicted);
    add(estimates, prefix + ".sets", findings.sets, method + kPredicted);
    add_set_ways(estimates, findings, prefix, method);
    if (findings.sets.confidence > 0) {
        Finding entries = findings.capacity;
        entries.value /= findings.line.value;
        entries.bracket = {entries.value, entries.value};
        add(estimates, prefix + ".entries", entries, method + ": reach / span");
    }
    add_policy(estimates, findings.policy, prefix, method);
    return estimates;
}

}  // namespace gputomo::deduce
