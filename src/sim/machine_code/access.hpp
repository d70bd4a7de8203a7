// What an access of machine code touches.
#pragma once

#include <cstdint>

namespace gputomo::sim::machine_code {

/// `cluster` is shared memory of any block of the cluster; observers see it as shared memory.
enum class Space : std::uint8_t { generic, global, shared, local, constant, cluster };

/// An atomic reads and writes.
enum class Access : std::uint8_t { read, write, atomic };

}  // namespace gputomo::sim::machine_code
