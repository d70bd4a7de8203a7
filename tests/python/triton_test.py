"""Kernels of the installed Triton: what is read from them, and configurations of @triton.autotune, without a GPU."""

import functools
import math
import sys
import unittest
import warnings

import gputomo
from paths import ROOT

try:
    import numpy
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from tuned_kernels import gather, scale, softmax

    sys.path.insert(0, str(ROOT / "python/examples"))
    import ranked_kernels
except ImportError as error:
    raise unittest.SkipTest(f"{error.name} is not installed") from error

print("Triton", triton.__version__)  # for the log: what it compiles differs from version to version
ROWS, COLUMNS = 512, 1000


def arrays():
    rows = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS), dtype=numpy.float32)
    return numpy.zeros_like(rows), rows


def compiled(num_warps=4):
    signature = {"out": "*fp32", "rows": "*fp32", "columns": "i32", "stride": "i32", "BLOCK": "constexpr"}
    source = ASTSource(softmax, signature, {"BLOCK": 1024}, {(i,): [["tt.divisibility", 16]] for i in (0, 1)})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": num_warps})


class Kernels(unittest.TestCase):
    def test_say_how_they_are_launched(self):
        kernel = gputomo.kernel(compiled(8))
        self.assertEqual(kernel.signature, "softmax(*fp32 out, *fp32 rows, i32 columns, i32 stride)")
        self.assertEqual(kernel.block, (256, 1, 1))
        self.assertEqual(kernel.dynamic_shared_bytes, compiled(8).metadata.shared)
        self.assertEqual(kernel.constants, {"BLOCK": 1024})
        self.assertGreater(kernel.registers, 8)
        self.assertIn(len(kernel.hidden), (1, 2))
        for hidden in kernel.hidden:
            self.assertEqual((hidden.parameter.size_bytes, hidden.bytes_per_block), (8, 0))

    def test_compute_what_they_should(self):
        out, rows = arrays()
        answer = gputomo.kernel(compiled()).simulate(ROWS, [out, rows, COLUMNS, COLUMNS], "h200", outputs=True)
        expected = numpy.exp(rows - rows.max(1, keepdims=True))
        numpy.testing.assert_allclose(answer.outputs["out"], expected / expected.sum(1, keepdims=True), rtol=1e-5)

    def test_take_arguments_in_each_form(self):
        out, rows = arrays()
        kernel = gputomo.kernel(compiled())
        answer = kernel.predict(ROWS, [out, rows, COLUMNS, COLUMNS], "h200")
        named = {"out": out, "rows": rows, "columns": COLUMNS, "stride": COLUMNS}
        self.assertEqual(kernel.predict((ROWS, 1), named, "h200"), answer)
        self.assertEqual(
            kernel.predict(lambda constants: (ROWS * 1024 // constants["BLOCK"],), {**named, "BLOCK": 1024}, "h200"),
            answer,
        )
        self.assertEqual(kernel.predict(ROWS, [out, rows, COLUMNS, COLUMNS, 1024], "h200"), answer)
        for bad, expected in (
            ([out, rows, COLUMNS, COLUMNS, 512], "BLOCK: found 512; expected 1024, for which softmax was compiled"),
            ([out, rows.astype(numpy.float16), COLUMNS, COLUMNS], "rows: found an array of fp16; expected fp32"),
            ([out, rows, 0.5, COLUMNS], "columns: found 0.5; expected a whole number of type i32"),
            ([out, rows], "found 2 arguments; expected 4"),
            ({**named, "rpws": 1}, "no parameter rpws"),
        ):
            with self.subTest(expected), self.assertRaisesRegex(gputomo.InputError, expected):
                kernel.predict(ROWS, bad, "h200")
        with self.assertRaisesRegex(gputomo.InputError, "compiled for blocks of"):
            kernel.predict(ROWS, named, "h200", block=256)

    def test_machine_code_and_ptx_agree(self):
        out, rows = arrays()
        made = compiled()
        ptx = gputomo.kernel(made.asm["ptx"])
        scratch = [None] * len(gputomo.kernel(made).hidden)
        found = ptx.predict(
            ROWS, [out, rows, COLUMNS, COLUMNS, *scratch], "h200", block=128, shared_bytes=made.metadata.shared
        )
        wanted = gputomo.kernel(made).predict(ROWS, [out, rows, COLUMNS, COLUMNS], "h200")
        self.assertAlmostEqual(found.cycles / wanted.cycles, 1, delta=0.05)
        with self.assertRaisesRegex(gputomo.InputError, "(?s)refuses it:.*retrun"):
            gputomo.kernel(made.asm["ptx"].replace("ret;", "retrun;")).predict(
                ROWS, [out, rows, COLUMNS, COLUMNS, *scratch], "h200", block=128
            )

    def test_that_need_more_are_refused(self):
        made = compiled()
        for change, expected in (
            ({"signature": {"out": "tensordesc<fp32[64,64]>"}}, "out is a tensor map"),
            ({"signature": {"out": ("*fp32", "i32")}}, "out is a tuple"),
            ({"signature": {"out": "*fp32"}}, "has 5 hidden parameters"),
            ({"signature": {str(i): "i32" for i in range(9)}}, "its cubin has 6 parameters"),
        ):

            class Other:
                metadata, asm = made.metadata, made.asm
                src = type("Source", (), change)

            with self.subTest(expected), self.assertRaisesRegex(gputomo.InputError, expected):
                gputomo.kernel(Other)

        class Clusters:
            metadata = made.metadata._replace(num_ctas=2)
            asm, src = made.asm, made.src

        with self.assertRaisesRegex(gputomo.InputError, "clusters of 2 blocks"):
            gputomo.kernel(Clusters)

        class Elsewhere:
            metadata, asm, src = made.metadata, {"hsaco": b""}, made.src

        with self.assertRaisesRegex(gputomo.InputError, "has no cubin but hsaco"):
            gputomo.kernel(Elsewhere)
        with self.assertRaisesRegex(gputomo.InputError, "JITFunction: is no kernel.*gputomo.triton.compile"):
            gputomo.kernel(softmax)


class Compiling(unittest.TestCase):
    def test_specializes_as_a_launch_does(self):
        x = numpy.zeros(1 << 12, numpy.float32)
        kernel = gputomo.triton.compile(scale, [x, x, 1, 2.0], "h200", BLOCK=256, TURNS=2, num_warps=2)
        self.assertEqual(kernel.constants, {"n": 1, "BLOCK": 256, "TURNS": 2})
        self.assertEqual([p.type for p in kernel.parameters], ["*fp32", "*fp32", "fp32"])
        self.assertEqual(kernel.block, (64, 1, 1))
        aligned = gputomo.triton.compile(scale, [x, x, 4096, 2.0], "h200", BLOCK=256, TURNS=2)
        unaligned = gputomo.triton.compile(scale, [x[1:], x[1:], 4095, 2.0], "h200", BLOCK=256, TURNS=2)
        wide = [hot.text for hot in aligned.predict(8, [x, x, 4096, 2.0], "h200").instructions]
        narrow = [hot.text for hot in unaligned.predict(8, [x[1:], x[1:], 4095, 2.0], "h200").instructions]
        self.assertTrue(any(".64" in text and ("LDG" in text or "STG" in text) for text in wide) or wide != narrow)
        with self.assertRaisesRegex(gputomo.InputError, "no argument for factor, BLOCK, TURNS"):
            gputomo.triton.compile(scale, [x, x, 4], "h200")
        with self.assertRaisesRegex(gputomo.InputError, "no Triton kernel"):
            gputomo.triton.compile(len, [], "h200")

    def test_results_of_unaligned_views(self):
        whole = numpy.arange(1025, dtype=numpy.float32)
        out = numpy.zeros(1024, numpy.float32)
        args = [out, whole[1:], 1024, 3.0]
        launch = gputomo.triton.launch(
            scale, lambda a: (triton.cdiv(a["n"], a["BLOCK"] * a["TURNS"]),), args, "h200", BLOCK=128, TURNS=2
        )
        self.assertEqual(launch.grid, (4, 1, 1))
        numpy.testing.assert_array_equal(launch.simulate("h200", outputs=True).outputs["out"], 3 * whole[1:])


class Example(unittest.TestCase):
    """The kernels of python/examples, whose configurations are ranked."""

    def test_kernels_compute_what_they_should(self):
        x = numpy.random.default_rng(2).standard_normal((5, 300), dtype=numpy.float32)
        out = numpy.zeros_like(x)
        launch = gputomo.triton.launch(
            ranked_kernels.softmax, 3, [out, x, 5, 300], "h200", GROUP=2, CHUNK=128, num_warps=2
        )
        exponents = numpy.exp(x - x.max(1, keepdims=True))
        found = launch.simulate("h200", outputs=True).outputs["out"]
        numpy.testing.assert_allclose(found, exponents / exponents.sum(1, keepdims=True), rtol=1e-4)
        launch = gputomo.triton.launch(
            ranked_kernels.stencil, (5, 3), [out, x, 5, 300, 0.5, 0.125], "h200", TALL=2, WIDE=64, num_warps=1
        )
        padded = numpy.pad(x, 1)
        sides = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
        found = launch.simulate("h200", outputs=True).outputs["out"]
        numpy.testing.assert_allclose(found, 0.5 * x + 0.125 * sides, rtol=1e-5, atol=1e-6)

    def test_there_are_fifty_configurations_of_each(self):
        made = list(ranked_kernels.cases(lambda count, is_half: None))
        self.assertEqual(len(made), 6)
        for name, _, configs, _, _ in made:
            self.assertEqual(len({tuple(config.items()) for config in configs}), 50, name)

    def outputs(self, fn, grid, args, **config):
        return gputomo.triton.launch(fn, grid, args, "h200", **config).simulate("h200", outputs=True).outputs["out"]

    def test_other_kernels_compute_what_they_should(self):
        random = numpy.random.default_rng(3)
        x, w, b = (random.random(n).astype(numpy.float16) for n in ((5, 300), 300, 300))
        found = self.outputs(
            ranked_kernels.layer_norm, 3, [x * 0, x, w, b, 5, 300, 1e-5], GROUP=2, CHUNK=64, num_warps=2
        )
        exact = x.astype(numpy.float32)
        normal = (exact - exact.mean(1, keepdims=True)) / numpy.sqrt(exact.var(1, keepdims=True) + 1e-5)
        numpy.testing.assert_allclose(found, normal * w + b, rtol=4e-3, atol=4e-3)
        field = random.random((40, 24), dtype=numpy.float32)
        out = numpy.zeros((24, 40), numpy.float32)
        found = self.outputs(ranked_kernels.transposition, (2, 5), [out, field, 40, 24], TALL=8, WIDE=16, num_warps=1)
        numpy.testing.assert_array_equal(found, field.T)
        a, b = (random.random((128, 128)).astype(numpy.float16) for _ in range(2))
        found = self.outputs(
            ranked_kernels.product, 4, [a * 0, a, b, 128, 128, 128], TALL=64, WIDE=64, DEEP=32, GROUP=2, num_warps=4
        )
        numpy.testing.assert_allclose(found, a.astype(numpy.float32) @ b.astype(numpy.float32), rtol=2e-3)
        q, k, v = (random.random((1, 64, 64)).astype(numpy.float16) for _ in range(3))
        found = self.outputs(
            ranked_kernels.attention, (2, 1), [q * 0, q, k, v, 64, 1.4427 / 8], HEAD=64, TALL=32, WIDE=32, num_warps=4
        )
        weights = numpy.exp(q[0].astype(numpy.float32) @ k[0].astype(numpy.float32).T / 8)
        wanted = weights / weights.sum(1, keepdims=True) @ v[0].astype(numpy.float32)
        numpy.testing.assert_allclose(found[0], wanted, rtol=4e-3)


class Tensors(unittest.TestCase):
    """Tensors as PyTorch has them. Where it is not installed, a stand-in has what is used of them."""

    class Meta:
        class device:
            type = "meta"

        class Storage:
            _cdata = 7

            def __init__(self, size):
                self.size = size

            def nbytes(self):
                return self.size

        def __init__(self, count, dtype, size):
            self.shape, self.dtype, self.size, self.storage = (
                (count,),
                f"torch.{dtype}",
                size,
                self.Storage(count * size),
            )

        def untyped_storage(self):
            return self.storage

        def data_ptr(self):
            return 0

        def storage_offset(self):
            return 0

        def element_size(self):
            return self.size

        def stride(self):
            return (1,)

    def test_of_meta_have_generated_contents(self):
        try:
            import torch

            x, index = (torch.empty(1 << 14, dtype=d, device="meta") for d in (torch.float32, torch.int32))
            out = torch.empty(1 << 14, dtype=torch.float32, device="meta")
        except ImportError:
            x, index, out = (
                self.Meta(1 << 14, "float32", 4),
                self.Meta(1 << 14, "int32", 4),
                self.Meta(1 << 14, "float32", 4),
            )
            index.storage._cdata, out.storage._cdata = 8, 9
        answer = gputomo.triton.launch(scale, 64, [out, x, 1 << 14, 2.0], "h200", BLOCK=256, TURNS=1).predict("h200")
        generated = [text for text in answer.assumptions if "was generated, because it is a meta tensor" in text]
        self.assertEqual(len(generated), 2)
        self.assertIn(generated[0], str(answer))
        self.assertIn(generated[0], answer.to_json()["assumptions"])
        answer = gputomo.triton.launch(gather, 64, [out, x, index, 1 << 14], "h200", BLOCK=256).predict("h200")
        self.assertRegex(
            answer.warnings[0], "argument index is a meta tensor of i32, whose content is taken to be zeros"
        )
        self.assertIn(answer.warnings[0], str(answer))


CONFIGS = [
    triton.Config({"BLOCK": block, "TURNS": turns}, num_warps=warps, num_stages=stages)
    for block in (64, 1024)
    for turns in (1, 8)
    for warps in (2, 8)
    for stages in (2, 3)
]


class Tuning(unittest.TestCase):
    def setUp(self):
        n = 1 << 18
        self.args = [numpy.zeros(n, numpy.float32), numpy.ones(n, numpy.float32), n, 2.0]
        self.grid = lambda a: (triton.cdiv(a["n"], a["BLOCK"] * a["TURNS"]),)

    def tuned(self, configs=CONFIGS, **prune):
        """A real autotuner, as a launch leaves it when it begins to prune."""
        tuner = triton.autotune(configs, key=["n"], prune_configs_by=prune)(scale)
        tuner.nargs = dict(zip(tuner.arg_names, self.args))
        return tuner.prune_configs({"grid": self.grid, "warmup": False})

    @functools.cache
    def times(self):
        model = gputomo.triton.perf_model(scale, "h200")
        named = dict(zip(scale.arg_names, self.args))
        return [model(**named, grid=self.grid, warmup=False, **config.all_kwargs()) for config in CONFIGS]

    def test_keeps_the_fastest_in_order(self):
        times = self.times()
        self.assertGreater(max(times) / min(times), 1.2, "configurations differ")
        kept = self.tuned(early_config_prune=gputomo.triton.early_config_prune(scale, "h200", keep=0.25))
        limit = sorted(times)[3] * 1.001
        self.assertEqual(kept, [config for config, time in zip(CONFIGS, times) if time <= limit])
        self.assertLess(len(kept), len(CONFIGS))
        # The number of stages changes nothing in this kernel, so that both stay.
        kept = self.tuned(early_config_prune=gputomo.triton.early_config_prune(scale, "h200", keep=1))
        self.assertGreaterEqual(len(kept), 2)
        self.assertEqual({config.num_stages for config in kept}, {2, 3})

    def test_perf_model_agrees_with_answers(self):
        times = self.times()
        kept = self.tuned(perf_model=gputomo.triton.perf_model(scale, "h200"), top_k=2)
        self.assertEqual({times[CONFIGS.index(config)] for config in kept}, set(sorted(times)[:2]))
        launch = gputomo.triton.launch(scale, self.grid, self.args, "h200", **CONFIGS[0].all_kwargs())
        answer = launch.predict("h200", caches="dirty", quick=True)
        self.assertAlmostEqual(answer.microseconds / 1000, times[0])

    def test_decorators_name_their_function_later(self):
        kept = self.tuned(early_config_prune=gputomo.triton.early_config_prune(lambda: scale, "h200", keep=4))
        self.assertEqual(kept, self.tuned(early_config_prune=gputomo.triton.early_config_prune(scale, "h200", keep=4)))

    def test_heuristics_are_applied(self):
        around = triton.heuristics({"TURNS": lambda args: 4 if args["BLOCK"] > 100 else 1})(scale)
        launch = gputomo.triton.launch(around, self.grid, self.args, "h200", BLOCK=128)
        self.assertEqual(launch.grid, ((1 << 18) // 512, 1, 1))

    def test_failed_predictions_keep_the_configuration(self):
        broken = triton.Config({"BLOCK": 100, "TURNS": 1})  # no power of two
        large = triton.Config({"BLOCK": 64, "TURNS": 1}, num_warps=64)  # more threads than a block has
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kept = self.tuned(
                [*CONFIGS[:4], broken, large, *CONFIGS[4:]],
                early_config_prune=gputomo.triton.early_config_prune(scale, "h200", keep=1),
            )
        self.assertIn(broken, kept)
        said = [str(w.message) for w in caught if issubclass(w.category, gputomo.triton.PredictionWarning)]
        self.assertTrue(any("BLOCK=100" in text and "is kept" in text for text in said), said)
        self.assertLess(len(kept), len(CONFIGS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = gputomo.triton.perf_model(scale, "h200")
            named = dict(zip(scale.arg_names, self.args))
            self.assertEqual(model(**named, grid=self.grid, BLOCK=100, TURNS=1), -math.inf)
            everything = gputomo.triton.early_config_prune(scale, "gtx980")
            self.assertEqual(everything(CONFIGS, named, grid=self.grid), CONFIGS)

    def test_chooses_by_prediction_without_gpu(self):
        n = 1 << 20
        tensors = [Tensors.Meta(n, "float32", 4) for _ in range(2)]
        tuned = triton.autotune([triton.Config({"BLOCK": 32 * turns, "TURNS": 1}, num_warps=1) for turns in (1, 16)],
                                key=["n"])(scale)  # fmt: skip
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"] * meta["TURNS"]),)  # noqa: E731
        with gputomo.triton.without_gpu("h200") as launches:
            tuned[grid](*tensors, n, 2.0)
        self.assertEqual(tuned.best_config.kwargs["BLOCK"], 512, "blocks of 32 numbers take longer to start")
        self.assertEqual([one.grid for one in launches], [(n // 512, 1, 1)], "what was tried is not recorded")

    def test_configurations_without_prediction_are_not_chosen_without_gpu(self):
        tensors = [Tensors.Meta(4096, "float32", 4) for _ in range(2)]
        recorder = []
        with gputomo.triton.without_gpu("gtx980") as launches, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            bench = triton.runtime.driver.active.get_benchmarker()
            recorder.append(bench(lambda: scale[(4,)](*tensors, 4096, 2.0, BLOCK=1024, TURNS=1), quantiles=(0.5, 0.2)))
        self.assertEqual(recorder, [[math.inf, math.inf]])
        self.assertEqual(launches, [])
        self.assertTrue(any("is not chosen" in str(one.message) for one in caught))

    def test_misspelt_options_are_refused(self):
        out, rows = arrays()
        for given, said in (({"num_warp": 4}, "did you mean num_warps"), ({"BLOK": 8}, "did you mean BLOCK")):
            with self.assertRaisesRegex(gputomo.InputError, said):
                gputomo.triton.launch(softmax, (ROWS,), [out, rows, COLUMNS, COLUMNS], "h200", BLOCK=1024, **given)
        with self.assertRaisesRegex(gputomo.InputError, "no argument for BLOCK; expected .* BLOCK=..."):
            gputomo.triton.launch(softmax, (ROWS,), [out, rows, COLUMNS, COLUMNS], "h200")

    def test_keep_is_checked(self):
        for keep in (0, 0.0, 1.5, -1, True):
            with self.assertRaisesRegex(gputomo.InputError, "keep"):
                gputomo.triton.early_config_prune(scale, "h200", keep=keep)


if __name__ == "__main__":
    unittest.main()
