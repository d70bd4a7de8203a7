// Draws labelled boxes in frames as SVG, laid out in rows that wrap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

struct Box {
    std::string title;
    std::vector<std::string> lines;
    std::string_view kind;   ///< class that colours it: compute, store, cache, translation or memory
    std::string link;        ///< id of the element that the box links to
    bool undecided = false;  ///< drawn with a dashed frame
    int cells = 0;           ///< small squares in the box, one for each lane or bank
    int groups = 1;          ///< equal groups that the squares are drawn in
};

/// Boxes side by side, which wrap where they do not fit.
using BoxRow = std::vector<Box>;

struct BoxFrame {
    std::string title;
    std::vector<BoxRow> rows;
};

/// Draws the frames below each other, joined by lines, `width` units wide. `label` describes the picture to screen
/// readers. Empty for no frames.
[[nodiscard]] std::string draw(const std::vector<BoxFrame>& frames, double width, std::string_view label);

}  // namespace gputomo::report
