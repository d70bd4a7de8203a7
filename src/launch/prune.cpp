#include "launch/prune.hpp"

#include "sass/cubin.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <vector>

namespace gputomo::launch {
namespace {

constexpr std::string_view kText = ".text.";
constexpr std::uint64_t kAlignment = 16;

/// The kernel and the functions that it calls, directly or not.
std::set<std::string, std::less<>> needed_functions(const sass::Cubin& cubin, std::string_view kernel) {
    std::set<std::string, std::less<>> needed;
    std::vector<std::string> open{std::string(kernel)};
    while (!open.empty()) {
        const std::string function = std::move(open.back());
        open.pop_back();
        if (!needed.insert(function).second) continue;
        for (const auto& relocation : cubin.relocations(fmt::format("{}{}", kText, function)))
            if (relocation.symbol_section.starts_with(kText))
                open.push_back(relocation.symbol_section.substr(kText.size()));
    }
    return needed;
}

/// Whether a section is one of a function, such as ".nv.info.NAME" of NAME.
bool is_of(std::string_view section, std::string_view function) {
    return section.size() > function.size() && section.ends_with(function) &&
           section[section.size() - function.size() - 1] == '.';
}

/// The function of a section; empty for one of the whole file. The longest name decides, as one may end with another.
std::string_view function_of(std::string_view section, const std::vector<std::string>& functions) {
    std::string_view found;
    for (const auto& function : functions)
        if (is_of(section, function) && function.size() > found.size()) found = function;
    return found;
}

bool is_for_debuggers(std::string_view section) {
    return section.find(".debug_") != std::string_view::npos || section.find(".nv_debug") != std::string_view::npos ||
           section.starts_with(".nv.merc") || section.starts_with(".nv.capmerc");
}

}  // namespace

std::string pruned(std::string_view cubin, std::string_view kernel) {
    const sass::Cubin read(std::as_bytes(std::span(cubin)));
    (void)read.text(kernel);
    const auto functions = read.kernels();
    const auto needed = needed_functions(read, kernel);
    Elf64_Ehdr header{};
    std::memcpy(&header, cubin.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(read.sections().size());
    std::memcpy(sections.data(), cubin.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    std::string out(sizeof header, '\0');
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const auto& section = read.sections()[i];
        const auto function = function_of(section.name, functions);
        if (is_for_debuggers(section.name) || (!function.empty() && !needed.contains(function))) {
            sections[i] = {};
            continue;
        }
        if (section.bytes.empty()) {
            sections[i].sh_offset = sizeof header;  // an empty section lies within the file too
            continue;
        }
        out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment);
        sections[i].sh_offset = out.size();
        out.append(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size());
    }
    out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment);
    header.e_shoff = out.size();
    header.e_phoff = 0;
    header.e_phnum = 0;
    out.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
    std::memcpy(out.data(), &header, sizeof header);
    return out;
}

}  // namespace gputomo::launch
