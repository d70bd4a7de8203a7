// Leaves out of a cubin what one kernel does not need.
#pragma once

#include <string>
#include <string_view>

namespace gputomo::launch {

/// The cubin without the code of other kernels and without information for debuggers. It can be read and executed here
/// as before; a driver is not expected to load it. Throws InputError if it is no cubin with that kernel.
[[nodiscard]] std::string pruned(std::string_view cubin, std::string_view kernel);

}  // namespace gputomo::launch
