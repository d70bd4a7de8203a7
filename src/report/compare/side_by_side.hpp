// Shows several machine descriptions side by side, leaf by leaf.
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

/// One leaf as each column has it.
struct LeafRow {
    const machine::NamedLeaf* any = nullptr;  ///< the leaf of the first column that has it, for path, unit and doc
    std::vector<const machine::NamedLeaf*> leaves;  ///< the leaf of each column; null where it is unknown there
    bool differs = false;                           ///< whether two columns differ by the rules of machine::diff()
};

/// The leaves that timing can determine, and identity, in the order of the description. `columns` must outlive the
/// rows.
[[nodiscard]] std::vector<LeafRow> side_by_side(std::span<const Described> columns);

/// A table with one column for each of `columns`, its rows grouped under the things that they belong to. Rows have the
/// class `differs` or `same`.
[[nodiscard]] std::string comparison_table(const std::vector<LeafRow>& rows, std::span<const Described> columns);

/// A table of the headlines that at least one of `columns` knows, and of the warps that hide latency.
[[nodiscard]] std::string headline_table(std::span<const Described> columns);

}  // namespace gputomo::report
