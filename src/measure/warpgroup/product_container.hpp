// A cubin whose code is replaced by that of a kernel which times products.
#pragma once

#include <string_view>

namespace gputomo::measure {

/// In hexadecimal digits, two a byte.
extern const std::string_view kProductContainer;

}  // namespace gputomo::measure
