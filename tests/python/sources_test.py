"""Kernels of numba-cuda, CuPy, cuda.core, Warp and PyTorch's Inductor, and Triton's warm-up, without a GPU. What is not
installed is skipped."""

import importlib.util
import unittest
import unittest.mock

import gputomo
from paths import CUBIN

try:
    import numpy
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from error

COUNT = 1 << 14
SOURCE = """
extern "C" __global__ void scale(float* out, const float* x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * x[i];
}
"""


def needs(*names):
    missing = [name for name in names if importlib.util.find_spec(name.split(".")[0]) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def arrays():
    x = numpy.random.default_rng(3).random(COUNT, dtype=numpy.float32)
    return numpy.zeros_like(x), x


def compiler_is_missing(error):
    return "there is no NVRTC" in str(error) or "there is no ptxas" in str(error)


class Sources(unittest.TestCase):
    def check(self, kernel, args, grid=COUNT // 256, outputs=None, **options):
        """That a launch doubles `x`, and can be predicted."""
        out, x = arrays()
        try:
            answer = kernel.simulate(grid, args(out, x), "h200", outputs=True, **options)
        except gputomo.InputError as error:
            if compiler_is_missing(error):
                self.skipTest(str(error))
            raise
        numpy.testing.assert_array_equal(answer.outputs[outputs or kernel.parameters[0].name], 2 * x)
        predicted = kernel.predict(grid, args(out, x), "h200", **options)
        self.assertGreater(predicted.microseconds, 1)
        self.assertLess(predicted.microseconds, 100)

    @needs("cuda.core")
    def test_object_code_of_cuda_core(self):
        from cuda.core import ObjectCode

        code = ObjectCode.from_cubin(CUBIN.read_bytes())
        kernel = gputomo.kernel(code)
        self.assertEqual(kernel.name, "stream_copy_x4")
        self.assertEqual(kernel.code, CUBIN.read_bytes())
        self.assertEqual(gputomo.kernel(ObjectCode.from_cubin(str(CUBIN))).code, kernel.code)
        with self.assertRaisesRegex(gputomo.InputError, "is ltoir; expected cubin or ptx"):
            gputomo.kernel(ObjectCode.from_ltoir(b"123"))

    @needs("cuda.core")
    def test_program_of_cuda_core(self):
        from cuda.core import Program, ProgramOptions

        try:
            code = Program(SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("cubin")
        except Exception as error:  # the package raises errors of its own
            self.skipTest(f"NVRTC: {error}")
        self.check(gputomo.kernel(code), lambda out, x: [out, x, 2.0, COUNT], block=256)

    @needs("cupy")
    def test_raw_kernel_of_cupy(self):
        import cupy

        raw = cupy.RawKernel(SOURCE, "scale", options=("--use_fast_math",))
        with self.assertRaisesRegex(gputomo.InputError, "CuPy's scale: has to be compiled; expected machine="):
            gputomo.kernel(raw)
        try:
            kernel = gputomo.kernel(raw, machine="h200")
        except gputomo.InputError as error:
            self.assertTrue(compiler_is_missing(error), error)
            self.skipTest(str(error))
        self.check(kernel, lambda out, x: [out, x, 2.0, COUNT], block=256)
        with self.assertRaisesRegex(gputomo.InputError, "NVRTC refuses it for sm_90: .*undefined"):
            gputomo.kernel(cupy.RawKernel(SOURCE.replace("factor *", "faktor *"), "scale"), machine="h200")

    @needs("numba_cuda")
    def test_dispatcher_of_numba(self):
        try:
            from numba import cuda
        except Exception as error:  # it loads libraries of CUDA
            self.skipTest(f"numba-cuda cannot be imported: {error}")

        @cuda.jit
        def doubled(out, x, n):
            i = cuda.grid(1)
            if i < n:
                out[i] = 2 * x[i]

        @cuda.jit
        def transposed(out, x):
            i, j = cuda.grid(2)
            if i < out.shape[0] and j < out.shape[1]:
                out[i, j] = x[j, i]

        out, x = arrays()
        with self.assertRaisesRegex(gputomo.InputError, "was compiled for 0 signatures; expected args="):
            gputomo.kernel(doubled)
        kernel = gputomo.kernel(doubled, machine="h200", args=[out, x, COUNT])
        self.assertRegex(kernel.signature, r"doubled.*\(array\(float32, 1d, C\) out, array\(float32, 1d, C\) x, i64 n\)")
        self.check(kernel, lambda out, x: [out, x, COUNT], block=256)
        with self.assertRaisesRegex(gputomo.InputError, "x: found an array of float64 with 1 dimensions; expected flo"):
            kernel.launch(64, [out, x.astype(numpy.float64), COUNT], block=256)
        wide = numpy.arange(96 * 32, dtype=numpy.float32).reshape(96, 32)
        tall = numpy.zeros((16, 48), numpy.float32)
        view = wide[::2, ::2]  # strides that are not those of its lengths
        kernel = gputomo.kernel(transposed, machine="h200", args=[tall, view])
        made = kernel.simulate((2, 6), [tall, view], "h200", block=(8, 8), outputs=True)
        numpy.testing.assert_array_equal(made.outputs["out"], view.T)

    @needs("warp")
    def test_kernels_of_warp(self):
        import warped_kernels

        for fn in (warped_kernels.scale, warped_kernels.scale_pairs):
            kernel = gputomo.kernel(fn, machine="h200")
            self.assertEqual(kernel.block, (256, 1, 1))
        kernel = gputomo.kernel(warped_kernels.scale, machine="h200")
        self.check(kernel, lambda out, x: [out, x, 2.0], grid=COUNT)
        out, x = arrays()
        self.assertEqual(kernel.launch(COUNT, [out, x, 2.0]).grid, (COUNT // 256, 1, 1))
        with self.assertRaisesRegex(gputomo.InputError, "as many dimensions as wp.tid"):
            kernel.launch((COUNT, 2), [out, x, 2.0])
        vectors = x[: 3 * 1024].reshape(512, 2, 3)
        made = numpy.zeros_like(vectors)
        kernel = gputomo.kernel(warped_kernels.scale_pairs, machine="h200")
        answer = kernel.simulate((512, 2), [made, vectors, warped_kernels.FACTORS], "h200", outputs=True)
        numpy.testing.assert_array_equal(answer.outputs["out"], vectors * numpy.float32([1, 2, 3]))

    @needs("torch", "triton")
    def test_autotuner_of_inductor(self):
        import torch
        from torch._inductor.runtime import triton_heuristics
        from torch._inductor.runtime.hints import DeviceProperties

        import inductor_kernel

        properties = DeviceProperties(
            type="cuda", index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536,
            max_threads_per_multi_processor=2048, warp_size=32,
        )  # fmt: skip
        tuner = triton_heuristics.pointwise(
            size_hints={"x": COUNT},
            filename=inductor_kernel.__file__,
            triton_meta={
                "signature": {"in_ptr0": "*fp32", "out_ptr0": "*fp32", "xnumel": "i32", "XBLOCK": "constexpr"},
                "device": properties,
                "constants": {},
                "configs": [{(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}],
            },
            inductor_meta={"grid_type": "Grid1D", "kernel_name": "triton_doubled", "mutated_arg_names": []},
        )(inductor_kernel.triton_doubled)
        with self.assertRaisesRegex(gputomo.InputError, "has 0 compiled configurations"):
            gputomo.kernel(tuner)
        # Inductor looks for a GPU before it compiles, although the compilation needs none.
        with unittest.mock.patch("torch._inductor.runtime.triton_helpers.set_driver_to_gpu"):
            tuner.precompile(warm_cache_only=True)
        chosen = tuner.compile_results[0]
        kernel = gputomo.kernel(chosen if len(tuner.compile_results) > 1 else tuner)
        block = chosen.config.kwargs["XBLOCK"]
        x = torch.rand(COUNT)
        out = torch.zeros(COUNT)
        answer = kernel.simulate(COUNT // block, [x, out, COUNT], "h200", outputs=True)
        self.assertTrue(torch.equal(answer.outputs["out_ptr0"], 2 * x))

    @needs("torch", "triton")
    def test_warm_up_and_launches_of_triton(self):
        import torch

        from tuned_kernels import scale

        x = torch.rand(COUNT)
        out = torch.zeros(COUNT)
        with gputomo.triton.without_gpu("h200") as launches:
            warm = gputomo.kernel(scale.warmup(out, x, COUNT, 2.0, BLOCK=256, TURNS=1, grid=(1,)))
            scale[lambda c: (COUNT // c["BLOCK"],)](out, x, COUNT, 2.0, BLOCK=256, TURNS=1, num_warps=8)
        self.assertEqual(warm.code, gputomo.triton.compile(scale, [out, x, COUNT, 2.0], "h200", BLOCK=256, TURNS=1).code)
        self.assertEqual([(one.grid, one.block) for one in launches], [((64, 1, 1), (256, 1, 1))])
        self.assertFalse(out.any(), "nothing runs")
        made = launches[0].simulate("h200", outputs=True).outputs["out"]
        self.assertTrue(torch.equal(made, 2 * x))
        (answer,) = gputomo.predict_many(launches, "h200", quick=True)
        self.assertIn("the prediction is a quick one", " ".join(answer.assumptions))


if __name__ == "__main__":
    unittest.main()
