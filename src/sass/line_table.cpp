#include "sass/line_table.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

namespace gputomo::sass {
namespace {

constexpr std::string_view kLineSection = ".debug_line";
constexpr std::uint16_t kFirstVersion = 2, kLastVersion = 5;
constexpr std::uint32_t kLongLength = 0xffffffff;  ///< the 64-bit form of DWARF follows
/// Inlined calls inside each other above which a table is taken to be damaged.
constexpr std::size_t kMostCalls = 64;

// Opcodes of the line number program (DWARF 5, section 7.22); 0x90 is NVIDIA's.
enum LineOpcode : std::uint8_t {
    kExtended = 0,
    kCopy = 1,
    kAdvancePc = 2,
    kAdvanceLine = 3,
    kSetFile = 4,
    kConstAddPc = 8,
    kFixedAdvancePc = 9
};
enum LongLineOpcode : std::uint8_t { kEndSequence = 1, kSetAddress = 2, kInlinedCall = 0x90 };

// Contents of an entry of the tables of directories and files, and their forms (DWARF 5, sections 7.22 and 7.5.6).
constexpr std::uint64_t kPath = 1, kDirectoryIndex = 2;
enum ValueForm : std::uint64_t {
    kBlock2 = 0x03,
    kBlock4 = 0x04,
    kData2 = 0x05,
    kData4 = 0x06,
    kData8 = 0x07,
    kString = 0x08,
    kBlock = 0x09,
    kBlock1 = 0x0a,
    kData1 = 0x0b,
    kStrp = 0x0e,
    kUdata = 0x0f,
    kData16 = 0x1e,
    kLineStrp = 0x1f
};

/// Reads a section from front to back.
class LineReader {
public:
    LineReader(std::span<const std::byte> bytes, std::string_view section) : bytes_(bytes), section_(section) {}

    [[nodiscard]] std::size_t offset() const { return at_; }
    [[nodiscard]] bool done() const { return at_ >= bytes_.size(); }
    void go_to(std::size_t offset) {
        if (offset > bytes_.size()) fail("an offset within the section", fmt::format("{:#x}", offset));
        at_ = offset;
    }
    /// The section up to `end`, which the caller has compared with its size.
    [[nodiscard]] LineReader until(std::size_t end) const {
        LineReader part(bytes_.first(end), section_);
        part.at_ = at_;
        return part;
    }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

    template <class T>
    T take() {
        T value;
        if (left() < sizeof(T)) fail(fmt::format("{} bytes", sizeof(T)), "the end of the table");
        std::memcpy(&value, bytes_.data() + at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }
    std::uint64_t unsigned_number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = take<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            if ((byte & 0x80U) == 0) return value;
        }
    }
    std::int64_t signed_number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const auto byte = take<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
            shift += 7;
            if ((byte & 0x80U) != 0) continue;
            if (shift < 64 && (byte & 0x40U) != 0) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
    }
    std::string text() {
        const auto rest = bytes_.subspan(at_);
        const auto end = std::ranges::find(rest, std::byte{0});
        if (end == rest.end()) fail("a text that ends in a zero byte", "the end of the table");
        const auto length = static_cast<std::size_t>(end - rest.begin());
        std::string found(reinterpret_cast<const char*>(rest.data()), length);
        at_ += length + 1;
        return found;
    }
    void skip(std::uint64_t bytes) {
        if (bytes > left()) fail(fmt::format("{} bytes", bytes), "the end of the table");
        at_ += static_cast<std::size_t>(bytes);
    }
    [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
        throw InputError(
            fmt::format("cubin: section {}: at offset {:#x}: expected {}; found {}", section_, at_, expected, found));
    }

private:
    std::span<const std::byte> bytes_;
    std::string_view section_;
    std::size_t at_ = 0;
};

/// A row as the program of a table makes it.
struct RawRow {
    std::uint64_t address = 0;
    std::uint64_t file = 0;
    std::uint32_t line = 0;
    std::uint64_t called_from =
        0;              ///< number of the row of its sequence, from 1 on, that calls the inlined function; 0: none
    bool ends = false;  ///< nothing is known from here on
};

/// The tables of one compilation unit.
struct LineHeader {
    std::uint16_t version = 0;
    bool is_long = false;  ///< lengths and offsets have 8 bytes
    std::uint8_t least_bytes = 1;
    std::int8_t line_base = 0;
    std::uint8_t line_range = 1, opcode_base = 1;
    std::vector<std::uint8_t> operands;  ///< of the standard opcodes, from opcode 1 on
    std::vector<std::string> directories, files;
};

class LineProgram {
public:
    LineProgram(const Cubin& cubin, std::string_view kernel)
        : cubin_(cubin), section_(cubin.section(kLineSection)), text_(fmt::format(".text.{}", kernel)) {
        if (section_ == nullptr) return;
        for (const auto& relocation : cubin.relocations(kLineSection))
            if (relocation.symbol_section == text_) base_[relocation.offset] = relocation.value;
    }

    std::vector<LineRow> rows() {
        if (section_ == nullptr || base_.empty()) return {};
        LineReader reader(section_->bytes, kLineSection);
        while (!reader.done()) read_unit(reader);
        std::ranges::stable_sort(found_, {}, &LineRow::address);
        // Where several rows have one address, the last one holds.
        std::vector<LineRow> kept;
        for (auto& row : found_) {
            if (!kept.empty() && kept.back().address == row.address) kept.pop_back();
            if (kept.empty() || !(kept.back().place == row.place)) kept.push_back(std::move(row));
        }
        return kept;
    }

private:
    void read_unit(LineReader& reader) {
        LineHeader header;
        std::uint64_t length = reader.take<std::uint32_t>();
        if (length == kLongLength) {
            header.is_long = true;
            length = reader.take<std::uint64_t>();
        }
        if (length > reader.left()) reader.fail(fmt::format("a table of {} bytes", length), "the end of the section");
        const std::size_t end = reader.offset() + static_cast<std::size_t>(length);
        LineReader unit = reader.until(end);
        read_header(unit, header);
        run(unit, header);
        reader.go_to(end);
    }

    void read_header(LineReader& unit, LineHeader& header) {
        header.version = unit.take<std::uint16_t>();
        if (header.version < kFirstVersion || header.version > kLastVersion)
            unit.fail("version 2 to 5 of DWARF", fmt::to_string(header.version));
        if (header.version >= 5) unit.skip(2);  // bytes of an address and of a segment
        const std::uint64_t length = offset_of(unit, header);
        if (length > unit.left()) unit.fail(fmt::format("a header of {} bytes", length), "the end of the table");
        const std::size_t program = unit.offset() + static_cast<std::size_t>(length);
        header.least_bytes = unit.take<std::uint8_t>();
        if (header.version >= 4) unit.skip(1);  // operations of an instruction
        unit.skip(1);                           // whether rows are statements
        header.line_base = unit.take<std::int8_t>();
        header.line_range = unit.take<std::uint8_t>();
        header.opcode_base = unit.take<std::uint8_t>();
        if (header.line_range == 0 || header.opcode_base == 0)
            unit.fail("a line range and an opcode base above 0", "0");
        for (int i = 1; i < header.opcode_base; ++i) header.operands.push_back(unit.take<std::uint8_t>());
        if (header.version >= 5)
            read_entries(unit, header);
        else
            read_old_entries(unit, header);
        unit.go_to(program);
    }

    static std::uint64_t offset_of(LineReader& unit, const LineHeader& header) {
        return header.is_long ? unit.take<std::uint64_t>() : unit.take<std::uint32_t>();
    }

    /// Directories and files up to version 4, which are numbered from 1 on.
    static void read_old_entries(LineReader& unit, LineHeader& header) {
        header.directories.emplace_back();
        for (auto name = unit.text(); !name.empty(); name = unit.text()) header.directories.push_back(name);
        header.files.emplace_back();
        for (auto name = unit.text(); !name.empty(); name = unit.text()) {
            const auto directory = unit.unsigned_number();
            static_cast<void>(unit.unsigned_number());  // time
            static_cast<void>(unit.unsigned_number());  // bytes
            header.files.push_back(path_of(header, directory, name));
        }
    }

    static std::string path_of(const LineHeader& header, std::uint64_t directory, const std::string& name) {
        if (name.starts_with('/') || directory >= header.directories.size() || header.directories[directory].empty())
            return name;
        return header.directories[directory] + "/" + name;
    }

    void read_entries(LineReader& unit, LineHeader& header) const {
        for (const bool of_files : {false, true}) {
            std::vector<std::pair<std::uint64_t, std::uint64_t>> formats;
            for (int i = unit.take<std::uint8_t>(); i > 0; --i) {
                const auto content = unit.unsigned_number();
                formats.emplace_back(content, unit.unsigned_number());
            }
            const auto count = unit.unsigned_number();
            if (count > 0 && formats.empty()) unit.fail("a format of the entries", "none");
            for (std::uint64_t i = 0; i < count; ++i) {
                std::string name;
                std::uint64_t directory = 0;
                for (const auto& [content, form] : formats) {
                    auto [text, number] = value_of(unit, header, form);
                    if (content == kPath) name = std::move(text);
                    if (content == kDirectoryIndex) directory = number;
                }
                (of_files ? header.files : header.directories)
                    .push_back(of_files ? path_of(header, directory, name) : name);
            }
        }
    }

    std::pair<std::string, std::uint64_t> value_of(LineReader& unit, const LineHeader& header,
                                                   std::uint64_t form) const {
        switch (form) {
            case kString: return {unit.text(), 0};
            case kLineStrp: return {text_in(".debug_line_str", unit, offset_of(unit, header)), 0};
            case kStrp: return {text_in(".debug_str", unit, offset_of(unit, header)), 0};
            case kUdata: return {{}, unit.unsigned_number()};
            case kData1: return {{}, unit.take<std::uint8_t>()};
            case kData2: return {{}, unit.take<std::uint16_t>()};
            case kData4: return {{}, unit.take<std::uint32_t>()};
            case kData8: return {{}, unit.take<std::uint64_t>()};
            case kData16: unit.skip(16); return {};
            case kBlock: unit.skip(unit.unsigned_number()); return {};
            case kBlock1: unit.skip(unit.take<std::uint8_t>()); return {};
            case kBlock2: unit.skip(unit.take<std::uint16_t>()); return {};
            case kBlock4: unit.skip(unit.take<std::uint32_t>()); return {};
            default: unit.fail("a form of the entries of directories and files", fmt::format("{:#x}", form));
        }
    }

    std::string text_in(const char* name, const LineReader& from, std::uint64_t offset) const {
        const auto* const section = cubin_.section(name);
        if (section == nullptr || offset >= section->bytes.size())
            from.fail(fmt::format("an offset in section {}", name), fmt::format("{:#x}", offset));
        LineReader reader(section->bytes, name);
        reader.go_to(static_cast<std::size_t>(offset));
        return reader.text();
    }

    /// Runs the program of a table, and keeps the rows of sequences that begin at the kernel.
    void run(LineReader& unit, const LineHeader& header) {
        std::vector<RawRow> rows;
        RawRow state{.file = 1, .line = 1};
        bool in_kernel = false;
        const auto emit = [&] { rows.push_back(state); };
        const auto advance = [&](std::uint64_t operations) { state.address += operations * header.least_bytes; };
        while (!unit.done()) {
            const auto opcode = unit.take<std::uint8_t>();
            if (opcode >= header.opcode_base) {
                const unsigned adjusted = opcode - header.opcode_base;
                advance(adjusted / header.line_range);
                state.line +=
                    static_cast<std::uint32_t>(header.line_base + static_cast<int>(adjusted % header.line_range));
                emit();
                continue;
            }
            switch (opcode) {
                case kExtended: {
                    const auto length = unit.unsigned_number();
                    if (length == 0) break;
                    if (length > unit.left()) unit.fail(fmt::format("an opcode of {} bytes", length), "the end");
                    const std::size_t end = unit.offset() + static_cast<std::size_t>(length);
                    switch (unit.take<std::uint8_t>()) {
                        case kEndSequence:
                            state.ends = true;
                            emit();
                            if (in_kernel) keep(rows, header, unit);
                            rows.clear();
                            state = {.file = 1, .line = 1};
                            in_kernel = false;
                            break;
                        case kSetAddress: {
                            const auto base = base_.find(unit.offset());
                            in_kernel = base != base_.end();
                            state.address = in_kernel ? base->second : 0;
                            break;
                        }
                        case kInlinedCall: state.called_from = unit.unsigned_number(); break;
                        default: break;
                    }
                    unit.go_to(end);
                    break;
                }
                case kCopy: emit(); break;
                case kAdvancePc: advance(unit.unsigned_number()); break;
                case kAdvanceLine: state.line += static_cast<std::uint32_t>(unit.signed_number()); break;
                case kSetFile: state.file = unit.unsigned_number(); break;
                case kConstAddPc: advance((255U - header.opcode_base) / header.line_range); break;
                case kFixedAdvancePc: state.address += unit.take<std::uint16_t>(); break;
                default:
                    for (int i = header.operands[opcode - std::size_t{1}]; i > 0; --i)
                        static_cast<void>(unit.unsigned_number());
            }
        }
        if (in_kernel) keep(rows, header, unit);
    }

    /// Keeps the rows of a sequence, which ends before the next address is set. Calls count its rows from 1 on.
    void keep(const std::vector<RawRow>& rows, const LineHeader& header, const LineReader& unit) {
        const auto line_of = [&](const RawRow& row) {
            return SourceLine{row.file < header.files.size() ? header.files[row.file] : std::string(), row.line};
        };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            SourcePlace place;
            if (!rows[i].ends) {
                place.at = line_of(rows[i]);
                for (auto from = rows[i].called_from; from != 0; from = rows[from - 1].called_from) {
                    if (from > rows.size() || place.callers.size() == kMostCalls)
                        unit.fail("a call from one of the sequence's rows",
                                  fmt::format("row {} of {}", from, rows.size()));
                    place.callers.push_back(line_of(rows[from - 1]));
                }
            }
            found_.push_back({rows[i].address, std::move(place)});
        }
    }

    const Cubin& cubin_;
    const Cubin::Section* section_;
    std::string text_;
    std::map<std::uint64_t, std::uint64_t> base_;  ///< addresses that relocations put into the section, by their offset
    std::vector<LineRow> found_;
};

std::string without_folder(const SourceLine& line) {
    return fmt::format("{}:{}", line.file.substr(line.file.rfind('/') + 1), line.line);
}

}  // namespace

LineTable::LineTable(const Cubin& cubin, std::string_view kernel) : rows_(LineProgram(cubin, kernel).rows()) {}

const SourcePlace* LineTable::at(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(rows_, address, {}, &LineRow::address);
    if (after == rows_.begin()) return nullptr;
    const SourcePlace& place = std::prev(after)->place;
    return place.at.file.empty() || place.at.line == 0 ? nullptr : &place;
}

std::string short_text(const SourcePlace& place) {
    std::string text = without_folder(place.at);
    for (const auto& caller : place.callers) text += " from " + without_folder(caller);
    return text;
}

}  // namespace gputomo::sass
