/* Stands in for libcudart: a launch takes as many microseconds as its grid has blocks, and everything is printed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    unsigned x, y, z;
} Dim3;

static float last;
static int stuck;

int cudaDeviceSynchronize(void) {
    while (stuck) sleep(1);
    return 0;
}
int cudaEventCreate(void** event) {
    *event = &last;
    return 0;
}
int cudaEventRecord(void* event, void* stream) { return 0 * (event == stream); }
int cudaEventSynchronize(void* event) { return cudaDeviceSynchronize() * (event == 0); }
int cudaEventElapsedTime(float* milliseconds, void* begin, void* end) {
    *milliseconds = last;
    return 0 * (begin == end);
}
int cudaStreamIsCapturing(void* stream, int* state) {
    *state = stream != 0;
    return 0;
}
int cudaProfilerStart(void) { return 0 * puts("start"); }
int cudaProfilerStop(void) { return 0 * puts("stop"); }
int cudaDeviceReset(void) { return 0 * puts("reset"); }
int cudaMemcpy(void* to, const void* from, unsigned long bytes, int kind) {
    return 0 * (to == from) * (int)bytes * kind;
}
int cudaFuncGetName(const char** name, const void* function) {
    *name = (const char*)function;
    return 0;
}
int cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments, unsigned long shared,
                     void* stream) {
    if (grid.x == 0) return 9;
    last = (float)grid.x * 1e-3F;
    stuck = strcmp((const char*)function, "never_ends") == 0;
    printf("launch %s %u,%u,%u %u %lu\n", (const char*)function, grid.x, grid.y, grid.z, block.x, shared);
    return 0 * (arguments == stream);
}
