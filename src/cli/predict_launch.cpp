#include "cli/predict_launch.hpp"

#include "answer/launch_text.hpp"
#include "answer/predicted.hpp"
#include "capture/capture.hpp"
#include "cli/inputs/captured_launches.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/inputs/origin.hpp"
#include "device/cubin.hpp"
#include "launch/profile/loaded_kernel.hpp"
#include "launch/profile/profile.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
/// The compute capability whose machine code is executed.
constexpr int kSampledSm = 90;

/// The simulated GPU of the description: its memory takes the buffers of the launch.
std::unique_ptr<sim::SimulatedDevice> gpu_of(const LaunchOptions& options) {
    const bool named = options.machine.starts_with("sim:");
    auto gpu = open_simulated(named ? options.machine : "sim:" + options.machine, options.seed, 0);
    if (gpu->ptx_target().sm != kSampledSm)
        throw InputError(
            fmt::format("--machine {}: has compute capability {}.{}; expected 9.0, whose machine code can "
                        "be executed. Use --static for a PTX file or a listing",
                        options.machine, gpu->ptx_target().sm / 10, gpu->ptx_target().sm % 10));
    return gpu;
}

/// The cubin of the file, and what its kernel asks for.
std::string cubin_of(const LaunchOptions& options, Signature& signature) {
    auto code = read_file(options.file, "a PTX file or a cubin", kLargestFile);
    if (!device::is_cubin(code)) {
        const auto module = ptx::parse(code, options.file);
        signature = signature_of(find_kernel(module, options.kernel, options.file));
        return compile_ptx(options.file, kSampledSm, "predict",
                           "give a cubin for sm_90, install the CUDA toolkit, or use --static");
    }
    try {
        signature = signature_of(device::Cubin(std::as_bytes(std::span(code))), options.kernel, options.file);
    } catch (const InputError& e) {
        const std::string_view what = e.what();
        throw InputError(what.starts_with(options.file) ? std::string(what)
                                                        : fmt::format("{}: {}", options.file, what));
    }
    return code;
}

launch::Sampling sampling_of(const LaunchOptions& options) {
    return {.seed = options.seed, .time_limit = std::chrono::milliseconds(options.time_limit_ms)};
}

/// A failure of the kernel is no failure of a device: it is executed here.
predict::LaunchPrediction naming_kernel_errors(const std::function<predict::LaunchPrediction()>& predict) {
    try {
        return predict();
    } catch (const TimeLimitError&) {
        throw;
    } catch (const DeviceError& e) {
        throw Error(e.what());
    }
}

predict::LaunchPrediction prediction_of_captured(const capture::Capture& captured, std::size_t number,
                                                 const LaunchOptions& options) {
    return naming_kernel_errors([&] {
        return answer::predict_captured([&] { return gpu_of(options); }, captured, captured.launches[number],
                                        sampling_of(options), options.machine);
    });
}

}  // namespace

bool is_cubin_file(const std::string& file) {
    if (!std::filesystem::is_regular_file(file)) return false;  // a pipe can be read only once
    std::ifstream stream(file, std::ios::binary);
    std::array<char, 64> begin{};
    stream.read(begin.data(), begin.size());
    return device::is_cubin({begin.data(), static_cast<std::size_t>(stream.gcount())});
}

int predict_launch_of_file(const LaunchOptions& options) {
    if (options.kernel.empty())
        throw InputError(fmt::format("--kernel: missing; expected a kernel of {}", options.file));
    if (!options.launches.empty()) throw InputError("--launch: expected the folder of a capture, not a file");
    const auto gpu = gpu_of(options);
    const auto grid = dimensions(options.grid, "--grid"), block = dimensions(options.block, "--block");
    const auto most = gpu->attribute(device::Attribute::max_threads_per_block);
    if (most && block.count() > static_cast<std::uint64_t>(*most))
        throw InputError(fmt::format("--block {}: found {} threads; expected at most {}, the limit of {}",
                                     options.block, block.count(), *most, gpu->name()));
    Signature signature;
    const auto code = cubin_of(options, signature);
    const device::Cubin cubin(std::as_bytes(std::span(code)));
    auto arguments = kernel_arguments(options.arguments, signature, *gpu);
    const auto program = launch::load_kernel(*gpu, cubin, options.kernel);
    const auto parameters = launch::parameter_space(program, arguments.packed);
    std::vector<launch::MemoryRange> buffers;
    for (const auto& buffer : arguments.buffers)
        buffers.push_back({buffer.address(), static_cast<std::uint64_t>(buffer.size().count())});
    const launch::Launched launched{program,
                                    {.grid = grid,
                                     .block = block,
                                     .dynamic_shared = static_cast<std::uint64_t>(options.shared),
                                     .parameters = parameters},
                                    gpu->memory(),
                                    buffers};
    const auto prediction = naming_kernel_errors([&] {
        return predict::predict_launch(launch::profile_launch(launched, gpu->machine(), sampling_of(options)),
                                       gpu->machine(), options.machine);
    });
    if (options.json)
        print_json(answer::launch_json(prediction), origin_of_command());
    else
        fmt::print("{}", answer::launch_text(prediction));
    return 0;
}

int predict_launches_of_capture(const LaunchOptions& options) {
    if (!options.arguments.empty())
        throw InputError("--arg: found with a capture, which has the arguments of its launches; leave it out");
    const auto captured = capture::load(options.file);
    const auto chosen = chosen_launches(captured, options.file, options.kernel, options.launches);
    Json all = Json::array();
    int code = 0;
    for (const auto number : chosen) {
        Json json{{"launch", number}};
        if (!options.json) fmt::print("launch {}: ", number);
        try {
            const auto prediction = prediction_of_captured(captured, number, options);
            if (options.json)
                json.update(answer::launch_json(prediction));
            else
                fmt::print("{}\n", answer::launch_text(prediction));
        } catch (const Error& error) {
            if (chosen.size() == 1) throw;
            code = 1;
            json["failed"] = error.what();
            if (!options.json) fmt::print("failed: {}\n", error.what());
        }
        all.push_back(std::move(json));
    }
    if (options.json) print_json({{"schema", "gputomo-launch-predictions-1"}, {"launches", all}}, origin_of_command());
    return code;
}

}  // namespace gputomo::cli
