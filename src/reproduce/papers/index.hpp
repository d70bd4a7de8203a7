// The overview of several papers: the share of values that agree, and each value that does not, with its explanation.
#pragma once

#include "reproduce/papers/paper.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gputomo::reproduce {

struct PaperResults {
    const Paper* paper = nullptr;
    std::optional<Json> results;  ///< what results_json() wrote; empty where the paper was not reproduced yet
};

/// Returns one self-contained HTML page, which links to PAPER.html in the same folder.
[[nodiscard]] std::string index_page(const std::vector<PaperResults>& papers);

}  // namespace gputomo::reproduce
