#include "capture/interposer/graphs.hpp"

#include "capture/interposer/driver.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gputomo::capture {
namespace {

/// The nodes of a graph, and which waits for which.
struct Shape {
    std::vector<abi::GraphNode> nodes;
    std::multimap<abi::GraphNode, abi::GraphNode> needs;  ///< node to one that it waits for
};

bool read_edges(abi::Graph graph, Shape& shape) {
    std::size_t count = 0;
    const bool with_data = driver().graph_edges_v2 != nullptr;
    const auto ask = [&](abi::GraphNode* from, abi::GraphNode* to, abi::EdgeData* data) {
        return with_data ? driver().graph_edges_v2(graph, from, to, data, &count)
                         : driver().graph_edges(graph, from, to, &count);
    };
    if (!with_data && driver().graph_edges == nullptr) return false;
    if (ask(nullptr, nullptr, nullptr) != abi::kSuccess) return false;
    std::vector<abi::GraphNode> from(count), to(count);
    std::vector<abi::EdgeData> data(count);
    if (count != 0 && ask(from.data(), to.data(), data.data()) != abi::kSuccess) return false;
    for (std::size_t i = 0; i < count; ++i) shape.needs.emplace(to[i], from[i]);
    return true;
}

bool read_shape(abi::Graph graph, Shape& shape) {
    std::size_t count = 0;
    if (driver().graph_nodes == nullptr || driver().graph_nodes(graph, nullptr, &count) != abi::kSuccess) return false;
    shape.nodes.resize(count);
    if (count != 0 && driver().graph_nodes(graph, shape.nodes.data(), &count) != abi::kSuccess) return false;
    return read_edges(graph, shape);
}

/// The nodes, each after those that it waits for, otherwise in the order in which they were made.
std::vector<abi::GraphNode> in_order(const Shape& shape) {
    std::vector<abi::GraphNode> order;
    std::set<abi::GraphNode> done;
    while (order.size() < shape.nodes.size()) {
        const auto before = order.size();
        for (auto* const node : shape.nodes) {
            const auto [first, last] = shape.needs.equal_range(node);
            const bool ready = std::all_of(first, last, [&](const auto& edge) { return done.contains(edge.second); });
            if (ready && done.insert(node).second) order.push_back(node);
        }
        if (order.size() == before) break;  // a cycle, which the driver does not allow
    }
    return order;
}

LaunchRecord launch_of(const abi::KernelNodeParameters& parameters, bool has_kernel, abi::GraphNode node,
                       CodeRegistry& code) {
    Launch launch;
    launch.kernel = parameters.function;
    if (has_kernel && parameters.kernel != nullptr) launch.kernel = parameters.kernel;
    std::ranges::copy(parameters.grid, std::begin(launch.grid));
    std::ranges::copy(parameters.block, std::begin(launch.block));
    launch.shared_bytes = parameters.shared_bytes;
    launch.parameters = parameters.parameters;
    launch.extra = parameters.extra;
    for (const int id : {abi::kLaunchCluster, abi::kLaunchCooperative}) {
        abi::LaunchAttribute attribute{};
        attribute.id = id;
        if (node != nullptr && driver().node_attribute != nullptr &&
            driver().node_attribute(node, id, &attribute.value) == abi::kSuccess)
            launch.set_attributes(&attribute, 1);
    }
    return {launch, code.find(launch.kernel)};
}

/// Collects a graph and the graphs within it.
class Reader {
public:
    Reader(GraphRecord& record, CodeRegistry& code) : record_(record), code_(code) {}

    /// Reads a graph whose first nodes wait for `before`; returns the kernels that its last nodes are or wait for.
    /// False when the driver refuses.
    bool read(abi::Graph graph, const std::set<int>& before, std::set<int>& ends) {
        Shape shape;
        if (!read_shape(graph, shape)) return false;
        std::map<abi::GraphNode, std::set<int>> last;  // the kernels that stand for a node
        for (auto* const node : in_order(shape)) {
            const auto [first, end] = shape.needs.equal_range(node);
            std::set<int> after;
            for (auto edge = first; edge != end; ++edge) after.merge(std::set<int>(last[edge->second]));
            if (first == end) after = before;
            if (!read_node(node, after, last[node])) return false;
        }
        for (const auto& [node, kernels] : last) ends.insert(kernels.begin(), kernels.end());
        return true;
    }

private:
    bool read_node(abi::GraphNode node, const std::set<int>& after, std::set<int>& ends) {
        int type = 0;
        if (driver().node_type == nullptr || driver().node_type(node, &type) != abi::kSuccess) return false;
        if (type == abi::kNodeKernel) return read_kernel(node, after, ends);
        if (type == abi::kNodeGraph) {
            abi::Graph child = nullptr;
            return driver().node_graph != nullptr && driver().node_graph(node, &child) == abi::kSuccess &&
                   read(child, after, ends);
        }
        if (type != abi::kNodeEmpty) ++record_.others[type];
        ends = after;
        return true;
    }

    bool read_kernel(abi::GraphNode node, const std::set<int>& after, std::set<int>& ends) {
        abi::KernelNodeParameters parameters{};
        if (driver().node_kernel == nullptr || driver().node_kernel(node, &parameters) != abi::kSuccess) return false;
        ends = {static_cast<int>(record_.kernels.size())};
        record_.kernels.push_back({node, launch_of(parameters, true, node, code_), {after.begin(), after.end()}});
        return true;
    }

    GraphRecord& record_;
    CodeRegistry& code_;
};

}  // namespace

void Graphs::instantiated(abi::GraphExec exec, abi::Graph graph, CodeRegistry& code) {
    auto record = std::make_shared<GraphRecord>();
    const Aside aside;
    std::set<int> ends;
    const bool whole = Reader(*record, code).read(graph, {}, ends);
    const std::scoped_lock guard(lock_);
    record->id = made_++;
    if (whole)
        graphs_[exec] = std::move(record);
    else
        graphs_.erase(exec);
}

void Graphs::changed(abi::GraphExec exec, abi::GraphNode node, const abi::KernelNodeParameters& parameters,
                     bool has_kernel, CodeRegistry& code) {
    const auto old = find(exec);
    if (old == nullptr) return;
    auto record = std::make_shared<GraphRecord>(*old);
    for (auto& kernel : record->kernels)
        if (kernel.handle == node) kernel.launch = launch_of(parameters, has_kernel, node, code);
    const std::scoped_lock guard(lock_);
    record->id = made_++;
    graphs_[exec] = std::move(record);
}

void Graphs::destroyed(abi::GraphExec exec) {
    const std::scoped_lock guard(lock_);
    graphs_.erase(exec);
}

std::shared_ptr<const GraphRecord> Graphs::find(abi::GraphExec exec) {
    const std::scoped_lock guard(lock_);
    const auto found = graphs_.find(exec);
    return found == graphs_.end() ? nullptr : found->second;
}

}  // namespace gputomo::capture
