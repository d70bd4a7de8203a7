// The error of an instruction that a thread must not perform.
#pragma once

#include <stdexcept>
#include <string>

namespace gputomo::sim {

/// Says what is wrong with which lane. The engine catches it and adds kernel, block, thread, line and instruction.
class LaneFault : public std::runtime_error {
public:
    LaneFault(int lane, const std::string& what) : std::runtime_error(what), lane_(lane) {}
    [[nodiscard]] int lane() const { return lane_; }

private:
    int lane_;
};

}  // namespace gputomo::sim
