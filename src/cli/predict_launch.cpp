#include "cli/predict_launch.hpp"

#include "answer/launch_text.hpp"
#include "answer/predicted.hpp"
#include "capture/capture.hpp"
#include "cli/inputs/captured_launches.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "cli/inputs/machine_code.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/terminal/messages.hpp"
#include "device/cubin.hpp"
#include "launch/profile/loaded_kernel.hpp"
#include "launch/profile/profile.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"
#include "units/file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The simulated GPU of the description: its memory takes the buffers of the launch.
std::unique_ptr<sim::SimulatedDevice> gpu_of(const LaunchOptions& options) {
    const bool named = options.machine.starts_with("sim:");
    auto gpu = open_simulated(named ? options.machine : "sim:" + options.machine, options.seed, 0);
    if (gpu->ptx_target().sm != kExecutedSm)
        throw InputError(
            fmt::format("--machine {}: has compute capability {}.{}; expected 9.0, whose machine code can "
                        "be executed. Use --static for a PTX file or a listing",
                        options.machine, gpu->ptx_target().sm / 10, gpu->ptx_target().sm % 10));
    return gpu;
}

/// The cubin of the file, and what its kernel asks for.
std::string cubin_of(const LaunchOptions& options, Signature& signature) {
    auto [code, is_extracted] = read_code(options.file, kExecutedSm, CodeWish::any);
    if (!device::is_cubin(code)) {
        const auto module = ptx::parse(code, options.file);
        signature = signature_of(find_kernel(module, options.kernel, options.file));
        return compile_ptx({options.file, is_extracted ? code : ""}, kExecutedSm, "predict",
                           is_extracted ? "give a cubin for sm_90, or install the CUDA toolkit"
                                        : "give a cubin for sm_90, install the CUDA toolkit, or use --static");
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

int predict_launch_of_file(const LaunchOptions& options) {
    if (options.kernel.empty())
        throw InputError(fmt::format("--kernel: missing; expected a kernel of {}", options.file));
    const auto gpu = gpu_of(options);
    Signature signature;
    const auto code = cubin_of(options, signature);
    const auto shape = launch_shape(options.shape, *gpu);
    const device::Cubin cubin(std::as_bytes(std::span(code)));
    auto arguments = kernel_arguments(options.arguments, signature, *gpu);
    const auto program = launch::load_kernel(*gpu, cubin, options.kernel);
    const auto parameters = launch::parameter_space(program, arguments.packed);
    std::vector<launch::MemoryRange> buffers;
    for (const auto& buffer : arguments.buffers)
        buffers.push_back({buffer.address(), static_cast<std::uint64_t>(buffer.size().count())});
    const launch::Launched launched{program,
                                    {.grid = shape.grid,
                                     .block = shape.block,
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
        out::print("{}", answer::launch_text(prediction));
    return 0;
}

int predict_launches_of_capture(const LaunchOptions& options) {
    const auto captured = capture::load(options.file);
    const auto chosen = chosen_launches(captured, options.file, options.kernel, options.launches);
    Json all = Json::array();
    int code = 0;
    for (const auto number : chosen) {
        Json json{{"launch", number}};
        if (!options.json) out::print("launch {}: ", number);
        try {
            const auto prediction = prediction_of_captured(captured, number, options);
            if (options.json)
                json.update(answer::launch_json(prediction));
            else
                out::print("{}\n", answer::launch_text(prediction));
        } catch (const Error& error) {
            if (chosen.size() == 1) throw;
            code = 1;
            json["failed"] = error.what();
            if (!options.json) out::print("failed: {}\n", error.what());
        }
        all.push_back(std::move(json));
    }
    if (options.json) print_json({{"schema", "gputomo-launch-predictions-1"}, {"launches", all}}, origin_of_command());
    return code;
}

}  // namespace gputomo::cli
