// Launches the kernels of a program of the suite: those that are named as arguments, or all of them.
#include "suite.hpp"

#include <cstring>

int main(int count, char** names) {
    int launched = 0;
    for (suite::Entry* entry = suite::Entry::first(); entry != nullptr; entry = entry->next) {
        bool wanted = count < 2;
        for (int i = 1; i < count; ++i) wanted |= std::strcmp(names[i], entry->name) == 0;
        if (!wanted) continue;
        entry->launch();
        suite::check(cudaGetLastError(), entry->name);
        suite::check(cudaDeviceSynchronize(), entry->name);
        suite::release();
        ++launched;
    }
    std::printf("%d kernels launched\n", launched);
    if (launched > 0 && launched >= count - 1) return 0;
    std::fprintf(stderr, "%d kernels were named, %d of them are in this program\n", count - 1, launched);
    return 1;
}
