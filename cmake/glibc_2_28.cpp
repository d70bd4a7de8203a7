// Functions of newer glibcs that GCC's libraries call, for programs that run with glibc 2.28.
//
// They are hidden, so that libraries loaded later keep glibc's. Their names for the linker are given apart, because
// headers declare some of them differently.
#include <link.h>
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

#define GPUTOMO_HIDDEN __attribute__((visibility("hidden")))

namespace {

constexpr long kNanoseconds = 1'000'000'000;

/// What _dl_find_object() of glibc 2.35 returns on x86-64 and Arm.
struct FoundObject {
    unsigned long long flags;
    void* begin;
    void* end;
    link_map* map;
    void* unwinding;  ///< the section .eh_frame_hdr
    unsigned long long reserved[7];
};

struct Question {
    ElfW(Addr) address;
    FoundObject* answer;
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
    *question.answer = {0,       reinterpret_cast<void*>(begin),     reinterpret_cast<void*>(end),
                        nullptr, reinterpret_cast<void*>(unwinding), {}};
    return 1;
}

}  // namespace

extern "C" {

/// Glibc 2.32: libstdc++ counts references without atomics where it is not 0.
GPUTOMO_HIDDEN char gputomo_single_threaded asm("__libc_single_threaded") = 0;

/// Glibc 2.35: where libgcc finds how to unwind the caller at an address.
GPUTOMO_HIDDEN int gputomo_find_object(void* address, FoundObject* found) asm("_dl_find_object");
int gputomo_find_object(void* address, FoundObject* found) {
    Question question{reinterpret_cast<ElfW(Addr)>(address), found};
    return dl_iterate_phdr(look, &question) == 1 ? 0 : -1;
}

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
}
