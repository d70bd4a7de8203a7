#include "machine/gpc_size.hpp"

#include <algorithm>
#include <cstddef>

namespace gputomo::machine {

std::vector<std::uint32_t> gpc_sizes(const Topology& topology) {
    const auto sms = static_cast<std::uint32_t>(topology.sms.value_or(0));
    const auto of_gpc = static_cast<std::uint32_t>(topology.sms_per_gpc.value_or(kAssumedSmsPerGpc));
    std::vector<std::uint32_t> sizes;
    std::uint32_t left = sms;
    for (const auto group : topology.cluster_sms.value_or({})) {
        const auto size = std::min(left, static_cast<std::uint32_t>(std::max<std::int64_t>(0, group)));
        left -= size;
        if (size == 0) continue;
        if (!sizes.empty() && sizes.back() + size <= of_gpc)
            sizes.back() += size;
        else
            sizes.push_back(size);
    }
    for (; left > 0; left -= sizes.back()) sizes.push_back(std::min(left, std::max(1U, of_gpc)));
    return sizes;
}

std::vector<std::uint32_t> gpcs_of_sms(const Topology& topology) {
    std::vector<std::uint32_t> gpcs;
    const auto sizes = gpc_sizes(topology);
    for (std::size_t gpc = 0; gpc < sizes.size(); ++gpc)
        gpcs.insert(gpcs.end(), sizes[gpc], static_cast<std::uint32_t>(gpc));
    return gpcs;
}

bool places_by_gpc(const Machine& machine) { return machine.launch.placement.value_or("sms") == "gpcs"; }

std::vector<std::uint32_t> first_sms(const Topology& topology, std::uint64_t blocks) {
    const auto sizes = gpc_sizes(topology);
    const auto of_tpc = static_cast<std::uint32_t>(std::max<std::int64_t>(1, topology.sms_per_tpc.value_or(1)));
    // Each block in turn goes to the GPC that has the fewest, as long as one has room.
    std::vector<std::uint32_t> given(sizes.size(), 0);
    for (std::uint64_t block = 0; block < blocks; ++block) {
        std::size_t least = sizes.size();
        for (std::size_t gpc = 0; gpc < sizes.size(); ++gpc)
            if (given[gpc] < sizes[gpc] && (least == sizes.size() || given[gpc] < given[least])) least = gpc;
        if (least == sizes.size()) break;
        ++given[least];
    }
    std::vector<std::uint32_t> sms;
    std::uint32_t first = 0;
    for (std::size_t gpc = 0; gpc < sizes.size(); first += sizes[gpc], ++gpc) {
        // One SM of each TPC, and further ones where blocks are left.
        std::vector<std::uint32_t> chosen;
        for (std::uint32_t round = 0; round < of_tpc; ++round)
            for (std::uint32_t sm = round; sm < sizes[gpc] && chosen.size() < given[gpc]; sm += of_tpc)
                chosen.push_back(first + sm);
        std::ranges::sort(chosen);
        sms.insert(sms.end(), chosen.begin(), chosen.end());
    }
    return sms;
}

}  // namespace gputomo::machine
