"""Tuners other than Triton's, each with the package itself: Helion, kernel_tuner, TVM and Inductor's scheduling. What
is not installed is skipped."""

import gc
import importlib.util
import inspect
import json
import math
import pathlib
import tempfile
import unittest
import unittest.mock
import warnings
import weakref

import gputomo

COUNT = 1 << 18
SOURCE = """
__global__ void scale(float* out, const float* x, int n) {
    for (int i = blockIdx.x * block_size_x * TURNS + threadIdx.x, t = 0; t < TURNS; ++t, i += block_size_x)
        if (i < n) out[i] = 2 * x[i];
}
"""


def needs(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def warned(caught):
    return [str(w.message) for w in caught if w.category.__name__ == "PredictionWarning"]


class Tuning(unittest.TestCase):
    def test_which_configurations_are_kept(self):
        from gputomo._tuning import kept

        self.assertEqual(kept([3.0, 1.0, None, 2.0], 1), [False, True, True, False])
        self.assertEqual(kept([3.0, 1.0, 1.0005, 2.0], 1), [False, True, True, False])
        self.assertEqual(kept([3.0, 1.0, 1.0005, 2.0], 0.6), [False, True, True, True])
        self.assertEqual(kept([None, None], 1), [True, True])


@needs("kernel_tuner", "numpy")
class KernelTuner(unittest.TestCase):
    PARAMS = {"block_size_x": [32, 256], "TURNS": [1, 8]}

    def write(self, folder, source=SOURCE, **options):
        import numpy

        args = [numpy.zeros(COUNT, numpy.float32), numpy.ones(COUNT, numpy.float32), numpy.int32(COUNT)]
        file = pathlib.Path(folder) / "cache.json"
        try:
            times = gputomo.kernel_tuner.write_cache(
                file, "scale", source, COUNT, args, self.PARAMS, "h200", grid_div_x=["block_size_x", "TURNS"], **options
            )
        except gputomo.InputError as error:
            if "there is no NVRTC" in str(error):
                self.skipTest(str(error))
            raise
        if times and all(time is None for time in times) and importlib.util.find_spec("nvidia") is None:
            self.skipTest("there is no NVRTC")
        return file, args, times

    def test_searches_predicted_times(self):
        import kernel_tuner

        with tempfile.TemporaryDirectory() as folder:
            file, args, times = self.write(folder)
            self.assertEqual(len(times), 4)
            self.assertGreater(max(times) / min(times), 1.2, "configurations differ")
            results, _ = kernel_tuner.tune_kernel(
                "scale", SOURCE, COUNT, args, self.PARAMS, grid_div_x=["block_size_x", "TURNS"], cache=str(file),
                simulation_mode=True, quiet=True, strategy="random_sample", strategy_options={"fraction": 1},
            )  # fmt: skip
            self.assertEqual(sorted(one["time"] for one in results), sorted(times))
            document = json.loads(file.read_text())
            self.assertIn("predicted by gputomo", document["device_name"])

    def test_leaves_out_what_fails(self):
        broken = SOURCE.replace("__global__", "#if TURNS == 8\n#error no\n#endif\n__global__")
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            file, _, times = self.write(folder, broken)
            self.assertEqual([time is None for time in times], [False, True, False, True])
            self.assertEqual(set(json.loads(file.read_text())["cache"]), {"32,1", "256,1"})
            self.assertTrue(any("TURNS=8) cannot be predicted and is kept" in text for text in warned(caught)))

    def test_restrictions_and_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            _, _, times = self.write(folder, restrictions=["block_size_x * TURNS < 256"])
            self.assertEqual(len(times), 1)
            with self.assertRaisesRegex(gputomo.InputError, "no configuration is allowed"):
                self.write(folder, restrictions=lambda config: False)


@needs("helion", "torch", "triton")
class Helion(unittest.TestCase):
    def setUp(self):
        import torch

        import helion_kernel

        self.add = helion_kernel.add
        self.args = (torch.empty(1024, 1024, device="meta"), torch.empty(1024, 1024, device="meta"))
        self.bound = self.add.bind(self.args)

    def config(self, rows, columns, **others):
        import helion

        return helion.Config(block_sizes=[rows, columns], num_warps=4, **others)

    def test_launches_and_times(self):
        (launch,) = gputomo.helion.launches(self.add, self.args, self.config(4, 256), "h200")
        self.assertEqual(launch.grid[0], 1024 * 1024 // 1024)
        fast, slow = gputomo.helion.milliseconds(self.bound, self.args, [self.config(4, 256), self.config(1, 32)], "h200")
        self.assertGreater(slow / fast, 2)

    def test_config_filter(self):
        keeps = gputomo.helion.config_filter(self.bound, self.args, "h200", slowest=1.5)
        good = self.config(4, 256)
        self.assertIs(keeps(good), good)
        self.assertIsNone(keeps(self.config(1, 32)))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            broken = self.config(4, 256, indexing="no such indexing")
            self.assertIs(keeps(broken), broken)
        self.assertTrue(warned(caught))

    def test_search_with_a_provider(self):
        from helion.autotuner.finite_search import FiniteSearch

        provider = gputomo.helion.benchmark_provider("h200")
        configs = [self.config(1, 32), self.config(4, 256), self.config(2, 64)]
        made = provider(self.bound, self.bound.settings, self.bound.config_spec, self.args, None, None)
        results = made.benchmark(configs)
        self.assertEqual([one.status for one in results], ["ok"] * 3)
        self.assertEqual(min(results, key=lambda one: one.perf).config, configs[1])
        self.assertTrue(all(math.isfinite(one.perf) for one in results))
        self.assertTrue(issubclass(provider, importlib.import_module("helion.autotuner.benchmark_provider").BenchmarkProvider))
        self.assertTrue(callable(FiniteSearch))


def without_search_for_modules():
    """TVM's first context parses its intrinsics, and asks Python for the stack at each. Python searches all modules for
    each function on it that comes from no file, which takes minutes."""
    search = inspect.getmodule

    def getmodule(thing, file=None):
        name = file or ("" if inspect.ismodule(thing) else inspect.getfile(thing))
        return None if name.startswith("<") else search(thing, file)

    return unittest.mock.patch("inspect.getmodule", getmodule)


@needs("tvm", "numpy")
class Tvm(unittest.TestCase):
    def test_cost_model_ranks_candidates(self):
        import tvm
        from tvm import te
        from tvm.s_tir import meta_schedule as ms

        a = te.placeholder((512, 512), "float32", name="A")
        b = te.placeholder((512, 512), "float32", name="B")
        k = te.reduce_axis((0, 512), "k")
        c = te.compute((512, 512), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
        module = tvm.IRModule({"main": te.create_prim_func([a, b, c])})
        with without_search_for_modules():
            context = ms.TuneContext(
                module, target=tvm.target.Target("nvidia/nvidia-h100"), space_generator="post-order-apply",
                search_strategy="evolutionary", num_threads=1,
            )  # fmt: skip
        context.pre_tuning(
            max_trials=4, num_trials_per_iter=4, design_spaces=context.generate_design_space(),
            database=ms.database.MemoryDatabase(), cost_model=ms.cost_model.RandomModel(),
        )  # fmt: skip
        candidates = context.generate_measure_candidates()
        described = gputomo.load("h200")
        model = gputomo.tvm.cost_model(described)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scores = model.predict(context, candidates)
        self.assertEqual(len(scores), len(candidates))
        self.assertLess(len(warned(caught)), len(candidates), warned(caught))
        (launch,) = gputomo.tvm.launches(candidates[0].sch.mod, "h200")
        alone = launch.predict("h200", caches="dirty", quick=True).microseconds / 1000
        self.assertAlmostEqual(scores[0], 1 / alone)
        self.assertGreater(max(scores) / min(scores), 1.05, "candidates differ")
        machine = weakref.ref(described)
        del model, described, launch
        gc.collect()
        self.assertIsNone(machine(), "TVM keeps the machine")


@needs("torch", "triton")
class Inductor(unittest.TestCase):
    def nodes(self):
        import torch
        from torch.fx.experimental.proxy_tensor import make_fx

        def work(x, y):
            return torch.relu(x @ y).t()

        x = torch.empty(2048, 2048, dtype=torch.float16, device="meta")
        return {str(n.target): n for n in make_fx(work, tracing_mode="fake")(x, x).graph.nodes}

    def test_estimates_operations(self):
        estimate = gputomo.inductor.runtime_estimation("h200")
        nodes = self.nodes()
        product = estimate(nodes["aten.mm.default"], None)
        # 2 * 2048^3 operations at somewhat less than 1.1e15 a second, and the start of a kernel.
        self.assertGreater(product, 0.016)
        self.assertLess(product, 0.025)
        relu = estimate(nodes["aten.relu.default"], None)
        self.assertAlmostEqual(relu, 1e3 * 2 * 2048 * 2048 * 2 / 4.66e12, delta=0.002)
        self.assertIsNone(estimate(nodes["aten.t.default"], None), "views take no time")
        self.assertIsNone(estimate(nodes["output"], None))
        with self.assertRaisesRegex(gputomo.InputError, "is not known|has no"):
            gputomo.inductor.runtime_estimation("gtx480")

    def test_is_what_the_pass_takes(self):
        from torch._inductor.fx_passes.overlap_scheduling import get_custom_estimation

        node = self.nodes()["aten.mm.default"]
        estimate = gputomo.inductor.runtime_estimation("h200")
        self.assertEqual(get_custom_estimation(node, estimate), estimate(node, None))


if __name__ == "__main__":
    unittest.main()
