// Makes dicts of structs, one row for each field. The classes of gputomo.answers and gputomo.machines have a field for
// each row, and a test compares both.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gputomo::python {

inline nanobind::object object_of(const std::string_view& text) {
    return nanobind::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}
inline nanobind::object object_of(const std::string& text) { return object_of(std::string_view(text)); }
template <class T>
requires std::is_arithmetic_v<T> nanobind::object object_of(T number) { return nanobind::cast(number); }
template <std::derived_from<nanobind::object> T>
nanobind::object object_of(const T& object) {
    return object;
}
template <class T>
nanobind::object object_of(const std::optional<T>& value);
template <class T>
nanobind::object object_of(const std::vector<T>& values);
template <class T, std::size_t n>
nanobind::object object_of(const std::array<T, n>& values);
template <class T>
nanobind::object object_of(const std::map<std::string, T>& values);

/// A struct is one for which rows_of() makes a dict.
template <class T>
requires requires(const T& value) { rows_of(value); }
nanobind::object object_of(const T& value) { return rows_of(value); }

template <class T>
nanobind::object object_of(const std::optional<T>& value) {
    return value ? object_of(*value) : nanobind::none();
}
template <class T>
nanobind::object object_of(const std::vector<T>& values) {
    nanobind::list list;
    for (const T& value : values) list.append(object_of(value));
    return list;
}
template <class T, std::size_t n>
nanobind::object object_of(const std::array<T, n>& values) {
    nanobind::list list;
    for (const T& value : values) list.append(object_of(value));
    return list;
}
template <class T>
nanobind::object object_of(const std::map<std::string, T>& values) {
    nanobind::dict dict;
    for (const auto& [key, value] : values) dict[object_of(key)] = object_of(value);
    return dict;
}

class Rows {
public:
    template <class T>
    Rows& row(const char* name, const T& value) {
        dict_[name] = object_of(value);
        return *this;
    }
    [[nodiscard]] nanobind::dict dict() const { return dict_; }

private:
    nanobind::dict dict_;
};

}  // namespace gputomo::python
