#include "launch/module_variables.hpp"

#include <charconv>

namespace gputomo::launch {

std::optional<std::size_t> constant_bank(std::string_view section) {
    constexpr std::string_view kPrefix = ".nv.constant";
    if (!section.starts_with(kPrefix)) return std::nullopt;
    section.remove_prefix(kPrefix.size());
    std::size_t bank = 0;
    const auto read = std::from_chars(section.data(), section.data() + section.size(), bank);
    if (read.ec != std::errc() || read.ptr != section.data() + section.size()) return std::nullopt;
    return bank;
}

std::optional<sass::Cubin::Symbol> symbol_of(const sass::Cubin& cubin, std::string_view name) {
    for (auto& symbol : cubin.symbols())
        if (symbol.name == name && !symbol.section.empty()) return symbol;
    return std::nullopt;
}

}  // namespace gputomo::launch
