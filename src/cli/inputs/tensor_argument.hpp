// Reads a tensor map from the command line, as cuTensorMapEncodeTiled would make it of a tensor without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::cli {

/// A tensor map as a parameter of a kernel holds it. The tensor's address, its first 8 bytes, is missing.
struct TensorArgument {
    std::vector<std::byte> map;
    std::uint64_t bytes = 0;  ///< of the tensor
};

/// Reads TYPE:SIZES:BOX[:SWIZZLE], say f16:4096x1024:64x128:128. Sizes of the tensor and of a box are in elements, the
/// innermost dimension first; the swizzle is 32, 64 or 128 bytes. Throws InputError that starts with `where`.
[[nodiscard]] TensorArgument tensor_argument(std::string_view text, const std::string& where);

}  // namespace gputomo::cli
