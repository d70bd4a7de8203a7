// Makes scans with findings set by hand, and reads the shipped papers and machines from their files.
#pragma once

#include "machine/json.hpp"
#include "machine/paths.hpp"
#include "reproduce/papers/reproduce.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::reproduce::testing {

inline results::Estimate decided(std::string path, results::Value value) {
    return {.path = std::move(path), .value = std::move(value), .method = "by hand", .confidence = 1};
}

inline scan::Scan scan_with(const std::vector<results::Estimate>& estimates) {
    scan::Scan scan;
    for (const auto& estimate : estimates) scan.findings.add(estimate);
    return scan;
}

inline std::string content(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline std::vector<Paper> shipped_papers() {
    std::vector<Paper> papers;
    for (const auto& file : std::filesystem::directory_iterator(std::string(GPUTOMO_SOURCE_DIR) + "/papers"))
        papers.push_back(paper_from_json(content(file.path()), file.path().filename().string()));
    return papers;
}

inline machine::Machine machine_of(const PaperGpu& gpu) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + gpu.machine + ".json");
    for (const auto& [path, value] : gpu.settings)
        machine::set_leaf(machine, path, {machine::Knowledge::known, value, {}, {.source = "a setting"}});
    return machine;
}

/// The findings of a scan without errors.
inline std::vector<results::Estimate> perfect(const machine::Machine& machine) {
    std::vector<results::Estimate> estimates;
    for (const auto& leaf : machine::all_leaves(machine))
        if (leaf.leaf.knowledge == machine::Knowledge::known) estimates.push_back(decided(leaf.path, leaf.leaf.value));
    return estimates;
}

/// The text of a paper with one GPU and one entry, which has these members besides id, where, gpu, quantity and kind.
inline std::string paper_text(const std::string& members) {
    return R"({"schema":"gputomo-paper-1","id":"p","title":"T","authors":["A"],"year":2000,"venue":"V",
        "gpus":{"G":{"machine":"gtx280"}},"results":[
        {"id":"p.x","where":"Table 1","gpu":"G","quantity":"q","kind":"number",)" +
           members + R"(}],"discrepancies":[]})";
}

}  // namespace gputomo::reproduce::testing
