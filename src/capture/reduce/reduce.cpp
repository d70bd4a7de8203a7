#include "capture/reduce/reduce.hpp"

#include "capture/folder.hpp"
#include "capture/name_filter.hpp"
#include "capture/reduce/kept_memory.hpp"
#include "capture/reduce/launch_reducer.hpp"
#include "launch/prune.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gputomo::capture {
namespace {

/// The code of other kernels is left out of larger modules.
constexpr std::size_t kLargeModule = std::size_t{256} << 10;

std::uint64_t stored_bytes(const Launch& launch) {
    std::uint64_t bytes = 0;
    for (const auto& buffer : *launch.buffers) bytes += buffer.omitted.empty() ? buffer.bytes : 0;
    return bytes;
}

class Reducer {
public:
    explicit Reducer(const ReduceOptions& options)
        : options_(options), filter_("--kernel", options.kernels), from_(capture::load(options.in)), reader_(from_) {}

    [[nodiscard]] bool wants(std::uint64_t number) const {
        const auto& launch = from_.launches[number];
        if (!launch.kernel || !launch.buffers) return false;
        const bool listed =
            options_.launches.empty() || std::ranges::find(options_.launches, number) != options_.launches.end();
        return listed && filter_.matches(from_.kernels[static_cast<std::size_t>(launch.kernel->kernel)].name);
    }

    Capture reduce(const std::filesystem::path& folder) {
        check_numbers();
        capture::make_folders(folder);
        Capture to;
        to.header = from_.header;
        to.header.writer = options_.writer;
        to.gpus = from_.gpus;
        to.processes = from_.processes;
        for (std::uint64_t i = 0; i < from_.launches.size(); ++i) {
            if (!wants(i)) continue;
            Launch launch = from_.launches[i];
            launch.after.clear();
            launch.kernel->kernel = kernel(launch.kernel->kernel, folder, to);
            reduce(from_.launches[i], launch);
            to.launches.push_back(std::move(launch));
        }
        if (to.launches.empty())
            throw InputError(
                fmt::format("{}: no launch of a kernel that was asked for has memory; expected one that "
                            "`capture --launches` chose",
                            options_.in.string()));
        kept_.write(folder, to);
        capture::write_index(folder, to);
        return to;
    }

private:
    void check_numbers() const {
        for (const auto number : options_.launches)
            if (number >= from_.launches.size())
                throw InputError(fmt::format("--launch {}: {} has {} launches, counted from 0", number,
                                             options_.in.string(), from_.launches.size()));
    }

    void reduce(const Launch& incomplete, Launch& to) {
        Reduction& reduction = to.reduction.emplace();
        reduction.bytes = stored_bytes(incomplete);
        std::size_t missing = 0;
        const Launch from = completed(incomplete, missing);
        try {
            LaunchReducer reducer(from_, from, Watch::Clock::now() + options_.time_limit);
            if (missing != 0) {
                const auto tried = reducer.try_other_contents();
                reduction.unproven = fmt::format("the contents of {} buffers were not captured; {}", missing, tried);
            }
            choose(reducer, reduction);
            to.buffers = from.buffers;
            for (const Region& region : reducer.regions()) {
                auto& buffer = (*to.buffers)[static_cast<std::size_t>(region.buffer - from.buffers->data())];
                reduction.kept += keep_held(buffer, region, kept_);
            }
            for (auto& buffer : *to.buffers)
                if (buffer.space == "variable") reduction.kept += keep_whole(buffer, reader_, kept_);
            to.results.reset();
        } catch (const Error& error) {
            reduction.whole = error.what();
            reduction.kept = 0;
            reduction.unproven.clear();
            to.buffers = incomplete.buffers;
            for (auto* buffers : {&to.buffers, &to.results})
                if (*buffers)
                    for (auto& buffer : **buffers) reduction.kept += keep_whole(buffer, reader_, kept_);
        }
    }

    /// What a reduction of a launch starts from. Where contents are missing and that is allowed, generated numbers take
    /// their place.
    Launch completed(const Launch& from, std::size_t& missing) const {
        Launch launch = from;
        if (!options_.unproven) return launch;
        for (auto& buffer : *launch.buffers) {
            if (buffer.omitted.empty() || buffer.space == "variable") continue;
            ++missing;
            buffer.omitted.clear();
            buffer.content = {{.bytes = buffer.bytes, .generated = true}};
        }
        return launch;
    }

    void choose(LaunchReducer& reducer, Reduction& reduction) {
        try {
            reducer.choose();
            reduction.instructions = reducer.instructions();
            reduction.approximate = reducer.difference();
        } catch (const DeviceError& error) {
            if (!options_.unproven) throw;
            const bool executable = dynamic_cast<const TimeLimitError*>(&error) != nullptr;
            const auto tried = reducer.guess(executable, Watch::Clock::now() + options_.time_limit / 4);
            reduction.unproven += fmt::format("{}{}; {}", reduction.unproven.empty() ? "" : "; ", error.what(), tried);
            reduction.approximate = reducer.difference();
        }
    }

    /// The number in the new capture of a kernel of the old one.
    int kernel(int number, const std::filesystem::path& folder, Capture& to) {
        const auto known = kernels_.find(number);
        if (known != kernels_.end()) return known->second;
        Kernel kernel = from_.kernels[static_cast<std::size_t>(number)];
        if (kernel.module) {
            const auto& module = from_.modules[static_cast<std::size_t>(*kernel.module)];
            std::string code = capture::read_module(from_, module);
            if (module.format == "cubin" && code.size() > kLargeModule) code = launch::pruned(code, kernel.name);
            kernel.module = capture::add_module(folder, to.modules, code, module.format);
        }
        to.kernels.push_back(std::move(kernel));
        return kernels_[number] = static_cast<int>(to.kernels.size()) - 1;
    }

    const ReduceOptions& options_;
    NameFilter filter_;
    Capture from_;
    MemoryReader reader_;
    KeptMemory kept_;
    std::map<int, int> kernels_;
};

}  // namespace

Capture reduce(const ReduceOptions& options) {
    Reducer reducer(options);
    std::error_code error;
    if (std::filesystem::equivalent(options.in, options.out, error))
        throw InputError(
            fmt::format("--out {}: is the capture that is reduced, {}, whose results and other data would be lost; "
                        "expected another folder",
                        options.out.string(), options.in.string()));
    capture::check_folder(options.out);
    const auto absolute = std::filesystem::absolute(options.out);
    const TemporaryFolder fresh(absolute / kNewFolder);
    Capture made = reducer.reduce(fresh.path());
    capture::replace_capture(fresh.path(), absolute);
    made.folder = absolute;
    return made;
}

}  // namespace gputomo::capture
