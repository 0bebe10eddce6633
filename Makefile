# Amend's commands. Each installs what it needs first; the second time that costs nothing.
#   make demo | test | build | bench | lint | format | install PREFIX=… | clean
#   SANITIZE=address,undefined or SANITIZE=thread builds apart, in build/<sanitizers>.
SANITIZE ?=
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
comma := ,
BUILD := build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
TYPE := $(if $(SANITIZE),Debug,Release)

.PHONY: all demo test build bench lint format install clean configure
all: build

configure:
	@scripts/bootstrap $(STAGE)
	@cmake -S . -B $(BUILD)/cmake -G Ninja -DCMAKE_BUILD_TYPE=$(TYPE) \
	  -DAMEND_SANITIZE="$(SANITIZE)" -DAMEND_TESTS=$(TESTS) \
	  -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >$(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }

build: STAGE = build
build: TESTS = OFF
build: | build-dir configure
	@cmake --build $(BUILD)/cmake -j $(JOBS) --target amend

test: STAGE = test
test: TESTS = ON
test: | build-dir configure
	@cmake --build $(BUILD)/cmake -j $(JOBS)
	@scripts/run_tests $(BUILD)/cmake $(JOBS) "$(SANITIZE)"

demo: STAGE = data
demo: TESTS = OFF
demo: | build-dir configure
	@cmake --build $(BUILD)/cmake -j $(JOBS) --target amend
	@examples/flights/demo.sh

bench: STAGE = data
bench: TESTS = OFF
bench: | build-dir configure
	@cmake --build $(BUILD)/cmake -j $(JOBS)
	@bench/run

lint: STAGE = lint
lint: TESTS = ON
lint: | build-dir configure
	@scripts/lint $(BUILD)/cmake

format: STAGE = lint
format:
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

install: build
	@cmake --install $(BUILD)/cmake

build-dir:
	@mkdir -p $(BUILD)
.PHONY: build-dir

clean:
	rm -rf build
