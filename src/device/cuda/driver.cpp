#include "device/cuda/driver.hpp"

#include "units/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

namespace gputomo::device::cuda {
namespace {

template <class Pointer>
bool find(void* handle, const char* symbol, Pointer& pointer) {
    void* const address = dlsym(handle, symbol);
    // C++ does not define a cast from void* to a function pointer; POSIX guarantees that copying the bits works.
    static_assert(sizeof(pointer) == sizeof(address));
    std::memcpy(&pointer, &address, sizeof(pointer));
    return address != nullptr;
}

}  // namespace

Driver::Driver(std::string library) : library_(std::move(library)) {
    resolve(open_library());
    initialise();
}

void* Driver::open_library() const {
    void* const handle = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return handle;
    const char* const message = dlerror();
    throw DeviceError(fmt::format("no CUDA driver: cannot load {}: {}; expected an installed NVIDIA driver", library_,
                                  message != nullptr ? message : "the loader gives no reason"));
}

void Driver::resolve(void* handle) {
    const auto missing = [this](const char* symbol) -> DeviceError {
        return DeviceError(
            fmt::format("the CUDA driver {} has no {}; expected a driver for CUDA 11 or newer", library_, symbol));
    };
#define GPUTOMO_CUDA_RESOLVE(member, symbol, parameters) \
    if (!find(handle, symbol, functions_.member)) throw missing(symbol);
    GPUTOMO_CUDA_REQUIRED(GPUTOMO_CUDA_RESOLVE)
#undef GPUTOMO_CUDA_RESOLVE
#define GPUTOMO_CUDA_RESOLVE(member, symbol, parameters) find(handle, symbol, functions_.member);
    GPUTOMO_CUDA_OPTIONAL(GPUTOMO_CUDA_RESOLVE)
#undef GPUTOMO_CUDA_RESOLVE
}

void Driver::initialise() {
    const abi::Result result = functions_.init(0);
    no_device_ = result == abi::kNoDevice;
    if (!no_device_) check(result, "cuInit", library_);
    check(functions_.driver_get_version(&version_), "cuDriverGetVersion");
}

int Driver::count() const {
    if (no_device_) return 0;
    int count = 0;
    const abi::Result result = functions_.device_get_count(&count);
    if (result == abi::kNoDevice) return 0;
    check(result, "cuDeviceGetCount");
    return count;
}

abi::DeviceOrdinal Driver::device(int index) const {
    const int devices = count();
    if (devices == 0) throw DeviceError(fmt::format("cuda:{}: the CUDA driver {} finds no GPU", index, library_));
    if (index < 0 || index >= devices) {
        const std::string expected =
            devices == 1 ? "expected cuda:0, the only GPU"
                         : fmt::format("expected cuda:0 to cuda:{}, there are {} GPUs", devices - 1, devices);
        throw DeviceError(fmt::format("cuda:{}: no such GPU; {}", index, expected));
    }
    abi::DeviceOrdinal device = 0;
    check(functions_.device_get(&device, index), "cuDeviceGet", fmt::format("cuda:{}", index));
    return device;
}

std::string Driver::device_name(int index) const {
    std::array<char, 256> name{};
    check(functions_.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device(index)), "cuDeviceGetName",
          fmt::format("cuda:{}", index));
    return name.data();
}

std::string Driver::describe(abi::Result result) const {
    const char* name = nullptr;
    const char* text = nullptr;
    if (functions_.get_error_name(result, &name) != abi::kSuccess || name == nullptr) name = "unknown CUDA error";
    if (functions_.get_error_string(result, &text) != abi::kSuccess || text == nullptr)
        text = "the driver has no text for it";
    return fmt::format("{} ({}): {}", name, result, text);
}

void Driver::check(abi::Result result, std::string_view call, std::string_view context) const {
    if (result == abi::kSuccess) return;
    if (context.empty()) throw DeviceError(fmt::format("{} failed: {}", call, describe(result)));
    throw DeviceError(fmt::format("{} ({}) failed: {}", call, context, describe(result)));
}

}  // namespace gputomo::device::cuda
