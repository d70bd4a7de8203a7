#include "errors.hpp"

#include "units/error.hpp"

#include <cstring>
#include <exception>

namespace gputomo::python {
namespace {

namespace nb = nanobind;

/// Messages may quote bytes of files that are no UTF-8.
void raise(const char* type, const char* message) {
    const auto errors = nb::module_::import_("gputomo.errors");
    const auto text =
        nb::steal(PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "backslashreplace"));
    if (text.is_valid()) PyErr_SetObject(errors.attr(type).ptr(), text.ptr());
}

/// Derived types come before their bases.
void translate(const std::exception_ptr& error, void* /*payload*/) {
    try {
        std::rethrow_exception(error);
    } catch (const InputError& e) {
        raise("InputError", e.what());
    } catch (const TimeLimitError& e) {
        raise("TimeLimitError", e.what());
    } catch (const DeviceError& e) {
        raise("DeviceError", e.what());
    } catch (const Interrupted& e) {
        // A handler of signals has raised what is to be raised: KeyboardInterrupt.
        if (PyErr_Occurred() == nullptr) raise("Error", e.what());
    } catch (const Error& e) {
        raise("Error", e.what());
    }
}

}  // namespace

void translate_errors() { nb::register_exception_translator(translate); }

}  // namespace gputomo::python
