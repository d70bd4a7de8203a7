// What the kernels of this folder share: each file has one kernel and an Entry that launches it by name.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace suite {

inline void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s; expected a GPU of compute capability 9.0\n", what, cudaGetErrorString(status));
    std::exit(1);
}

/// One launch of one kernel. All entries of a program form a list.
struct Entry {
    const char* name;
    void (*launch)();
    Entry* next;

    Entry(const char* kernel, void (*function)()) : name(kernel), launch(function), next(first()) { first() = this; }
    static Entry*& first() {
        static Entry* entry = nullptr;
        return entry;
    }
};

/// Allocations of the entry that is being launched; release() frees them.
inline std::vector<void*>& allocations() {
    static std::vector<void*> all;
    return all;
}

/// Device memory full of zeros. Zeros cost a capture no space.
template <class T>
T* zeros(std::size_t count) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
    allocations().push_back(memory);
    return static_cast<T*>(memory);
}

/// Device memory with these values.
template <class T>
T* copy_of(const std::vector<T>& values) {
    T* memory = zeros<T>(values.size());
    check(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return memory;
}

inline void release() {
    for (void* memory : allocations()) check(cudaFree(memory), "cudaFree");
    allocations().clear();
}

/// Spreads a number over 32 bits, so that addresses and branches seem random without data in memory.
__device__ inline unsigned spread(unsigned number) {
    number = (number ^ 0x9e3779b9U) * 0x85ebca6bU;
    number ^= number >> 15;
    number *= 0x2c1b3c6dU;
    return number ^ number >> 13;
}

}  // namespace suite
