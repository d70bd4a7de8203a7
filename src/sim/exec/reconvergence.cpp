// Immediate post-dominators of branches: where a SIMT stack brings diverged paths together.
// The iterative algorithm of Cooper, Harvey and Kennedy runs on the reversed control-flow graph of the instructions.
#include "sim/exec/program.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

using Node = std::uint32_t;
constexpr Node kUnset = 0xFFFFFFFF;

/// Instructions in reverse post-order of the reversed graph, from the exit; those that never reach it are left out.
std::vector<Node> exit_first_order(const std::vector<std::vector<Node>>& predecessors, Node end) {
    std::vector<Node> order;
    std::vector<std::pair<Node, std::size_t>> stack{{end, 0}};
    std::vector<bool> seen(predecessors.size(), false);
    seen[end] = true;
    while (!stack.empty()) {
        auto& [node, next] = stack.back();
        if (next == predecessors[node].size()) {
            order.push_back(node);
            stack.pop_back();
            continue;
        }
        const Node before = predecessors[node][next++];
        if (!seen[before]) {
            seen[before] = true;
            stack.emplace_back(before, 0);
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

}  // namespace

std::vector<std::vector<Node>> successors_of(const std::vector<Operation>& operations) {
    const auto end = static_cast<Node>(operations.size());
    std::vector<std::vector<Node>> successors(operations.size() + 1);
    for (Node i = 0; i < end; ++i) {
        const Operation& op = operations[i];
        const bool guarded = op.guard != kNoSlot;
        if (op.kind == Kind::branch) successors[i].push_back(op.target);
        if (op.kind == Kind::indexed_branch) successors[i] = op.targets;
        if (op.kind == Kind::exit || op.kind == Kind::trap) successors[i].push_back(end);
        const bool falls_through = (op.kind != Kind::branch && op.kind != Kind::indexed_branch &&
                                    op.kind != Kind::exit && op.kind != Kind::trap);
        if (falls_through || guarded) successors[i].push_back(i + 1);
    }
    return successors;
}

void find_reconvergence(std::vector<Operation>& operations) {
    const auto end = static_cast<Node>(operations.size());
    const auto successors = successors_of(operations);
    std::vector<std::vector<Node>> predecessors(operations.size() + 1);
    for (Node i = 0; i < end; ++i)
        for (const Node to : successors[i]) predecessors[to].push_back(i);

    const auto order = exit_first_order(predecessors, end);
    std::vector<Node> rank(operations.size() + 1, kUnset);
    for (Node i = 0; i < order.size(); ++i) rank[order[i]] = i;

    std::vector<Node> dominator(operations.size() + 1, kUnset);
    dominator[end] = end;
    const auto meet = [&](Node a, Node b) {
        while (a != b) {
            while (rank[a] > rank[b]) a = dominator[a];
            while (rank[b] > rank[a]) b = dominator[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const Node node : order) {
            if (node == end) continue;
            Node common = kUnset;
            for (const Node to : successors[node])
                if (dominator[to] != kUnset) common = common == kUnset ? to : meet(common, to);
            if (common != dominator[node]) {
                dominator[node] = common;
                changed = true;
            }
        }
    }
    for (Node i = 0; i < end; ++i) operations[i].reconverge = dominator[i] == kUnset ? end : dominator[i];
}

}  // namespace gputomo::sim
