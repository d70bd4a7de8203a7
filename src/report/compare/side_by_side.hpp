// Several machine descriptions beside each other, leaf by leaf.
#pragma once

#include "report/parts/text.hpp"

#include <span>
#include <string>
#include <vector>

namespace gputomo::report {

/// One column of a comparison.
struct Described {
    std::string name;  ///< unique among those compared
    Facts facts;
};

/// One leaf in all columns.
struct LeafRow {
    const machine::NamedLeaf* any = nullptr;        ///< of the first column that has it: path, unit, doc
    std::vector<const machine::NamedLeaf*> leaves;  ///< by column; null where it is unknown
    bool differs = false;                           ///< between two columns, by the rules of machine::diff()
};

/// The leaves that timing can tell and identity, in the order of the description. `columns` must outlive the rows.
[[nodiscard]] std::vector<LeafRow> side_by_side(std::span<const Described> columns);

/// A table of rows under the things that they belong to, one column for each of `columns`; rows have the class
/// `differs` or `same`.
[[nodiscard]] std::string comparison_table(const std::vector<LeafRow>& rows, std::span<const Described> columns);

/// What a first screen asks first, where it is known of one of `columns`, and the warps that hide latency.
[[nodiscard]] std::string headline_table(std::span<const Described> columns);

}  // namespace gputomo::report
