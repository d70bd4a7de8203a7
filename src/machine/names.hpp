// Finds the description that a user names: h200, H200, "NVIDIA H200".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::machine {

/// A description's own name, such as h200, and that of the GPU that it describes, such as NVIDIA H200.
struct DescriptionName {
    std::string name;
    std::string gpu;
};

/// The `name` of the description that `given` means, by its own name or by its GPU's. Capitals, spaces, punctuation and
/// the words NVIDIA, GeForce and Tesla make no difference. Everything else does: an "H100 PCIe" is another GPU than the
/// described H100. Nothing if no description fits.
[[nodiscard]] std::optional<std::string> description_named(std::string_view given,
                                                           std::span<const DescriptionName> known);

}  // namespace gputomo::machine
