// The exceptions of gputomo: one type for each exit code of the command line.
#pragma once

#include <stdexcept>
#include <string>

namespace gputomo {

/// Base of the errors that users see. `what()` is a complete message: what happened, where, and what was expected.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The command line or an input file is wrong (exit code 2). The message names the file, line or field, and what was
/// expected.
class InputError : public Error {
public:
    using Error::Error;
};

/// The device failed (exit code 3). The message names the driver call and the kernel.
class DeviceError : public Error {
public:
    using Error::Error;
};

/// A kernel exceeded its time limit (exit code 4). The message names the kernel and the limit.
class TimeLimitError : public DeviceError {
public:
    using DeviceError::DeviceError;
};

/// The user interrupted (exit code 130).
class Interrupted : public Error {
public:
    using Error::Error;
};

}  // namespace gputomo
