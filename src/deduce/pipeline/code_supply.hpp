// Where straight-line code begins to arrive more slowly, and what the arrival of its lines takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gputomo::deduce {

/// A piece of straight-line code that a warp ran through, and the cycles that this took.
struct CodePiece {
    std::uint64_t from = 0, to = 0;  ///< bytes from the start of the code
    double cycles = 0;
};

struct CodeSupply {
    std::uint64_t slow_from = 0, slow_to = 0;  ///< the first slower piece
    double near = 0, far = 0;                  ///< cycles of a byte in the pieces before it, and from it on
};

/// The piece from which on pieces are slower than those before it. Nothing where the code is about as fast everywhere.
[[nodiscard]] std::optional<CodeSupply> slower_from(std::span<const CodePiece> pieces);

}  // namespace gputomo::deduce
