// Makes the launches that a command line names: of a file with --grid, --block and --arg, or of a capture.
#pragma once

#include "capture/capture.hpp"
#include "cli/inputs/kernel_arguments.hpp"
#include "device/device.hpp"
#include "launch/launch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::cli {

struct LaunchOptions {
    std::string file, kernel;
    ShapeOptions shape;
    std::vector<std::string> arguments;
    std::vector<int> launches;  ///< of a capture
    std::int64_t shared = 0;    ///< bytes
};

/// Which code of a file is executed.
struct CodeOptions {
    bool ptx = false;           ///< PTX and nothing else
    bool machine_code = false;  ///< machine code; PTX is compiled to it
    std::string needed_by;      ///< what needs machine code, in messages
    std::string otherwise;      ///< what to do where PTX cannot be compiled, in messages
};

/// Whether a file name is the folder of a capture.
[[nodiscard]] bool is_capture(const std::string& file);

/// The launch of a file on `gpu`. Throws InputError where file, kernel, shape or arguments are wrong.
[[nodiscard]] launch::Launch launch_of_file(const LaunchOptions& options, const CodeOptions& code,
                                            const device::Device& gpu);

/// The launches of a capture that --launch and --kernel name: without either all that have memory. A kernel has its
/// name in the code, its readable one, and that without template arguments and parameters. Throws InputError where
/// there is none.
[[nodiscard]] std::vector<std::size_t> named_launches(const capture::Capture& captured, const LaunchOptions& options);

}  // namespace gputomo::cli
