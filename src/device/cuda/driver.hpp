// The CUDA driver library (libcuda.so.1), opened at run time: its entry points and error texts.
#pragma once

#include "device/cuda/abi.hpp"
#include "device/device.hpp"

#include <string>
#include <string_view>

namespace gputomo::device::cuda {

inline constexpr const char* kDriverLibrary = "libcuda.so.1";

/// The loaded and initialised driver. The library stays loaded until the process ends, because the driver runs threads
/// of its own and an endless kernel must not keep the process from exiting.
class Driver {
public:
    /// Loads `library` (a file name for the loader's search path, or a path) and calls cuInit.
    /// Throws DeviceError with the library and the message of the loader or the driver.
    explicit Driver(std::string library = kDriverLibrary);

    [[nodiscard]] const abi::Functions& functions() const { return functions_; }
    [[nodiscard]] const std::string& library() const { return library_; }
    /// CUDA version that the driver supports, as it writes it: 13000 for CUDA 13.0.
    [[nodiscard]] int version() const { return version_; }

    /// Number of GPUs; 0 when there is none.
    [[nodiscard]] int count() const;
    /// Throws DeviceError with the number of GPUs if there is no such GPU.
    [[nodiscard]] abi::DeviceOrdinal device(int index) const;
    [[nodiscard]] std::string device_name(int index) const;

    /// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory"
    [[nodiscard]] std::string describe(abi::Result result) const;
    /// Throws DeviceError "CALL (CONTEXT) failed: ..." unless `result` is success.
    void check(abi::Result result, std::string_view call, std::string_view context = {}) const;

private:
    void* open_library() const;
    void resolve(void* handle);
    void initialise();

    std::string library_;
    abi::Functions functions_;
    int version_ = 0;
    bool no_device_ = false;
};

/// PTX ISA version and target for a GPU of this compute capability under a driver of this version (as
/// Driver::version()).
[[nodiscard]] Device::PtxTarget ptx_target(int driver_version, int compute_major, int compute_minor);

}  // namespace gputomo::device::cuda
