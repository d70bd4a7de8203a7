#include "report/parts/text.hpp"

#include "machine/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <variant>

namespace gputomo::report {
namespace {

using machine::Knowledge;
using machine::Unit;

std::string bytes_text(double value) {
    constexpr std::array<std::string_view, 5> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (std::abs(value) >= 1024 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
    return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string value_in_words(const machine::Value& value, Unit unit) {
    return std::visit(
        [&](const auto& v) -> std::string {
            using T = std::remove_cvref_t<decltype(v)>;
            if constexpr (std::is_same_v<T, bool>)
                return v ? "yes" : "no";
            else if constexpr (std::is_same_v<T, std::string>)
                return v;
            else if constexpr (std::is_arithmetic_v<T>)
                return number_text(static_cast<double>(v), unit);
            else if constexpr (std::is_same_v<T, std::vector<std::string>>)
                return v.empty() ? "none" : fmt::format("{}", fmt::join(v, ", "));
            else {
                std::vector<std::string> texts;
                for (const auto element : v) texts.push_back(number_text(static_cast<double>(element), unit));
                return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
            }
        },
        value);
}

/// Writes masks of address bits in hexadecimal.
std::string masks_text(const std::vector<std::int64_t>& masks) {
    std::vector<std::string> texts;
    for (const auto mask : masks) texts.push_back(fmt::format("0x{:x}", mask));
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// Whether the candidates are at least four consecutive whole numbers, which are shorter as a range.
bool one_after_the_other(const std::vector<machine::Value>& candidates) {
    if (candidates.size() < 4) return false;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto* number = std::get_if<std::int64_t>(&candidates[i]);
        if (number == nullptr || (i > 0 && *number != std::get<std::int64_t>(candidates[i - 1]) + 1)) return false;
    }
    return true;
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string anchor(std::string_view kind, std::string_view name) {
    std::string out = fmt::format("{}-", kind);
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '.' || c == '-' || c == '_'))
            out += c;
        else
            out += fmt::format("~{:02x}", byte);  // so that different names have different ids
    }
    return out;
}

std::string in_words(std::string_view name) {
    if (name == "sm") return "SM";
    std::string out(name);
    std::ranges::replace(out, '_', ' ');
    return out;
}

std::string shown_name(std::string_view key) {
    auto out = in_words(key);
    for (std::size_t i = 0; i + 1 < out.size(); ++i)
        if ((i == 0 || out[i - 1] == ' ') && out[i] == 'l' && std::isdigit(static_cast<unsigned char>(out[i + 1])) != 0)
            out[i] = 'L';
    if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
    return out;
}

std::string number_text(double value, Unit unit) {
    if (unit == Unit::bytes) return bytes_text(value);
    std::string number = std::abs(value) < 1e6 && value == std::round(value) ? fmt::format("{:.0f}", value)
                                                                             : fmt::format("{:.4g}", value);
    if (unit == Unit::none || unit == Unit::count) return number;
    if (number == "1" && unit == Unit::cycles) return "1 cycle";
    return fmt::format("{} {}", number, machine::unit_name(unit));
}

std::string range_text(double low, double high, Unit unit) {
    const auto from = number_text(low, unit), to = number_text(high, unit);
    if (from == to) return to;
    const auto from_unit = from.find(' '), to_unit = to.find(' ');
    const bool same_unit =
        from_unit != std::string::npos && to_unit != std::string::npos && from.substr(from_unit) == to.substr(to_unit);
    return fmt::format("{} to {}", same_unit ? from.substr(0, from_unit) : from, to);
}

std::string leaf_text(const machine::NamedLeaf& named) {
    const auto& leaf = named.leaf;
    if (leaf.knowledge == Knowledge::unknown) return "unknown";
    if (leaf.knowledge == Knowledge::absent) return "absent";
    if (leaf.knowledge == Knowledge::known)
        return named.info.name == "index_hash" ? masks_text(std::get<std::vector<std::int64_t>>(leaf.value))
                                               : value_in_words(leaf.value, named.info.unit);
    std::vector<std::string> candidates;
    bool lists = false;
    for (const auto& candidate : leaf.candidates) {
        // "int, or sfu with int" cannot be misread, as "int or sfu, int" can.
        const auto* names = std::get_if<std::vector<std::string>>(&candidate);
        lists |= names != nullptr && names->size() > 1;
        candidates.push_back(names == nullptr || names->empty() ? value_in_words(candidate, named.info.unit)
                                                                : fmt::format("{}", fmt::join(*names, " with ")));
    }
    if (one_after_the_other(leaf.candidates)) return fmt::format("{} to {}", candidates.front(), candidates.back());
    if (!candidates.empty()) return fmt::format("{}", fmt::join(candidates, lists ? ", or " : " or "));
    const auto& interval = leaf.provenance.interval;
    return interval ? range_text((*interval)[0], (*interval)[1], named.info.unit) : "undecided";
}

std::string owner_of(const machine::NamedLeaf& leaf) {
    return leaf.path.substr(0, leaf.path.size() - leaf.info.name.size() - 1);
}

Facts::Facts(const machine::Machine& machine) : leaves_(machine::all_leaves(machine)) {
    for (std::size_t i = 0; i < leaves_.size(); ++i) by_path_.emplace(leaves_[i].path, i);
}

const machine::NamedLeaf* Facts::find(std::string_view path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : &leaves_[found->second];
}

std::string Facts::text(std::string_view path) const {
    const auto* leaf = find(path);
    return leaf == nullptr || leaf->leaf.knowledge == Knowledge::absent ? "" : leaf_text(*leaf);
}

std::optional<double> Facts::number(std::string_view path) const {
    const auto* leaf = find(path);
    if (leaf == nullptr || leaf->leaf.knowledge != Knowledge::known) return std::nullopt;
    return results::as_number(leaf->leaf.value);
}

bool Facts::has(std::string_view path, Knowledge knowledge) const {
    const auto* leaf = find(path);
    return leaf != nullptr && leaf->leaf.knowledge == knowledge;
}

}  // namespace gputomo::report
