// The context and stream of one GPU. Once the device has failed, no further call reaches it.
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

/// Shared by the device, its modules and kernels, so that they can be destroyed in any order. Several threads may enter
/// it, but only one of them may wait.
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

    /// False once the device has failed or a kernel did not end. Remaining resources are then leaked, because freeing
    /// them could block for ever.
    [[nodiscard]] bool alive() const noexcept { return !failed_; }
    /// Makes the context current for this thread. Throws DeviceError "the device has failed" if the session is not
    /// alive.
    void enter(std::string_view call) const;
    /// As enter(), but returns false instead of throwing: for destructors.
    [[nodiscard]] bool try_enter() const noexcept;
    /// Throws DeviceError (device, call, context, driver's text) unless `result` is success. An error that destroys the
    /// context ends the session.
    void check(abi::Result result, std::string_view call, std::string_view context = {});
    /// Ends the session. Only the first reason is kept.
    void fail(std::string reason);

    struct Wait {
        std::string_view call;  ///< the driver's name of the call that is waited for
        std::string context;    ///< the kernel or copy, for messages
        std::chrono::milliseconds limit;
    };
    /// Polls `event` until it is done. Throws TimeLimitError once the limit has passed and ends the session.
    void wait(abi::Event event, const Wait& wait);
    /// Waits for everything in the stream (copies) in the same way.
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
    bool can_be_reset_ = false;  ///< the driver has ended all kernels of the context
    mutable std::mutex failure_mutex_;
    std::string failure_;
};

}  // namespace gputomo::device::cuda
