// What an access of machine code touches.
#pragma once

#include <cstdint>

namespace gputomo::sim::machine_code {

enum class Space : std::uint8_t { generic, global, shared, local, constant };

/// An atomic reads and writes.
enum class Access : std::uint8_t { read, write, atomic };

}  // namespace gputomo::sim::machine_code
