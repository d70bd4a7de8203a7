#include "device/cuda/driver.hpp"

#include "units/error.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gputomo::device::cuda {

Driver::Driver(const std::string& library) : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw DeviceError(fmt::format("no CUDA driver: {} ({}); expected NVIDIA's driver to be installed", library, dlerror()));
    const auto resolve = [&](auto& member, const char* symbol) {
        void* address = dlsym(library_, symbol);
        if (address == nullptr) throw DeviceError(fmt::format("CUDA driver {}: has no {}; expected driver 450 or later", library, symbol));
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(address);
    };
#define GPUTOMO_RESOLVE(member, symbol, parameters) resolve(member, symbol);
    GPUTOMO_CUDA_FUNCTIONS(GPUTOMO_RESOLVE)
#undef GPUTOMO_RESOLVE
    check(init(0), "cuInit");
}

Driver::~Driver() {
    // The library stays: a driver with a lost device must not be unloaded, and processes end soon after.
}

std::string Driver::text(Result result) const {
    const char *name = nullptr, *string = nullptr;
    if (error_name(result, &name) != 0 || name == nullptr) return fmt::format("error {}", result);
    if (error_string(result, &string) != 0 || string == nullptr) return name;
    return fmt::format("{} ({})", name, string);
}

void Driver::check(Result result, const std::string& call, const std::string& about) const {
    if (result == 0) return;
    throw DeviceError(fmt::format("{}: {}{}{}", call, text(result), about.empty() ? "" : "; ", about));
}

}  // namespace gputomo::device::cuda
