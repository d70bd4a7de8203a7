// One thread follows 64 links, each in a line of its own, twice: once through DRAM and once through the L2.
#include "../suite.hpp"

extern "C" __global__ void pointer_chase(const unsigned* links, unsigned* out, int steps) {
    unsigned at = 0;
    for (int step = 0; step < steps; ++step) at = __ldcg(links + at);
    *out = at;
}

static suite::Entry entry("pointer_chase", [] {
    constexpr unsigned kLinks = 64, kDistance = 1024;  // words: 4 KiB from link to link
    std::vector<unsigned> links(kLinks * kDistance);
    for (unsigned i = 0; i < kLinks; ++i) links[i * kDistance] = (i + 27) % kLinks * kDistance;
    pointer_chase<<<1, 1>>>(suite::copy_of(links), suite::zeros<unsigned>(1), 2 * kLinks);
});
