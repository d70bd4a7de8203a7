// PTX that will be loaded soon is compiled on other threads meanwhile: a scan of a GPU whose driver has none of the
// kernels in its cache spends a third of its time in the compiler otherwise.
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
    /// Waits for what is being compiled, unless the device has failed.
    ~CompileAhead();

    void add(std::string ptx);
    /// Machine code of PTX that was added, once: waits for it if a thread is at work on it. Empty if no thread has
    /// begun, or if it could not be compiled: whoever compiles it again gets the error.
    [[nodiscard]] std::vector<std::byte> take(std::string_view ptx);

private:
    struct Jobs;
    std::shared_ptr<Jobs> jobs_;
    std::vector<std::thread> threads_;
};

}  // namespace gputomo::device::cuda
