/* A CUDA program as repeat_main sees it: kernels of several lengths, one in a graph, and an end by exit(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned x, y, z;
} Dim3;
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, unsigned long, void*);
int cudaMemcpy(void*, const void*, unsigned long, int);
int cudaProfilerStart(void);
int cudaDeviceReset(void);

static void launch(const char* kernel, unsigned blocks, void* stream) {
    const Dim3 grid = {blocks, 2, 1}, block = {64, 1, 1};
    cudaLaunchKernel(kernel, grid, block, NULL, 7, stream);
}

int main(int count, char** arguments) {
    printf("begin %d %s\n", rand(), arguments[1]);
    arguments[1][0] = '#';
    int data = 0;
    cudaMemcpy(&data, &data, 4, 1);
    cudaProfilerStart();
    for (unsigned i = 0; i < 3; ++i) {
        launch("grows", 3 + 10 * i, NULL);
        launch("steady", 100, NULL);
    }
    launch("recorded", 500, &data);
    launch("too_long", 9000, NULL);
    puts("checks");
    volatile unsigned long turns = count > 2 ? ~0UL : 0; /* a reference on the CPU that takes for ever */
    while (turns) --turns;
    cudaDeviceReset();
    exit(3);
}
