// The machine description: everything known of one GPU, as plain structs of Field leaves.
// Each struct lists its leaves once, in fields(). Maps of structs are keyed by the name of the thing: "l1", "sp",
// "add.s32". The path of a leaf joins these names with dots: caches.l1.capacity. A key that has dots itself is put in
// brackets: operations[add.s32].latency.
#pragma once

#include "machine/caches.hpp"
#include "machine/chip.hpp"
#include "machine/execution.hpp"
#include "machine/memory.hpp"
#include "results/origin.hpp"

#include <map>
#include <optional>
#include <string>

namespace gputomo::machine {

/// Everything known of one GPU.
struct Machine {
    Identity identity;
    Clock clock;
    Topology topology;
    Issue issue;
    std::map<std::string, Pipeline> pipelines;
    std::map<std::string, Operation> operations;
    SharedMemory shared;
    std::map<std::string, Cache> caches;
    std::map<std::string, Tlb> tlbs;
    std::map<std::string, Path> paths;
    std::map<std::string, Pattern> patterns;
    std::map<std::string, Access> accesses;
    Memory memory;
    InstructionSupply instruction_supply;
    LaunchCost launch;

    /// Where and when it was measured; a description from publications has none. It is no leaf: nothing compares it.
    std::optional<results::Origin> origin;

    /// Calls visit(name, section) for each section, which is a struct of leaves or a map of such structs.
    template <class Self, class Visitor>
    static void sections(Self& self, Visitor&& visit) {
        visit("identity", self.identity);
        visit("clock", self.clock);
        visit("topology", self.topology);
        visit("issue", self.issue);
        visit("pipelines", self.pipelines);
        visit("operations", self.operations);
        visit("shared", self.shared);
        visit("caches", self.caches);
        visit("tlbs", self.tlbs);
        visit("paths", self.paths);
        visit("patterns", self.patterns);
        visit("accesses", self.accesses);
        visit("memory", self.memory);
        visit("instruction_supply", self.instruction_supply);
        visit("launch", self.launch);
    }
};

}  // namespace gputomo::machine
