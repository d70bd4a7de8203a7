/* A library to preload: it runs a CUDA program's main() several times in one process and brackets chosen kernel
 * launches with cudaProfilerStart and cudaProfilerStop. A profiler that starts switched off then measures the same
 * launch several times, while the CUDA context and the profiler are set up once.
 *
 *     cc -O1 -fPIC -shared -o repeat_main.so scripts/repeat_main.c -ldl -lpthread
 *
 * The program must use the shared CUDA runtime (nvcc -cudart shared). Settings are environment variables:
 *
 *     GPUTOMO_REPORT       file for the report; without it, nothing is repeated
 *     GPUTOMO_REPETITIONS  repetitions with the profiler, 5 by default; with 0, launches are only chosen
 *     GPUTOMO_LAUNCHES     file of lines "INDEX KERNEL": launches to measure, counted from 0 for each kernel.
 *                          Without it, repetition 0 times all launches by events and chooses as below.
 *     GPUTOMO_SHORTEST     shortest launch that is chosen, in microseconds by events, 6 by default
 *     GPUTOMO_LONGEST      longest one, 5500 by default
 *     GPUTOMO_MOST         most kernels that are chosen, 5 by default, those with the longest launches
 *     GPUTOMO_SECONDS      processor seconds after its first launch after which a repetition is cut off, 5 by default;
 *                          four times this before its first launch, since programs make their data on the CPU
 *     GPUTOMO_LOCK         file that keeps processes from using the GPU at the same time
 *     GPUTOMO_HELD         seconds for which one operation of repetition 0 may hold the lock, 8 by default; five times
 *                          this for the repetitions with the profiler
 *
 * exit() returns to the next repetition. cudaDeviceReset() only waits, since the profiler would lose its context.
 * rand(), random(), drand48() and getopt() start afresh each time; other global state of the program does not.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/time.h>
#include <unistd.h>

typedef struct {
    unsigned x, y, z;
} Dim3;
typedef int Status;
typedef void* Stream;

enum {
    kKernels = 512,    /* kernels of one program; further ones are launched but not timed */
    kLaunches = 20000, /* timed launches of one program, likewise */
    kLaunchesOfKernel =
        60, /* later launches of a kernel are not timed, since timing each of thousands takes too long */
    kNameLength = 4096,
};

typedef struct {
    const void* handle;
    char* name;
    int launches; /* in this repetition */
    int chosen;   /* index of the launch to measure, or -1 */
} Kernel;

typedef struct {
    Kernel* kernel;
    int index;
    float microseconds;
    Dim3 grid, block;
} Launch;

typedef struct {
    enum { kHandle, kFunction, kCooperative, kExtended } kind;
    const void* function;
    Dim3 grid, block;
    void** arguments;
    size_t shared;
    Stream stream;
    const void* configuration;
} Call;

static Kernel kernels[kKernels];
static int kernel_count;
static Launch launches[kLaunches];
static int launch_count;
static int wanted, measured, launched;
static volatile int inside, repetition;
static sigjmp_buf back;
static pthread_t main_thread;
static int lock_file = -1, locked;
static FILE* report;
static Status (*profiler_start)(void), (*profiler_stop)(void);
static int (*program_main)(int, char**, char**);

/* The CUDA runtime's own function of that name. */
static void* runtime(const char* name) {
    void* found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "repeat_main: the program does not load %s; compile it with nvcc -cudart shared\n", name);
        abort();
    }
    return found;
}

static const char* setting(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value && *value ? value : otherwise;
}

static int from_program(void) { return inside && pthread_equal(pthread_self(), main_thread); }

static void lock(void) {
    const char* path = getenv("GPUTOMO_LOCK");
    if (locked || !path) return;
    if (lock_file < 0) lock_file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    flock(lock_file, LOCK_EX);
    locked = 1;
    /* A kernel that takes minutes would keep all other processes waiting. */
    const int held = atoi(setting("GPUTOMO_HELD", "8"));
    alarm(repetition == 0 ? held : 5 * held);
}

/* Repetition 0 lets other processes in after each operation. Later ones keep the lock until the process ends: the
 * profiler keeps the counters, and waiting for other measurements before each copy would take minutes. */
static void unlock(void) {
    if (locked && repetition == 0) {
        alarm(0);
        flock(lock_file, LOCK_UN);
        locked = 0;
    }
}

static Status wait_for_device(void) {
    static Status (*real)(void);
    if (!real) real = runtime("cudaDeviceSynchronize");
    return real();
}

static const char* name_of(const Call* call) {
    const char* name = NULL;
    if (call->kind == kHandle) {
        static Status (*of_handle)(const char**, const void*);
        void* driver = of_handle ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
        if (driver) of_handle = dlsym(driver, "cuKernelGetName");
        if (of_handle) of_handle(&name, call->function);
    } else {
        static Status (*of_function)(const char**, const void*);
        if (!of_function) of_function = dlsym(RTLD_NEXT, "cudaFuncGetName");
        if (of_function) of_function(&name, call->function);
    }
    return name ? name : "?";
}

/* `GPUTOMO_LAUNCHES` says which launch of this kernel to measure; -1: none. */
static int listed_launch(const char* name) {
    const char* path = getenv("GPUTOMO_LAUNCHES");
    FILE* file = path ? fopen(path, "r") : NULL;
    static char line[kNameLength], listed[kNameLength];
    int index, found = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%d %4095s", &index, listed) == 2 && strcmp(listed, name) == 0) found = index;
    if (file) fclose(file);
    return found;
}

static Kernel* kernel_of(const Call* call) {
    for (int i = 0; i < kernel_count; ++i)
        if (kernels[i].handle == call->function) return &kernels[i];
    if (kernel_count == kKernels) return NULL;
    Kernel* kernel = &kernels[kernel_count++];
    kernel->handle = call->function;
    kernel->name = strdup(name_of(call));
    kernel->launches = 0;
    kernel->chosen = listed_launch(kernel->name);
    return kernel;
}

static Status issue(const Call* call) {
    static Status (*by_handle)(const void*, Dim3, Dim3, void**, size_t, Stream);
    static Status (*by_function)(const void*, Dim3, Dim3, void**, size_t, Stream);
    static Status (*cooperative)(const void*, Dim3, Dim3, void**, size_t, Stream);
    static Status (*extended)(const void*, const void*, void**);
    switch (call->kind) {
        case kHandle:
            if (!by_handle) by_handle = runtime("__cudaLaunchKernel");
            return by_handle(call->function, call->grid, call->block, call->arguments, call->shared, call->stream);
        case kFunction:
            if (!by_function) by_function = runtime("cudaLaunchKernel");
            return by_function(call->function, call->grid, call->block, call->arguments, call->shared, call->stream);
        case kCooperative:
            if (!cooperative) cooperative = runtime("cudaLaunchCooperativeKernel");
            return cooperative(call->function, call->grid, call->block, call->arguments, call->shared, call->stream);
        default:
            if (!extended) extended = runtime("cudaLaunchKernelExC");
            return extended(call->configuration, call->function, call->arguments);
    }
}

/* Launches that are recorded into a graph do not run now: they can be neither timed nor measured. */
static int recorded(Stream stream) {
    static Status (*capturing)(Stream, int*);
    if (!capturing) capturing = runtime("cudaStreamIsCapturing");
    int state = 0;
    return capturing(stream, &state) == 0 && state != 0;
}

static Status timed(const Call* call, Kernel* kernel, int index) {
    static Status (*create)(void**), (*record)(void*, Stream), (*wait)(void*), (*elapsed)(float*, void*, void*);
    static void *before, *after;
    if (!before) {
        create = runtime("cudaEventCreate");
        record = runtime("cudaEventRecord");
        wait = runtime("cudaEventSynchronize");
        elapsed = runtime("cudaEventElapsedTime");
        create(&before);
        create(&after);
    }
    lock();
    wait_for_device();
    record(before, call->stream);
    const Status status = issue(call);
    record(after, call->stream);
    wait(after);
    float milliseconds = 0;
    const int ran = status == 0 && elapsed(&milliseconds, before, after) == 0;
    unlock();
    if (ran) { /* a launch that CUDA refused takes time too, but there is nothing to measure */
        const Launch launch = {kernel, index, milliseconds * 1e3F, call->grid, call->block};
        launches[launch_count++] = launch;
    }
    return status;
}

static void limit_processor_time(int seconds) {
    const struct itimerval limit = {{0, 0}, {seconds, 0}};
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* Processor seconds of a repetition after its first launch. Later repetitions run with the profiler. */
static int processor_seconds(void) { return atoi(setting("GPUTOMO_SECONDS", "5")) * (repetition == 0 ? 1 : 3); }

static Status launch(const Call* call) {
    if (!from_program() || recorded(call->stream)) return issue(call);
    if (!launched) {
        launched = 1;
        limit_processor_time(processor_seconds());
    }
    Kernel* kernel = kernel_of(call);
    if (!kernel) return issue(call);
    const int index = kernel->launches++;
    if (repetition == 0)
        return index < kLaunchesOfKernel && launch_count < kLaunches ? timed(call, kernel, index) : issue(call);
    if (index != kernel->chosen) return issue(call);
    lock();
    wait_for_device();
    profiler_start();
    const Status status = issue(call);
    wait_for_device();
    profiler_stop();
    if (++measured == wanted) {
        inside = 0;
        siglongjmp(back, 2);
    }
    return status;
}

Status __cudaLaunchKernel(const void* f, Dim3 grid, Dim3 block, void** arguments, size_t shared, Stream stream) {
    const Call call = {kHandle, f, grid, block, arguments, shared, stream, NULL};
    return launch(&call);
}

Status cudaLaunchKernel(const void* f, Dim3 grid, Dim3 block, void** arguments, size_t shared, Stream stream) {
    const Call call = {kFunction, f, grid, block, arguments, shared, stream, NULL};
    return launch(&call);
}

Status cudaLaunchCooperativeKernel(const void* f, Dim3 grid, Dim3 block, void** arguments, size_t shared,
                                   Stream stream) {
    const Call call = {kCooperative, f, grid, block, arguments, shared, stream, NULL};
    return launch(&call);
}

Status cudaLaunchKernelExC(const void* configuration, const void* f, void** arguments) {
    /* The first members of cudaLaunchConfig_t. */
    const struct {
        Dim3 grid, block;
        size_t shared;
        Stream stream;
    }* c = configuration;
    const Call call = {kExtended, f, c->grid, c->block, arguments, c->shared, c->stream, configuration};
    return launch(&call);
}

/* Copies of one process would add DRAM traffic to what another one measures. */
#define ALONE(name, parameters, arguments)          \
    Status name parameters {                        \
        static Status(*real) parameters;            \
        if (!real) real = runtime(#name);           \
        if (!from_program()) return real arguments; \
        lock();                                     \
        const Status status = real arguments;       \
        unlock();                                   \
        return status;                              \
    }
ALONE(cudaMemcpy, (void* to, const void* from, size_t bytes, int kind), (to, from, bytes, kind))
ALONE(cudaMemset, (void* to, int value, size_t bytes), (to, value, bytes))

Status cudaDeviceReset(void) { return wait_for_device(); }

/* The program's own brackets would switch the profiler on for launches that were not chosen. */
Status cudaProfilerStart(void) { return 0; }
Status cudaProfilerStop(void) { return 0; }

void exit(int code) {
    static void (*real)(int) __attribute__((noreturn));
    if (from_program()) {
        inside = 0;
        siglongjmp(back, 1);
    }
    if (!real) real = dlsym(RTLD_NEXT, "exit");
    real(code);
    __builtin_unreachable();
}

static void cut_off(int signal_number) {
    if (!inside) return;
    if (!pthread_equal(pthread_self(), main_thread)) { /* the kernel may give the signal to any thread */
        pthread_kill(main_thread, signal_number);
        return;
    }
    inside = 0;
    siglongjmp(back, signal_number == SIGALRM ? 4 : 3);
}

/* Of each kernel the first launch within the limits, and of these the longest ones. */
static void choose(void) {
    const float shortest = strtof(setting("GPUTOMO_SHORTEST", "6"), NULL);
    const float longest = strtof(setting("GPUTOMO_LONGEST", "5500"), NULL);
    const int most = atoi(setting("GPUTOMO_MOST", "5"));
    static Launch* first[kKernels];
    memset(first, 0, sizeof first);
    for (int i = launch_count - 1; i >= 0; --i)
        if (launches[i].microseconds >= shortest && launches[i].microseconds <= longest)
            first[launches[i].kernel - kernels] = &launches[i];
    for (; wanted < most; ++wanted) {
        Launch* best = NULL;
        for (int i = 0; i < kernel_count; ++i)
            if (first[i] && kernels[i].chosen < 0 && (!best || first[i]->microseconds > best->microseconds))
                best = first[i];
        if (!best) break;
        best->kernel->chosen = best->index;
    }
    for (int i = 0; i < launch_count; ++i) {
        const Launch* l = &launches[i];
        fprintf(report, "launch %d %s %.1f %u,%u,%u %u,%u,%u %s\n", l->index, l->kernel->name, l->microseconds,
                l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z,
                l->index == l->kernel->chosen ? "chosen" : "left");
    }
}

static int count_listed(const char* path) {
    FILE* file = fopen(path, "r");
    static char line[kNameLength];
    int lines = 0;
    while (file && fgets(line, sizeof line, file)) ++lines;
    if (file) fclose(file);
    return lines;
}

static int repeat(int count, char** arguments, char** environment) {
    const char* path = getenv("GPUTOMO_REPORT");
    if (!path) return program_main(count, arguments, environment);
    report = fopen(path, "w");
    if (!report) {
        fprintf(stderr, "repeat_main: cannot write the report %s\n", path);
        return 1;
    }
    /* A repetition may be cut off within malloc(), which then must not be called for the report. */
    static char buffer[BUFSIZ];
    setvbuf(report, buffer, _IOFBF, sizeof buffer);
    profiler_start = runtime("cudaProfilerStart");
    profiler_stop = runtime("cudaProfilerStop");
    main_thread = pthread_self();
    struct sigaction action = {0};
    action.sa_handler = cut_off;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    const int repetitions = atoi(setting("GPUTOMO_REPETITIONS", "5"));
    const char* listed = getenv("GPUTOMO_LAUNCHES");
    if (listed) wanted = count_listed(listed);
    for (repetition = listed ? 1 : 0; repetition <= repetitions; ++repetition) {
        char** copies = calloc(count + 1, sizeof *copies); /* a program may write into its arguments */
        for (int i = 0; i < count; ++i) copies[i] = strdup(arguments[i]);
        for (int i = 0; i < kernel_count; ++i) kernels[i].launches = 0;
        measured = launched = 0;
        srand(1);
        srandom(1);
        srand48(0);
        optind = 1;
        limit_processor_time(4 * processor_seconds());
        const int why = sigsetjmp(back, 1);
        if (why == 0) {
            inside = 1;
            program_main(count, copies, environment);
        }
        inside = 0;
        limit_processor_time(0);
        /* An operation of the GPU that was cut off may go on for minutes, or have left a mutex of CUDA locked. */
        const int stuck = why == 4 || (why == 3 && locked && repetition == 0);
        const Status status = stuck ? 0 : wait_for_device();
        const char* const ends[] = {"returned", "exited", "done", "cut off", "stopped on the GPU"};
        fprintf(report, "repetition %d %s, CUDA status %d, %d of %d launches measured\n", repetition, ends[why], status,
                measured, wanted);
        if (repetition == 0) choose();
        fflush(report);
        if (stuck || status != 0 || wanted == 0 || (repetition > 0 && measured == 0)) break;
    }
    fclose(report);
    fflush(NULL);
    _exit(0); /* destructors of the program have run or been jumped over already */
}

int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, int (*begin)(int, char**, char**),
                      void (*end)(void), void (*loader)(void), void* stack) {
    int (*real)(int (*)(int, char**, char**), int, char**, int (*)(int, char**, char**), void (*)(void), void (*)(void),
                void*) = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = main;
    return real(repeat, count, arguments, begin, end, loader, stack);
}
