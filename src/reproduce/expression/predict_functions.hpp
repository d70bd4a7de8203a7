// The function that predicts the performance of a listing of machine code, as `gputomo predict` does.
#pragma once

#include "reproduce/expression/value.hpp"
#include "scan/runner.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// Machine code by name, with a line for each instruction or label, as `gputomo predict` reads it.
using Listings = std::map<std::string, std::string>;

/// predict(LISTING, QUANTITY, ...): a quantity of the prediction for a listing on the GPU as the scan found it. Further
/// arguments change what the prediction goes by:
/// - 'LEAF', NUMBER replaces the value of a leaf that the scan found.
/// - LINE, COUNT gives the access in that line of the listing COUNT lines of memory, or COUNT-way bank conflicts.
/// - 'LABEL' makes conditional branches to this label taken.
///
/// Throws NotMeasured where the scan lacks a leaf, and InputError for a line or a label that the listing does not have.
[[nodiscard]] Value predicted_value(const scan::Scan& scan, std::string_view code,
                                    std::span<const Value> quantity_and_choices);

/// "" where the quantity exists; otherwise the names of those that do.
[[nodiscard]] std::string alternatives_to_quantity(std::string_view quantity);

/// The leaves of a scan that predictions read, whatever the listing. Arguments may replace these. Nothing else of a
/// scan counts, so that an expression has the same value whatever else was measured.
[[nodiscard]] const std::set<std::string>& leaves_of_predictions();

}  // namespace gputomo::reproduce
