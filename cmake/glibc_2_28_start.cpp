// Starts an executable that was linked with the start code of glibc 2.34 or newer on an older one.
//
// The new start code gives no function that runs constructors, because the new glibc finds them itself. An older one
// runs none then. The linker sends the call here (--wrap), and the function comes from the archive libc_nonshared.a.
extern "C" {

using Main = int(int, char**, char**);
using Constructors = void(int, char**, char**);
using Function = void();

Constructors gputomo_constructors asm("__libc_csu_init");
Function gputomo_destructors asm("__libc_csu_fini");
int gputomo_glibc_start(Main* main, int argc, char** argv, Constructors* constructors, Function* destructors,
                        Function* loader_ends, void* stack_end) asm("__real___libc_start_main");

__attribute__((visibility("hidden"))) int gputomo_start(Main* main, int argc, char** argv, Constructors*, Function*,
                                                        Function* loader_ends,
                                                        void* stack_end) asm("__wrap___libc_start_main");
int gputomo_start(Main* main, int argc, char** argv, Constructors* /*none*/, Function* /*none*/, Function* loader_ends,
                  void* stack_end) {
    return gputomo_glibc_start(main, argc, argv, gputomo_constructors, gputomo_destructors, loader_ends, stack_end);
}
}
