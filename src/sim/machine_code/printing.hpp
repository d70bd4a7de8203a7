// What threads print with `printf`, which compilers turn into calls of the system's vprintf. Each call has the
// addresses of a format and of its arguments, which lie in the thread's local memory.
#pragma once

#include "sim/machine_code/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gputomo::sim::machine_code {

/// Texts in the order in which the threads of a launch print them.
class Printed {
public:
    /// Bytes that are kept. A GPU keeps 1 MiB too, unless a program asks for another size.
    static constexpr std::size_t kMost = std::size_t{1} << 20;

    /// Keeps a text as long as all texts so far fit as a whole. After the first one that does not, none is kept.
    void add(std::string_view text);
    [[nodiscard]] const std::string& text() const { return text_; }
    /// Calls of `printf` whose text did not fit.
    [[nodiscard]] std::uint64_t lost() const { return lost_; }

private:
    std::string text_;
    std::uint64_t lost_ = 0;
};

/// Performs vprintf for a lane: the addresses of format and arguments are in its registers. Returns its result.
/// Throws NeedsProducts where what it prints may depend on products that are not computed.
[[nodiscard]] std::int32_t print(Warp& warp, int lane, std::uint64_t format, std::uint64_t arguments);

}  // namespace gputomo::sim::machine_code
