// arc4random for executables that hold libstdc++ themselves.
//
// GCC 12 and newer build std::random_device with glibc's arc4random, which glibc 2.35 (Ubuntu 22.04) lacks. The linker
// takes random_device along with std::string, so that every executable would need glibc 2.36 for a function that it
// never calls. This one is hidden: libraries loaded later keep glibc's.
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept {
    std::uint32_t value = 0;
    ssize_t got = 0;
    do got = getrandom(&value, sizeof value, 0);
    while (got < 0 && errno == EINTR);
    if (got != sizeof value) std::abort();  // fewer than 256 bytes never come in parts
    return value;
}
