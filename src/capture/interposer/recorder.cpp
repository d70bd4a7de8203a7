#include "capture/interposer/recorder.hpp"

#include "capture/interposer/driver.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace gputomo::capture {
namespace {

/// A launch whose memory is wanted waits for earlier work for at most this time, in microseconds. Work that takes
/// longer may itself wait for something that the program does only after the launch.
constexpr double kMostWaitUs = 10e6;
/// When the process or a context ends, launches that have not ended are waited for at most this time.
constexpr double kMostWaitAtEndUs = 2e6;

std::atomic<Recorder*> current = nullptr;

/// A child process records into files of its own, and must not touch locks that other threads of the parent held.
void forget_after_fork() { current = nullptr; }

void at_exit() { recorder().timing().write_all(kMostWaitAtEndUs); }

/// Whether the stream's work becomes part of a graph instead of running. The driver also answers so for the legacy
/// stream while another stream's work does.
bool is_captured_into_graph(abi::Stream stream) {
    int status = abi::kCaptureNone;
    return driver().is_capturing != nullptr &&
           (driver().is_capturing(stream, &status) != abi::kSuccess || status != abi::kCaptureNone);
}

std::string uuid_text(abi::DeviceOrdinal device) {
    abi::Uuid uuid{};
    const auto ask = driver().device_uuid_v2 != nullptr ? driver().device_uuid_v2 : driver().device_uuid;
    if (ask == nullptr || ask(&uuid, device) != abi::kSuccess) return {};
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        char digits[4];
        std::snprintf(digits, sizeof(digits), "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                      uuid.bytes[i]);
        text += digits;
    }
    return text;
}

}  // namespace

Recorder& recorder() {
    Recorder* found = current.load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    static std::mutex one_at_a_time;
    const std::scoped_lock guard(one_at_a_time);
    if (current.load() == nullptr) {
        static const int registered = pthread_atfork(nullptr, nullptr, forget_after_fork);
        static_cast<void>(registered);
        current = new Recorder;  // never deleted: threads may launch until the process is gone
        if (current.load()->active()) std::atexit(at_exit);
    }
    return *current.load();
}

Recorder::Recorder() : journal_(settings_), timing_(journal_), snapshot_(journal_, memory_, settings_.memory) {}

void Recorder::leave_contexts() {
    timing_.write_all(kMostWaitAtEndUs);
    timing_.forget();
    snapshot_.forget_streams();
    textures_.forget();
}

int Recorder::write_gpu(abi::DeviceOrdinal device) {
    const auto attribute = [&](int which) {
        int value = 0;
        return driver().device_attribute(&value, which, device) == abi::kSuccess ? value : 0;
    };
    char name[256] = {};
    std::size_t memory = 0;
    int version = 0;
    driver().device_name(name, sizeof(name), device);
    driver().device_memory(&memory, device);
    driver().driver_version(&version);
    const int id = static_cast<int>(sm_of_gpu_.size());
    sm_of_gpu_.push_back(10 * attribute(abi::kAttributeMajor) + attribute(abi::kAttributeMinor));
    journal_.write(JsonLine("gpu")
                       .add("id", id)
                       .add("name", std::string_view(name))
                       .add("uuid", uuid_text(device))
                       .add("sm", sm_of_gpu_.back())
                       .add("multiprocessors", attribute(abi::kAttributeMultiprocessors))
                       .add("clock_khz", attribute(abi::kAttributeClockRate))
                       .add("memory_clock_khz", attribute(abi::kAttributeMemoryClockRate))
                       .add("memory_bytes", std::uint64_t{memory})
                       .add("driver", version)
                       .line());
    return id;
}

int Recorder::gpu_of_context() {
    abi::DeviceOrdinal device = 0;
    if (driver().context_device == nullptr || driver().context_device(&device) != abi::kSuccess) return -1;
    const auto found = gpus_.find(device);
    if (found != gpus_.end()) return found->second;
    return gpus_[device] = write_gpu(device);
}

void Recorder::identify(KernelEntry& kernel, int gpu) {
    if (kernel.id >= 0) return;
    kernel.id = kernels_++;
    kernel.recorded = settings_.records(kernel.name);
    const int sm = gpu < 0 ? 0 : sm_of_gpu_[static_cast<std::size_t>(gpu)];
    JsonLine line("kernel");
    line.add("id", kernel.id).add("name", std::string_view(kernel.name)).add("sm", sm);
    if (kernel.recorded && kernel.image != nullptr)
        line.add("image", std::string_view(kernel.image->file(journal_, sm)));
    journal_.write(line.line());
}

bool Recorder::is_selected(const std::string& shape) {
    const std::uint64_t number = shapes_[shape]++;
    return settings_.memory != 0 && number >= settings_.launches.first &&
           number - settings_.launches.first < settings_.launches.count;
}

bool Recorder::describe(const Launch& launch, int gpu, Described& out) {
    const LaunchRecord record(launch, code_.find(launch.kernel));
    const std::scoped_lock guard(lock_);
    identify(*record.kernel, gpu);
    if (!record.kernel->recorded) return false;
    record.add_to(out.line);
    record.collect_values(out.values);
    out.selected = is_selected(record.shape());
    return true;
}

bool Recorder::describe(const GraphRecord& graph, int gpu, Described& out) {
    const std::scoped_lock guard(lock_);
    bool recorded = false;
    for (const auto& node : graph.kernels) {
        identify(*node.launch.kernel, gpu);
        recorded = recorded || node.launch.kernel->recorded;
        node.launch.collect_values(out.values);
    }
    if (!recorded) return false;
    if (written_graphs_.insert(graph.id).second) write_graph(graph);
    out.line.add("graph", graph.id);
    out.selected = is_selected("graph " + std::to_string(graph.id));
    return true;
}

void Recorder::write_graph(const GraphRecord& graph) {
    std::string nodes, others;
    for (const auto& node : graph.kernels) {
        JsonLine line("node");
        node.launch.add_to(line);
        std::string after;
        for (const int earlier : node.after) after += (after.empty() ? "" : ",") + std::to_string(earlier);
        nodes += (nodes.empty() ? "" : ",") + line.raw("after", "[" + after + "]").object();
    }
    for (const auto& [type, count] : graph.others)
        others += (others.empty() ? "[" : ",[") + std::to_string(type) + "," + std::to_string(count) + "]";
    journal_.write(
        JsonLine("graph").add("id", graph.id).raw("nodes", "[" + nodes + "]").raw("others", "[" + others + "]").line());
}

Recorder::Prepared Recorder::prepare(const Launch& launch, const GraphRecord* graph) {
    Prepared prepared;
    if (!active() || driver().context_current(&prepared.context) != abi::kSuccess) return prepared;
    const Aside aside;
    if (is_captured_into_graph(launch.stream)) return prepared;
    Described described;
    {
        const std::scoped_lock guard(lock_);
        prepared.gpu = gpu_of_context();
    }
    prepared.recorded =
        graph == nullptr ? describe(launch, prepared.gpu, described) : describe(*graph, prepared.gpu, described);
    if (!prepared.recorded) return prepared;
    if (described.selected) {
        textures_.collect_values(described.values);
        if (const std::string textures = textures_.list(); !textures.empty()) described.line.raw("textures", textures);
        if (timing_.wait_for_earlier_work(prepared.context, launch.stream, kMostWaitUs))
            described.line.raw("buffers", snapshot_.take(described.values, prepared.context, textures_.arrays()));
        else
            described.line.add("no_buffers", std::string_view("earlier work did not end within 10 s"));
        if (settings_.results) prepared.result_values = std::move(described.values);
    }
    prepared.line = std::move(described.line);
    prepared.host_us = now_us();
    prepared.events = timing_.begin(prepared.context, launch.stream);
    return prepared;
}

void Recorder::write_results(const Prepared& prepared, abi::Stream stream, std::uint64_t id) {
    if (!timing_.wait_for_earlier_work(prepared.context, stream, kMostWaitUs)) return;
    journal_.write(JsonLine("results")
                       .add("launch", id)
                       .raw("buffers", snapshot_.take(prepared.result_values, prepared.context))
                       .line());
}

void Recorder::finish(const Launch& launch, Prepared prepared, bool made) {
    if (!prepared.recorded) return;
    const Aside aside;
    if (!made) {
        timing_.drop(prepared.context, prepared.events);
        return;
    }
    const std::uint64_t id = launches_++;
    timing_.end(prepared.context, launch.stream, prepared.events, id, prepared.host_us);
    const std::string waits = streams_.take_waits(launch.stream);
    streams_.launched(launch.stream, id);
    prepared.line.add("id", id)
        .add("gpu", prepared.gpu)
        .add("stream", streams_.number(launch.stream))
        .add("thread", Streams::thread())
        .add("host_us", prepared.host_us);
    if (waits != "[]") prepared.line.raw("after", waits);
    journal_.write(prepared.line.line());
    if (!prepared.result_values.empty()) write_results(prepared, launch.stream, id);
}

}  // namespace gputomo::capture
