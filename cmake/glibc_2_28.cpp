// Functions of newer glibcs that GCC's and other static libraries call, for programs that run with glibc 2.28.
//
// They are hidden, so that libraries loaded later keep glibc's. Their names for the linker are given apart, because
// headers declare some of them differently.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>

#define GPUTOMO_HIDDEN __attribute__((visibility("hidden")))

namespace {

constexpr long kNanoseconds = 1'000'000'000;

#if __GLIBC_PREREQ(2, 35)  // an older libgcc unwinds without _dl_find_object()
struct Question {
    ElfW(Addr) address;
    dl_find_object* answer;
};

/// Fills the answer in and ends the search where the address lies in this object.
int look(dl_phdr_info* object, std::size_t /*size*/, void* data) {
    auto& question = *static_cast<Question*>(data);
    ElfW(Addr) begin = ~ElfW(Addr){0}, end = 0, unwinding = 0;
    bool inside = false;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        const ElfW(Addr) from = object->dlpi_addr + part.p_vaddr, to = from + part.p_memsz;
        if (part.p_type == PT_GNU_EH_FRAME) unwinding = from;
        if (part.p_type != PT_LOAD) continue;
        begin = from < begin ? from : begin;
        end = to > end ? to : end;
        inside = inside || (question.address >= from && question.address < to);
    }
    if (!inside || unwinding == 0) return 0;
    *question.answer = {};  // processors differ in what the structure ends with
    question.answer->dlfo_map_start = reinterpret_cast<void*>(begin);
    question.answer->dlfo_map_end = reinterpret_cast<void*>(end);
    question.answer->dlfo_eh_frame = reinterpret_cast<void*>(unwinding);
    return 1;
}
#endif

}  // namespace

extern "C" {

/// Glibc 2.32: libstdc++ counts references without atomics where it is not 0.
GPUTOMO_HIDDEN char gputomo_single_threaded asm("__libc_single_threaded") = 0;

#if __GLIBC_PREREQ(2, 35)
/// Glibc 2.35: where libgcc finds how to unwind the caller at an address.
GPUTOMO_HIDDEN int gputomo_find_object(void* address, dl_find_object* found) asm("_dl_find_object");
int gputomo_find_object(void* address, dl_find_object* found) {
    Question question{reinterpret_cast<ElfW(Addr)>(address), found};
    return dl_iterate_phdr(look, &question) == 1 ? 0 : -1;
}
#endif

/// Glibc 2.30: std::condition_variable waits until a time of the monotonic clock. A step of the real-time clock
/// meanwhile makes this wait too long or too short; callers look at the clock again.
GPUTOMO_HIDDEN int gputomo_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                     const timespec* until) asm("pthread_cond_clockwait");
int gputomo_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
    timespec now{}, real{};
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &real);
    timespec at{real.tv_sec + until->tv_sec - now.tv_sec, real.tv_nsec + until->tv_nsec - now.tv_nsec};
    if (at.tv_nsec < 0) at = {at.tv_sec - 1, at.tv_nsec + kNanoseconds};
    if (at.tv_nsec >= kNanoseconds) at = {at.tv_sec + 1, at.tv_nsec - kNanoseconds};
    return pthread_cond_timedwait(condition, mutex, &at);
}

// Glibc 2.38: its headers give these functions another name, under which they also read binary numbers such as 0b11.
// Packages read what they read on systems with older headers, so these call the functions of before.
#define GPUTOMO_OLDER_NUMBER(Number, Character, name)                                                                 \
    Number gputomo_older_##name(const Character* text, Character** end, int base) asm(#name);                         \
    GPUTOMO_HIDDEN Number gputomo_##name(const Character* text, Character** end, int base) asm("__isoc23_" #name);    \
    Number gputomo_##name(const Character* text, Character** end, int base) {                                         \
        return gputomo_older_##name(text, end, base);                                                                 \
    }
GPUTOMO_OLDER_NUMBER(long, char, strtol)
GPUTOMO_OLDER_NUMBER(unsigned long, char, strtoul)
GPUTOMO_OLDER_NUMBER(long long, char, strtoll)
GPUTOMO_OLDER_NUMBER(unsigned long long, char, strtoull)
GPUTOMO_OLDER_NUMBER(std::intmax_t, char, strtoimax)
GPUTOMO_OLDER_NUMBER(std::uintmax_t, char, strtoumax)
GPUTOMO_OLDER_NUMBER(long, wchar_t, wcstol)
GPUTOMO_OLDER_NUMBER(unsigned long, wchar_t, wcstoul)
GPUTOMO_OLDER_NUMBER(long long, wchar_t, wcstoll)
GPUTOMO_OLDER_NUMBER(unsigned long long, wchar_t, wcstoull)

#define GPUTOMO_OLDER_SCAN(Source, name)                                                                              \
    int gputomo_older_v##name(Source source, const char* format, va_list values) asm("__isoc99_v" #name);             \
    GPUTOMO_HIDDEN int gputomo_v##name(Source source, const char* format, va_list values) asm("__isoc23_v" #name);    \
    int gputomo_v##name(Source source, const char* format, va_list values) {                                          \
        return gputomo_older_v##name(source, format, values);                                                         \
    }                                                                                                                 \
    GPUTOMO_HIDDEN int gputomo_##name(Source source, const char* format, ...) asm("__isoc23_" #name);                 \
    int gputomo_##name(Source source, const char* format, ...) {                                                      \
        va_list values;                                                                                               \
        va_start(values, format);                                                                                     \
        const int read = gputomo_older_v##name(source, format, values);                                               \
        va_end(values);                                                                                               \
        return read;                                                                                                  \
    }
GPUTOMO_OLDER_SCAN(const char*, sscanf)
GPUTOMO_OLDER_SCAN(FILE*, fscanf)
}
