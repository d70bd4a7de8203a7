#include "machine/names.hpp"

#include <algorithm>
#include <array>

namespace gputomo::machine {
namespace {

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// What distinguishes a name: its words in small letters without spaces, and without the words of brands.
std::string key_of(std::string_view name) {
    constexpr std::array<std::string_view, 3> kBrands{"nvidia", "geforce", "tesla"};
    std::string key, word;
    const auto end_word = [&] {
        if (std::ranges::find(kBrands, word) == kBrands.end()) key += word;
        word.clear();
    };
    for (const char c : name) {
        if (is_letter_or_digit(c))
            word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        else
            end_word();
    }
    end_word();
    return key;
}

}  // namespace

std::optional<std::string> description_named(std::string_view given, std::span<const DescriptionName> known) {
    const auto exact = std::ranges::find(known, given, &DescriptionName::name);
    if (exact != known.end()) return exact->name;
    const auto key = key_of(given);
    if (key.empty()) return std::nullopt;
    for (const auto part : {&DescriptionName::name, &DescriptionName::gpu})
        for (const auto& one : known)
            if (key_of(one.*part) == key) return one.name;
    return std::nullopt;
}

}  // namespace gputomo::machine
