// gputomo_gpu_smoke [--dump DIR]: checks every call of device::Device on GPU 0. Prints PASS and FAIL lines. The exit
// status is 0 if all passed, 1 if not, and 3 without a GPU.
#include "smoke.hpp"

#include "device/cuda/cuda.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace {

using namespace gputomo;

int run(const std::vector<std::string>& arguments) {
    constexpr int kChildSeconds = 30;
    const bool dumps = arguments.size() == 3 && arguments[1] == "--dump";
    gpu_smoke::Report report;
    // Child processes run first and last, because a GPU must still work after a process died on it.
    gpu_smoke::check_child("/proc/self/exe", "--illegal-address", kChildSeconds, report);
    {
        const auto device = device::cuda::open(0);
        gpu_smoke::check_device(*device, dumps ? arguments[2] : "", report);
    }
    gpu_smoke::check_child("/proc/self/exe", "--endless-kernel", kChildSeconds, report);
    fmt::print("{} passed, {} failed\n", report.passes(), report.failures());
    return report.failures() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv, argv + argc);
    try {
        if (arguments.size() == 2 && arguments[1] == "--endless-kernel") return gpu_smoke::endless_kernel();
        if (arguments.size() == 2 && arguments[1] == "--illegal-address") return gpu_smoke::illegal_address();
        if (const auto presence = device::cuda::presence(); presence.count == 0) {
            fmt::print(stderr, "no GPU: {}\n", presence.reason);
            return 3;
        }
        return run(arguments);
    } catch (const std::exception& error) {
        fmt::print(stderr, "FAIL {}\n", error.what());
        return 1;
    }
}
