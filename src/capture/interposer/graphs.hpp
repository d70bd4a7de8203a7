// The kernels of executable graphs, in an order in which the graph may run them.
#pragma once

#include "capture/interposer/launch.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gputomo::capture {

/// What an executable graph launches.
struct GraphRecord {
    int id = 0;
    struct Node {
        abi::GraphNode handle;
        LaunchRecord launch;
        std::vector<int> after;  ///< earlier kernels of the graph that it waits for
    };
    std::vector<Node> kernels;
    /// Nodes that are not kernels, by the driver's number of their type, which may change memory between kernels.
    std::map<int, int> others;
};

class Graphs {
public:
    /// `exec` was made from `graph`, or got what `graph` has.
    void instantiated(abi::GraphExec exec, abi::Graph graph, CodeRegistry& code);
    /// A kernel of `exec` got other parameters. `has_kernel` is whether `parameters` are of version 2.
    void changed(abi::GraphExec exec, abi::GraphNode node, const abi::KernelNodeParameters& parameters, bool has_kernel,
                 CodeRegistry& code);
    void destroyed(abi::GraphExec exec);
    /// nullptr for a graph that could not be read.
    [[nodiscard]] std::shared_ptr<const GraphRecord> find(abi::GraphExec exec);

private:
    std::mutex lock_;
    std::map<abi::GraphExec, std::shared_ptr<const GraphRecord>> graphs_;
    int made_ = 0;
};

}  // namespace gputomo::capture
