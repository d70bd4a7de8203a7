// Listing of machine code -> Code.
#pragma once

#include "predict/code.hpp"
#include "predict/listing.hpp"

#include <string_view>

namespace gputomo::predict {

/// The function of that name; of a listing without headings, its only one whatever the name. Throws InputError where
/// there is none, or naming the line of an instruction that prediction has no cost for or a branch whose target isn't
/// there.
[[nodiscard]] Code code_from_listing(const std::vector<ListedFunction>& functions, std::string_view kernel,
                                     std::string_view origin);

}  // namespace gputomo::predict
