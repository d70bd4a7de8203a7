// The overview of several papers' reproductions: how much of each agrees, and everything that does not with what
// explains it.
#pragma once

#include "reproduce/papers/paper.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gputomo::reproduce {

struct PaperResults {
    const Paper* paper = nullptr;
    std::optional<Json> results;  ///< as results_json() writes them; nothing where the paper was not reproduced yet
};

/// One self-contained HTML page, which leads to PAPER.html beside it.
[[nodiscard]] std::string index_page(const std::vector<PaperResults>& papers);

}  // namespace gputomo::reproduce
