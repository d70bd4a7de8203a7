#include "capture/json_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

namespace gputomo::capture {

std::array<std::uint32_t, 3> three(const files::JsonNode& node) {
    const auto elements = node.elements();
    if (elements.size() != 3) node.fail("a list of three numbers");
    std::array<std::uint32_t, 3> sizes{};
    std::ranges::transform(elements, sizes.begin(), small<std::uint32_t>);
    return sizes;
}

std::string bytes_of(const files::JsonNode& node) {
    const auto text = node.text();
    if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
        node.fail("pairs of hexadecimal digits");
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    return bytes;
}

}  // namespace gputomo::capture
