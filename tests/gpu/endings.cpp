// Runs checks that a context does not survive in processes of their own, and checks that each process ends.
#include "smoke.hpp"

#include "device/cuda/cuda.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

namespace gputomo::gpu_smoke {
namespace {

/// Checks that every further call fails at once with the reason.
int refuses_more(device::Device& device, const char* reason) {
    try {
        (void)device.allocate(Bytes(4));
    } catch (const DeviceError& error) {
        fmt::print("       afterwards: {}\n", error.what());
        return std::strstr(error.what(), reason) != nullptr ? 0 : 1;
    }
    fmt::print("       afterwards: an allocation succeeded, expected a refusal\n");
    return 1;
}

int end_badly(const char* kernel, bool with_address, const char* reason) {
    const auto device = device::cuda::open(0);
    const auto module = device->load(kernels(*device));
    device::Buffer out(*device, Bytes(4));
    device::Launch launch;
    launch.time_limit = std::chrono::milliseconds(1000);
    launch.arguments.add(with_address ? out.address() : device::Address{16});
    const auto start = std::chrono::steady_clock::now();
    try {
        module->kernel(kernel).launch(launch);
        fmt::print("       the launch ended well, expected an error\n");
        return 1;
    } catch (const DeviceError& error) {
        const auto waited =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
        fmt::print("       after {} ms: {}\n", waited.count(), error.what());
        if (std::strstr(error.what(), kernel) == nullptr) return 1;
    }
    return refuses_more(*device, reason);
}

}  // namespace

int endless_kernel() { return end_badly("never_ends", true, "time limit"); }
int illegal_address() { return end_badly("write_to", false, "write_to"); }

void check_child(const std::string& program, const std::string& argument, int seconds, Report& report) {
    std::string arguments[] = {program, argument};
    char* const list[] = {arguments[0].data(), arguments[1].data(), nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, program.c_str(), nullptr, nullptr, list, environ) != 0) {
        report.expect(argument, false, "could not start the child process");
        return;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (passed() > seconds) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            report.expect(fmt::format("{}: the process exits by itself", argument), false,
                          fmt::format("killed after {} s", seconds));
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    report.expect(fmt::format("{}: reported, refused further work, and exited after {:.1f} s", argument, passed()),
                  well, well ? "" : fmt::format("wait status {:#x}", status));
}

}  // namespace gputomo::gpu_smoke
