# The front door. `make scan` and `make test` do all the set-up on a fresh Debian or Ubuntu.
JOBS ?= $(shell nproc)
# ON in continuous integration: a warning of a compiler that we have not tried must not stop a user's build.
WERROR ?= OFF
CONFIGURE = cmake -DGPUTOMO_WERROR=$(WERROR) --preset

.PHONY: build scan test package docs browser-test bench sanitize lint fuzz setup
build: setup
	$(CONFIGURE) release
	cmake --build --preset release -j $(JOBS)

setup:
	scripts/setup.sh

scan: setup
	$(CONFIGURE) release
	cmake --build --preset release -j $(JOBS) --target gputomo
	build/gputomo scan --device auto --out scan

test:
	scripts/setup.sh python
	$(CONFIGURE) release
	cmake --build --preset release -j $(JOBS)
	ctest --test-dir build --output-on-failure -j $(JOBS)

# Tarball, Debian package and Python wheel in build-package/packages, each tried: on this system, or with ROOTS=DIR in
# freshly made systems without a compiler (scripts/try_packages.sh). ARCH=arm64 cross-compiles into build-package-arm64.
PACKAGE_BUILD = build-package$(filter-out -$(shell dpkg --print-architecture),$(ARCH:%=-%))
package:
	scripts/setup.sh package
	CMAKE_ARGS="-DGPUTOMO_WERROR=$(WERROR) $$CMAKE_ARGS" JOBS=$(JOBS) scripts/package.sh $(PACKAGE_BUILD)
	scripts/try_packages.sh $(PACKAGE_BUILD)/packages $(ROOTS)

# Writes docs/methods/README.md and docs/results, and checks links, names of files and sizes of all documents.
docs: setup
	$(CONFIGURE) release
	cmake --build --preset release -j $(JOBS) --target gputomo
	python3 scripts/generate_docs.py --gputomo build/gputomo

# Installs headless Chromium and opens reports of whole scans in it. `make test` opens reports of a few experiments if
# Chromium is there.
browser-test:
	scripts/setup.sh browser
	$(CONFIGURE) release
	cmake --build --preset release -j $(JOBS) --target gputomo
	cd tests/browser && npm ci --no-audit --no-fund
	node tests/browser/report_test.mjs build/gputomo build/browser-test

bench:
	scripts/setup.sh bench
	$(CONFIGURE) bench
	cmake --build --preset bench -j $(JOBS)
	build-bench/bench/gputomo_bench

sanitize: setup
	$(CONFIGURE) sanitize
	cmake --build --preset sanitize -j $(JOBS)
	ctest --test-dir build-sanitize --output-on-failure -j $(JOBS)

# All of src and tests, or only one room and its tests, say `make lint LINT_ROOM=scan`. Files are checked 16 at a time,
# as they are compiled, because most of the time goes into the headers of libraries.
LINT_ROOM ?= [a-z_]*
lint:
	scripts/setup.sh lint
	$(CONFIGURE) lint
	build-lint/venv/bin/run-clang-tidy.py -clang-tidy-binary build-lint/venv/bin/clang-tidy -quiet -p build-lint -j $(JOBS) \
	  '/(gputomo|test)_$(LINT_ROOM)\.dir/Unity/|^$(CURDIR)/(src|tests)/$(LINT_ROOM)(/|\.cpp)'

FUZZ_SECONDS ?= 30
fuzz:
	scripts/setup.sh fuzz
	$(CONFIGURE) fuzz
	cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	for fuzzer in build-fuzz/tests/fuzz/fuzz_*; do \
	  [ -f $$fuzzer ] || continue; name=$${fuzzer##*/fuzz_}; \
	  $$fuzzer -max_total_time=$(FUZZ_SECONDS) $$(mktemp -d) tests/fuzz/corpus/$$name || exit 1; \
	done
