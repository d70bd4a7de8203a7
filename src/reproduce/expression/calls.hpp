// How each function of an expression is called: checked when the expression is read, so that a mistake is found before
// anything is measured.
#pragma once

#include "reproduce/expression/mix_functions.hpp"
#include "reproduce/expression/node.hpp"
#include "reproduce/expression/predict_functions.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gputomo::reproduce {

// The functions named here read a scan, or need more than the values of their arguments.

/// absent(leaf) asks whether the scan decided that the leaf's thing is absent; known(leaf), whether it decided the
/// value.
[[nodiscard]] bool is_leaf_test(std::string_view name);
/// column('experiment', 'trace', 'column') is a column of a trace.
inline constexpr std::string_view kColumn = "column";
/// of('GPU', expression) is the expression's value for another GPU.
inline constexpr std::string_view kOf = "of";
/// predict('LISTING', 'QUANTITY', ...) is what `gputomo predict` makes of a listing (predict_functions.hpp).
inline constexpr std::string_view kPredict = "predict";
/// kernel_warps('ID') and kernel_rate('ID') are columns of the measurement of a kernel of kernels/. Returns the
/// column's name, or "" for other functions.
[[nodiscard]] std::string_view kernel_column(std::string_view name);

/// Whether the function asks a performance model, whose id is then its first argument: model(), model_needed().
[[nodiscard]] bool asks_model(std::string_view name);
/// Whether the function is a rule by which `gputomo predict` counts: conflict_ways(), transactions().
[[nodiscard]] bool is_prediction_rule(std::string_view name);

/// The position of the argument that names the access in a function of mixes; ALPHA follows it.
[[nodiscard]] std::size_t access_position(const MixFunction& function);
/// The nodes of the ALPHAs in a call of a function of mixes.
[[nodiscard]] std::vector<const Node*> alphas_of(const MixFunction& function, const Node& node);

/// "" where the call `node` is right, otherwise what was expected in its place. `listings` are those that predict() may
/// name.
[[nodiscard]] std::string expected_call(const Node& node, const Listings& listings);

}  // namespace gputomo::reproduce
