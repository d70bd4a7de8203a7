// Predicts kernels in tests/data, or in a text, on the shipped machines.
#pragma once

#include "machine/json.hpp"
#include "predict/static/listing.hpp"
#include "predict/static/prediction.hpp"
#include "predict/static/ptx_code.hpp"
#include "predict/static/sass_code.hpp"
#include "ptx/parser.hpp"
#include "units/error.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace gputomo::predict::testing {

inline std::string text_of(const std::string& file) {
    std::ifstream in(std::string(GPUTOMO_SOURCE_DIR) + "/tests/data/" + file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

inline machine::Machine machine_named(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

inline Code listed(const std::string& text, const std::string& kernel = "k") {
    return code_from_listing(parse_listing(text), kernel, "listing");
}
inline Code compiled(const std::string& text, const std::string& kernel = "k") {
    return code_from_ptx(ptx::parse_kernel(text, kernel), kernel, "ptx");
}

inline Prediction predicted(Code code, const std::string& machine, const Choices& choices = {}) {
    return predict(std::move(code), machine_named(machine), choices, machine);
}

/// PTX of a kernel with one pointer parameter and this body.
inline std::string ptx_of(const std::string& body) {
    return ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<9>; .reg "
           ".b32 %r<40>; .reg .f32 %f<40>; .reg "
           ".b64 %rd<20>;\n.shared .align 4 .b8 s[4096];\n"
           "ld.param.u64 %rd1, [p];\n" +
           body + "\nret;\n}\n";
}

template <class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const InputError& e) {
        return e.what();
    }
    return "no InputError";
}

}  // namespace gputomo::predict::testing
