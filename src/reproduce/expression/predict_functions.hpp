// What `gputomo predict` makes of a paper's listings, in expressions.
#pragma once

#include "reproduce/expression/value.hpp"
#include "scan/runner.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// Machine code by name, a line for each instruction or label, as `gputomo predict` reads it.
using Listings = std::map<std::string, std::string>;

/// predict(LISTING, QUANTITY, ...): a quantity that is predicted of a listing on the GPU as the scan found it. What
/// follows differs from that: 'LEAF', NUMBER is a leaf as the paper has it, LINE, COUNT the lines of memory that the
/// access in that line of the listing touches, or its ways of bank conflicts, and 'LABEL' one that branches go to.
/// Throws NotMeasured where the scan found no such leaf, and InputError for a line or a label that the listing has not.
[[nodiscard]] Value predicted_value(const scan::Scan& scan, std::string_view code,
                                    std::span<const Value> quantity_and_choices);

/// "" where there is such a quantity; otherwise those that there are.
[[nodiscard]] std::string why_no_quantity(std::string_view quantity);

/// What is read of a scan, whatever the listing, and so what a row may have otherwise. Nothing else of a scan counts,
/// so that a row says the same whatever others measure.
[[nodiscard]] const std::set<std::string>& leaves_of_predictions();

}  // namespace gputomo::reproduce
