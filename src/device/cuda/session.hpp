// One GPU's context and stream, and the one rule of its life: once the device has failed, nothing more is asked of it.
#pragma once

#include "device/cuda/driver.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace gputomo::device::cuda {

/// Shared by the device, its modules and kernels, so that they can be destroyed in any order. Threads may enter it
/// together, but only one of them waits.
class Session {
public:
    Session(std::shared_ptr<const Driver> driver, int index);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    [[nodiscard]] const Driver& driver() const { return *driver_; }
    [[nodiscard]] const abi::Functions& call() const { return driver_->functions(); }
    [[nodiscard]] abi::DeviceOrdinal device() const { return device_; }
    [[nodiscard]] abi::Stream stream() const { return stream_; }
    [[nodiscard]] int index() const { return index_; }
    [[nodiscard]] std::string id() const;

    /// False once the device has failed or a kernel didn't end; what is left is then leaked, since freeing it could
    /// wait for ever.
    [[nodiscard]] bool alive() const noexcept { return !failed_; }
    /// Makes the context current to this thread. Throws DeviceError "the device has failed" when the session isn't
    /// alive.
    void enter(std::string_view call) const;
    /// As enter(), without a throw: for destructors.
    [[nodiscard]] bool try_enter() const noexcept;
    /// Throws DeviceError (device, call, context, driver's text) unless success; remembers an error that the context
    /// doesn't survive.
    void check(abi::Result result, std::string_view call, std::string_view context = {});
    /// The first reason is kept.
    void fail(std::string reason);

    struct Wait {
        std::string_view call;  ///< what is waited for, in the driver's words
        std::string context;    ///< kernel or copy
        std::chrono::milliseconds limit;
    };
    /// Polls `event` until it is done. Throws TimeLimitError when the limit has passed; the session is then no longer
    /// alive.
    void wait(abi::Event event, const Wait& wait);
    /// The same for all that the stream holds (copies).
    void wait_for_stream(const Wait& wait);

private:
    template <class Query>
    void poll(Query query, const Wait& wait);

    std::shared_ptr<const Driver> driver_;
    int index_ = 0;
    abi::DeviceOrdinal device_ = 0;
    abi::Context context_ = nullptr;
    abi::Stream stream_ = nullptr;
    std::atomic<bool> failed_ = false;
    mutable std::mutex failure_mutex_;
    std::string failure_;
};

}  // namespace gputomo::device::cuda
