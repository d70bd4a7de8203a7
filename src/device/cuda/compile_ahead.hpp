// Compiles PTX on other threads before it is loaded. Without this, a scan spends a third of its time in the compiler if
// the driver's cache holds none of the kernels.
#pragma once

#include "device/cuda/session.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace gputomo::device::cuda {

class CompileAhead {
public:
    explicit CompileAhead(std::shared_ptr<Session> session);
    CompileAhead(const CompileAhead&) = delete;
    CompileAhead& operator=(const CompileAhead&) = delete;
    /// Waits for compilations in progress, unless the device has failed.
    ~CompileAhead();

    void add(std::string ptx);
    /// Hands over the machine code of PTX that was added, once; waits for it if a thread is compiling it. Empty if no
    /// thread has begun or if it does not compile: the caller compiles it again and gets the error.
    [[nodiscard]] std::vector<std::byte> take(std::string_view ptx);

private:
    struct Jobs;
    std::shared_ptr<Jobs> jobs_;
    std::vector<std::thread> threads_;
};

}  // namespace gputomo::device::cuda
