// Translates a listing of machine code into the Code that prediction works on.
#pragma once

#include "predict/static/code.hpp"
#include "predict/static/listing.hpp"

#include <string_view>
#include <vector>

namespace gputomo::predict {

/// Translates the function of that name, or the only function of a listing without headings. Throws InputError if there
/// is none; for an instruction of unknown cost and a branch to an unknown target it names the line.
[[nodiscard]] Code code_from_listing(const std::vector<ListedFunction>& functions, std::string_view kernel,
                                     std::string_view origin);

}  // namespace gputomo::predict
