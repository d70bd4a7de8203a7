// Records one process: its modules, launches, graphs and memory. The hooks call it beside the driver.
#pragma once

#include "capture/interposer/code_registry.hpp"
#include "capture/interposer/graphs.hpp"
#include "capture/interposer/launch.hpp"
#include "capture/interposer/memory_map.hpp"
#include "capture/interposer/snapshot.hpp"
#include "capture/interposer/streams.hpp"
#include "capture/interposer/textures.hpp"
#include "capture/interposer/timing.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::capture {

class Recorder {
public:
    Recorder();

    [[nodiscard]] bool active() const { return journal_.open(); }

    CodeRegistry& code() { return code_; }
    MemoryMap& memory() { return memory_; }
    Streams& streams() { return streams_; }
    Textures& textures() { return textures_; }
    Timing& timing() { return timing_; }

    /// Records a launch around `call`, which makes the driver's and returns its result.
    template <class Call>
    abi::Result around(const Launch& launch, Call call) {
        return record(launch, nullptr, call);
    }
    /// Records the start of a graph.
    template <class Call>
    abi::Result around_graph(abi::GraphExec graph, abi::Stream stream, Call call) {
        Launch launch;
        launch.stream = stream;
        const auto nodes = graphs_.find(graph);
        return nodes == nullptr ? call() : record(launch, nodes.get(), call);
    }
    Graphs& graphs() { return graphs_; }
    /// Writes what is known and forgets what belongs to contexts, because one is about to end.
    void leave_contexts();

private:
    /// What is known of a launch before it is made.
    struct Prepared {
        bool recorded = false;
        abi::Context context = nullptr;
        int gpu = -1;
        double host_us = 0;
        JsonLine line{"launch"};
        Timing::Pair events;
        /// The values of the launch that may be addresses, where memory is wanted after it.
        std::vector<std::uint64_t> result_values;
    };
    /// What a launch does, and the values that may be addresses.
    struct Described {
        JsonLine line{"launch"};
        std::vector<std::uint64_t> values;
        bool selected = false;  ///< its memory is wanted
    };
    template <class Call>
    abi::Result record(const Launch& launch, const GraphRecord* graph, Call call) {
        Prepared prepared = prepare(launch, graph);
        const abi::Result result = call();
        finish(launch, std::move(prepared), result == abi::kSuccess);
        return result;
    }
    Prepared prepare(const Launch& launch, const GraphRecord* graph);
    void write_results(const Prepared& prepared, abi::Stream stream, std::uint64_t id);
    void finish(const Launch& launch, Prepared prepared, bool made);
    /// False for kernels that the user did not ask for.
    bool describe(const Launch& launch, int gpu, Described& out);
    bool describe(const GraphRecord& graph, int gpu, Described& out);
    void write_graph(const GraphRecord& graph);
    /// The number of the current context's GPU, -1 if the driver does not say.
    int gpu_of_context();
    int write_gpu(abi::DeviceOrdinal device);
    void identify(KernelEntry& kernel, int gpu);
    bool is_selected(const std::string& shape);

    Settings settings_;
    Journal journal_;
    CodeRegistry code_;
    MemoryMap memory_;
    Timing timing_;
    Snapshot snapshot_;
    Streams streams_;
    Textures textures_;
    Graphs graphs_;

    std::mutex lock_;
    std::map<std::string, std::uint64_t> shapes_;  ///< launches of each kernel and shape
    std::map<abi::DeviceOrdinal, int> gpus_;
    std::vector<int> sm_of_gpu_;
    std::set<int> written_graphs_;
    std::atomic<std::uint64_t> launches_ = 0;
    int kernels_ = 0;
};

/// The recorder of this process; a child of a fork gets a new one.
[[nodiscard]] Recorder& recorder();

}  // namespace gputomo::capture
