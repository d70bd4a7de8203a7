#include "cli/measuring_process.hpp"

#include "answer/measurement_json.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/origin.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/origin_json.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;
using Then = MeasuredLaunch::Then;

/// The exceptions that end the command, by name.
enum class Kind : std::uint8_t { input, device, time_limit, other };

Json error_json(Kind kind, const char* text) { return {{"error", text}, {"kind", kind}}; }

[[noreturn]] void throw_error(const Json& json) {
    const std::string text = json.at("error");
    switch (json.at("kind").get<Kind>()) {
        case Kind::input: throw InputError(text);
        case Kind::device: throw DeviceError(text);
        case Kind::time_limit: throw TimeLimitError(text);
        case Kind::other: break;
    }
    throw Error(text);
}

Json overhead_of(const std::optional<answer::MeasuredOverhead>& overhead) {
    return overhead ? answer::overhead_json(*overhead) : Json();
}

std::optional<answer::MeasuredOverhead> overhead_in(const Json& json) {
    return json.is_null() ? std::nullopt : std::optional(answer::overhead_from(json));
}

/// The other side: what the process does.
class Worker {
public:
    Worker(const MeasuringPlan& plan, int to) : plan_(plan), to_(to) {}

    void run(const std::vector<PlannedLaunch>& launches) {
        try {
            open();
        } catch (const InputError& e) {
            return send(error_json(Kind::input, e.what()));
        } catch (const TimeLimitError& e) {
            return send(error_json(Kind::time_limit, e.what()));
        } catch (const DeviceError& e) {
            return send(error_json(Kind::device, e.what()));
        } catch (const std::exception& e) {
            return send(error_json(Kind::other, e.what()));
        }
        for (const auto& launch : launches)
            if (!measure(launch)) return;
        add_state_after(origin_, *gpu_);
        send({{"origin", machine::origin_json(origin_)}});
    }

private:
    void open() {
        gpu_ = open_device(plan_.device, plan_.seed, 0);
        measurer_ = std::make_unique<answer::Measurer>(*gpu_, plan_.request);
        origin_ = origin_on(*gpu_);
        send({{"id", gpu_->id()},
              {"name", gpu_->name()},
              {"origin", machine::origin_json(origin_)},
              {"cold", overhead_of(measurer_->cold_overhead())},
              {"warm", overhead_of(measurer_->warm_overhead())}});
    }

    /// Returns whether the device can go on.
    bool measure(const PlannedLaunch& planned) {
        const auto kind = gpu_->simulated() ? launch::CodeKind::machine_code : launch::CodeKind::any;
        const auto fail = [&](const char* text, Then then) {
            send({{"failed", text}, {"then", then}});
            return then == Then::next;
        };
        try {
            const auto launch =
                launch::captured_launch(*plan_.captured, plan_.captured->launches[planned.number], kind);
            send({{"measured", answer::measurement_json(measurer_->measure(launch, planned.restoring), std::nullopt)}});
            return true;
        } catch (const InputError& e) {
            return fail(e.what(), Then::next);
        } catch (const answer::RepeatedRunError& e) {
            return fail(e.what(), Then::repeatable);
        } catch (const std::exception& e) {
            return fail(e.what(), Then::ended);
        }
    }

    void send(const Json& message) {
        const std::string line = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        for (std::string_view left = line; !left.empty();) {
            const auto sent = ::write(to_, left.data(), left.size());
            if (sent < 0 && errno == EINTR) continue;
            if (sent <= 0) _exit(EXIT_FAILURE);  // nobody listens
            left.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    const MeasuringPlan& plan_;
    int to_;
    std::unique_ptr<device::Device> gpu_;
    std::unique_ptr<answer::Measurer> measurer_;
    results::Origin origin_;
};

}  // namespace

MeasuringProcess::MeasuringProcess(const MeasuringPlan& plan, const std::vector<PlannedLaunch>& launches) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Error(fmt::format("no process can be started to measure: {}", std::strerror(errno)));
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ < 0) {
        const int error = errno;
        close(ends[0]);
        close(ends[1]);
        throw Error(fmt::format("no process can be started to measure: {}", std::strerror(error)));
    }
    if (process_ == 0) {
        close(ends[0]);
        // A process in an endless kernel would outlive this one.
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(EXIT_FAILURE);
        Worker(plan, ends[1]).run(launches);
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    messages_ = ends[0];
    try {
        const auto text = message();
        if (!text)
            throw DeviceError(
                fmt::format("{}: cannot be opened: the process that measures {}", plan.device, end(false)));
        const Json json = Json::parse(*text);
        if (json.contains("error")) throw_error(json);
        gpu_ = {.id = json.at("id"),
                .name = json.at("name"),
                .origin = machine::origin_from(json.at("origin"), "origin"),
                .cold_overhead = overhead_in(json.at("cold")),
                .warm_overhead = overhead_in(json.at("warm"))};
    } catch (...) {
        (void)end(true);
        throw;
    }
}

MeasuringProcess::~MeasuringProcess() { (void)end(true); }

std::optional<std::string> MeasuringProcess::message() {
    std::array<char, 4096> part{};
    for (;;) {
        if (const auto end = received_.find('\n'); end != std::string::npos) {
            std::string line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        const auto size = messages_ < 0 ? 0 : ::read(messages_, part.data(), part.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return std::nullopt;
        received_.append(part.data(), static_cast<std::size_t>(size));
    }
}

MeasuredLaunch MeasuringProcess::next() {
    const auto text = message();
    if (!text)
        return {.measured = {}, .failed = fmt::format("the process that measures {}", end(false)), .then = Then::ended};
    const Json json = Json::parse(*text);
    if (json.contains("measured"))
        return {.measured = answer::measurement_from(json.at("measured")), .failed = {}, .then = Then::next};
    MeasuredLaunch made{.measured = {}, .failed = json.at("failed"), .then = json.at("then")};
    if (made.then != Then::next) (void)end(true);
    return made;
}

std::optional<results::Origin> MeasuringProcess::finish() {
    const auto text = message();
    if (!text) return std::nullopt;
    return machine::origin_from(Json::parse(*text).at("origin"), "origin");
}

std::string MeasuringProcess::end(bool kills) {
    if (messages_ >= 0) close(messages_);
    messages_ = -1;
    if (process_ < 0) return "has ended";
    if (kills) kill(process_, SIGKILL);
    int status = 0;
    while (waitpid(process_, &status, 0) < 0)
        if (errno != EINTR) break;
    process_ = -1;
    if (WIFSIGNALED(status))
        return fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace gputomo::cli
