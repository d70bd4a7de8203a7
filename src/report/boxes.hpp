// Labelled boxes in frames, laid out in rows that wrap, as SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

struct Box {
    std::string title;
    std::vector<std::string> lines;
    std::string_view kind;   ///< class of its colour: compute, store, cache, translation, memory
    std::string link;        ///< id of the element that tells more
    bool undecided = false;  ///< dashed
    int cells = 0;           ///< little squares, one for each lane or bank
    int groups = 1;          ///< equal parts of the squares
};

/// Boxes side by side, wrapped where they don't fit.
using BoxRow = std::vector<Box>;

struct BoxFrame {
    std::string title;
    std::vector<BoxRow> rows;
};

/// The frames one below the other, joined by lines. Empty for no frames.
[[nodiscard]] std::string draw(const std::vector<BoxFrame>& frames, double width, std::string_view label);

}  // namespace gputomo::report
