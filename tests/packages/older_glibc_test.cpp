// The functions that packages have in place of those of newer glibcs (cmake/glibc_2_28.cpp, cmake/older_glibc.cpp).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <stdexcept>

extern "C" {
long newer_strtol(const char* text, char** end, int base) asm("__isoc23_strtol");
unsigned long newer_strtoul(const char* text, char** end, int base) asm("__isoc23_strtoul");
long long newer_strtoll(const char* text, char** end, int base) asm("__isoc23_strtoll");
unsigned long long newer_strtoull(const char* text, char** end, int base) asm("__isoc23_strtoull");
std::intmax_t newer_strtoimax(const char* text, char** end, int base) asm("__isoc23_strtoimax");
std::uintmax_t newer_strtoumax(const char* text, char** end, int base) asm("__isoc23_strtoumax");
long newer_wcstol(const wchar_t* text, wchar_t** end, int base) asm("__isoc23_wcstol");
int newer_sscanf(const char* source, const char* format, ...) asm("__isoc23_sscanf");
int newer_fscanf(FILE* source, const char* format, ...) asm("__isoc23_fscanf");
int newer_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                    const timespec* until) asm("pthread_cond_clockwait");
std::uint32_t newer_random() asm("arc4random");
}

namespace {

constexpr long kNanoseconds = 1'000'000'000;

TEST(OlderGlibc, ReadsNumbersAsBeforeC23) {
    char* end = nullptr;
    EXPECT_EQ(newer_strtol("-42 apples", &end, 10), -42);
    EXPECT_STREQ(end, " apples");
    EXPECT_EQ(newer_strtoul("0x1f", nullptr, 0), 31U);
    EXPECT_EQ(newer_strtoll("077", nullptr, 0), 63);
    EXPECT_EQ(newer_strtoimax("-9223372036854775808", nullptr, 10), INTMAX_MIN);
    EXPECT_EQ(newer_strtoumax("18446744073709551615", nullptr, 10), UINTMAX_MAX);
    EXPECT_EQ(newer_wcstol(L"ff", nullptr, 16), 255);
    EXPECT_EQ(newer_strtol("0b11", &end, 0), 0);  // 3 in C23
    EXPECT_STREQ(end, "b11");
    errno = 0;
    EXPECT_EQ(newer_strtoull("18446744073709551616", nullptr, 10), ULLONG_MAX);
    EXPECT_EQ(errno, ERANGE);
}

TEST(OlderGlibc, ScansAsBeforeC23) {
    int decimal = 0, prefixed = -1;
    char after = 0;
    EXPECT_EQ(newer_sscanf("12 0b11", "%d %i%c", &decimal, &prefixed, &after), 3);
    EXPECT_EQ(decimal, 12);
    EXPECT_EQ(prefixed, 0);
    EXPECT_EQ(after, 'b');

    const std::unique_ptr<FILE, int (*)(FILE*)> file{std::tmpfile(), std::fclose};
    ASSERT_NE(file, nullptr);
    std::fputs("7f800000-7f900000 r", file.get());
    std::rewind(file.get());
    unsigned long from = 0, to = 0;
    EXPECT_EQ(newer_fscanf(file.get(), "%lx-%lx", &from, &to), 2);
    EXPECT_EQ(from, 0x7f800000U);
    EXPECT_EQ(to, 0x7f900000U);
}

TEST(OlderGlibc, WaitsUntilATimeOfTheMonotonicClock) {
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    timespec until{}, now{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += kNanoseconds / 50;
    if (until.tv_nsec >= kNanoseconds) until = {until.tv_sec + 1, until.tv_nsec - kNanoseconds};
    pthread_mutex_lock(&mutex);
    EXPECT_EQ(newer_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until), ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double early = double(until.tv_sec - now.tv_sec) + double(until.tv_nsec - now.tv_nsec) / kNanoseconds;
    EXPECT_LT(early, 0.001);  // the clock of the wait may run a little faster
    EXPECT_GT(early, -10);
}

TEST(OlderGlibc, GivesRandomNumbers) {
    const std::uint32_t first = newer_random();
    bool differs = false;
    for (int i = 0; i < 8; ++i) differs = differs || newer_random() != first;
    EXPECT_TRUE(differs);
}

#if __GLIBC_PREREQ(2, 35)
extern "C" int newer_find_object(void* address, dl_find_object* found) asm("_dl_find_object");

TEST(OlderGlibc, FindsHowToUnwind) {
    dl_find_object found{};
    const auto code = reinterpret_cast<char*>(&newer_find_object);
    ASSERT_EQ(newer_find_object(code, &found), 0);
    EXPECT_LE(found.dlfo_map_start, code);
    EXPECT_GT(found.dlfo_map_end, code);
    EXPECT_GT(found.dlfo_eh_frame, found.dlfo_map_start);
    EXPECT_LT(found.dlfo_eh_frame, found.dlfo_map_end);

    dl_find_object of_library{};
    ASSERT_EQ(newer_find_object(reinterpret_cast<void*>(&std::fclose), &of_library), 0);
    EXPECT_NE(of_library.dlfo_map_start, found.dlfo_map_start);

    const auto heap = std::make_unique<int>();
    EXPECT_EQ(newer_find_object(heap.get(), &found), -1);
    EXPECT_THROW(throw std::runtime_error("unwound with this function"), std::runtime_error);
}
#endif

}  // namespace
