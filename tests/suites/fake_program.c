/* A CUDA program as repeat_main sees it: kernels of several lengths, one in a graph, one refused, and an end by exit().
 * Its second argument adds a reference on the CPU or a kernel that never end, or data that the CPU makes for 2 s. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was printed before a kill is kept */
    const char* what = count > 2 ? arguments[2] : "";
    const clock_t began = clock();
    while (strcmp(what, "prepares") == 0 && clock() - began < 2 * CLOCKS_PER_SEC) continue;
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
    launch("refused", 0, NULL);
    if (strcmp(what, "stuck") == 0) launch("never_ends", 50, NULL);
    puts("checks");
    volatile unsigned long turns = strcmp(what, "endless") == 0 ? ~0UL : 0;
    while (turns) --turns;
    cudaDeviceReset();
    exit(3);
}
