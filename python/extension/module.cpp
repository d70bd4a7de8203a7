// The extension module gputomo._core. It hands plain values to the package's Python modules, which have the interface
// that users see.
#include "answers.hpp"
#include "errors.hpp"
#include "launches.hpp"
#include "machines.hpp"

#include <nanobind/nanobind.h>

NB_MODULE(_core, module) {
    using namespace gputomo::python;
    translate_errors();
    bind_machines(module);
    bind_launches(module);
    bind_answers(module);
}
