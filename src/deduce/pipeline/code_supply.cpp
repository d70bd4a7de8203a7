#include "deduce/pipeline/code_supply.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::deduce {
namespace {

/// Fewest pieces on each side. Fewer could be outliers.
constexpr std::size_t kLeastCodePieces = 8;
/// Code is slower if it takes this many times as long. The next farther cache of an H200 takes 2.5 times as long.
constexpr double kSlowerCode = 1.5;

double cycles_of_byte(std::span<const CodePiece> pieces) {
    double cycles = 0, bytes = 0;
    for (const CodePiece& piece : pieces) cycles += piece.cycles, bytes += static_cast<double>(piece.to - piece.from);
    return bytes > 0 ? cycles / bytes : 0;
}

}  // namespace

std::optional<CodeSupply> slower_from(std::span<const CodePiece> pieces) {
    if (pieces.size() < 2 * kLeastCodePieces) return std::nullopt;
    const double mean = cycles_of_byte(pieces);
    // The sum of what pieces lack to the mean is largest where the slower ones begin.
    double lacking = 0, most = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        lacking += mean * static_cast<double>(pieces[i].to - pieces[i].from) - pieces[i].cycles;
        if (lacking > most) most = lacking, first = i + 1;
    }
    if (first < kLeastCodePieces || pieces.size() - first < kLeastCodePieces) return std::nullopt;
    const CodeSupply found{.slow_from = pieces[first].from,
                           .slow_to = pieces[first].to,
                           .near = cycles_of_byte(pieces.first(first)),
                           .far = cycles_of_byte(pieces.subspan(first))};
    return found.far >= kSlowerCode * found.near ? std::optional(found) : std::nullopt;
}

}  // namespace gputomo::deduce
