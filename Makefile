# Amend's commands. Each installs what it needs first; the second time that costs nothing.
#   make demo | test | build | bench | lint | format | install PREFIX=… | clean
#   SANITIZE=address,undefined or SANITIZE=thread builds apart, in build/<sanitizers>.
#   DEPS_DIR (default .deps) holds what scripts/bootstrap fetches.
SANITIZE ?=
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
comma := ,
BUILD := build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
TYPE := $(if $(SANITIZE),Debug,Release)

.PHONY: all build test demo bench lint format install clean
.NOTPARALLEL:
all: build

# $(call configure,STAGE,TESTS): what STAGE of scripts/bootstrap needs, then CMake.
define configure
	@scripts/bootstrap $(1)
	@mkdir -p $(BUILD)
	@cmake -S . -B $(BUILD)/cmake -G Ninja -DCMAKE_BUILD_TYPE=$(TYPE) -DAMEND_TESTS=$(2) \
	  -DAMEND_SANITIZE="$(SANITIZE)" -DAMEND_OUTPUT_DIR="$(CURDIR)/$(BUILD)" \
	  >$(BUILD)/configure.log 2>&1 || { cat $(BUILD)/configure.log; exit 1; }
endef

build:
	$(call configure,build,OFF)
	@cmake --build $(BUILD)/cmake -j $(JOBS) --target amend

test:
	$(call configure,test,ON)
	@cmake --build $(BUILD)/cmake -j $(JOBS) $(if $(filter thread,$(SANITIZE)),--target threads)
	@scripts/run_tests $(BUILD)/cmake $(JOBS) "$(SANITIZE)"

demo:
	$(call configure,demo,OFF)
	@cmake --build $(BUILD)/cmake -j $(JOBS) --target amend
	@examples/flights/demo.sh

bench:
	$(call configure,bench,OFF)
	@cmake --build $(BUILD)/cmake -j $(JOBS)
	@bench/run

lint:
	$(call configure,lint,ON)
	@scripts/lint $(BUILD)/cmake

format:
	@scripts/bootstrap lint
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

install: build
	@cmake --install $(BUILD)/cmake --prefix "$(PREFIX)"

clean:
	rm -rf build
