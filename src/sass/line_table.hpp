// Which line of which source file each machine instruction comes from: the section .debug_line of a cubin, which
// nvcc -lineinfo and Triton write.
#pragma once

#include "sass/cubin.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sass {

/// A line of a source file.
struct SourceLine {
    std::string file;        ///< with its folder, as the compiler was given it
    std::uint32_t line = 0;  ///< from 1 on; 0 where the compiler does not say
    auto operator<=>(const SourceLine&) const = default;
};

/// Where instructions come from.
struct SourcePlace {
    SourceLine at;
    /// Where the function that has the line was inlined, innermost call first. Empty where it is the kernel itself.
    std::vector<SourceLine> callers;
    bool operator==(const SourcePlace&) const = default;
};

/// Instructions from an address on, up to that of the next row, come from one place.
struct LineRow {
    std::uint64_t address = 0;  ///< bytes from the kernel's first instruction
    SourcePlace place;
};

/// The lines of one kernel.
class LineTable {
public:
    LineTable() = default;
    /// Reads versions 2 to 5 of DWARF (DWARF 5, section 6.2), with NVIDIA's entries for inlined calls. Empty where the
    /// cubin has no lines of the kernel. Throws InputError with the offset where the section is damaged.
    LineTable(const Cubin& cubin, std::string_view kernel);

    [[nodiscard]] bool empty() const { return rows_.empty(); }
    /// Where the instruction at the address, in bytes from the kernel's first one, comes from. nullptr where the
    /// compiler does not say.
    [[nodiscard]] const SourcePlace* at(std::uint64_t address) const;
    [[nodiscard]] std::span<const LineRow> rows() const { return rows_; }

private:
    std::vector<LineRow> rows_;  ///< by address; a place without a file ends the one before
};

/// "kernels.py:88", or "suite.hpp:64 from block_size.cu:9": without folders.
[[nodiscard]] std::string short_text(const SourcePlace& place);

}  // namespace gputomo::sass
