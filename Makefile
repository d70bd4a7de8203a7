# The front door. `make scan` and `make test` do all the set-up on a fresh Debian or Ubuntu.
.PHONY: test
test:
	cmake --preset release && cmake --build --preset release && ctest --preset release
