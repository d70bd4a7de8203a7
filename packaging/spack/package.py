"""UNTESTED: a recipe for Spack. Set `git` to the repository, then put the file into a repository of recipes."""

from spack.package import *


class Gputomo(CMakePackage):
    """Measures GPUs by timing, and predicts and simulates kernels. Opens the CUDA driver at run time."""

    homepage = "https://example.org/gputomo"  # to be replaced
    git = "https://example.org/gputomo.git"  # to be replaced

    license("Apache-2.0")

    version("main", branch="main", get_full_repo=True)  # the version comes from the tags

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("gzip", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.10:")
    depends_on("cli11@2:")
    depends_on("sqlite")
    depends_on("zlib-api")
    depends_on("nettle")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("xxhash")

    generator("ninja")
    conflicts("%gcc@:11", msg="gputomo is C++20; GCC 12 is the oldest that it is tried with")

    def cmake_args(self):
        # Reports have static plots without Vega, which the build would fetch from npm.
        return [
            self.define("GPUTOMO_TESTS", False),
            self.define("GPUTOMO_STATIC", False),
            self.define("GPUTOMO_PORTABLE", False),
            self.define("GPUTOMO_VEGA", False),
            self.define("GPUTOMO_PYTHON", "OFF"),
        ]
