# SPDX-License-Identifier: MIT OR Apache-2.0
# Short names for what CMake and tools/ do. `make help` lists them.
SHELL := /bin/bash
GENERATOR := $(if $(shell command -v ninja),Ninja,Unix Makefiles)
export CMAKE_GENERATOR ?= $(GENERATOR)
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
build = cmake --preset $(1) >/dev/null && cmake --build build/$(1) -j $(JOBS)

.PHONY: all demo test check doors matrix release install sim kills fuzz cover fmt clean help
all: ## build and test, the dev preset
	@tools/setup build
	@tools/test dev

demo: ## the whole thing on real data; installs what it needs
	@tools/demo

test: ## everything; installs what it needs; ends with the counts
	@tools/setup
	@tools/test

check: ## before a commit: format, tidy, headers, exports, every C preset and processor, linters
	@tools/setup check
	@tools/test fmt tidy tools headers exports dev clang asan tsan one raw cross lint

doors: release ## build the doors against the release library
	@tools/test node jvm

matrix: ## the compiler plugin in every supported Kotlin release
	@tools/setup
	@tools/jvm-test -Pmatrix -pl kolibri/kotlin/plugin -am

release: ## build/release, what install installs
	@tools/setup build || echo "make release: going on with what is here"
	@tools/release

install: release ## to PREFIX
	cmake --install build/release --prefix $(PREFIX)

kills: ## N=1000 SIGKILLs at random moments under each flush policy
	@tools/setup build
	@$(call build,dev)
	KEVY_KILLS=$(or $(N),1000) build/dev/test/test_kills

sim: ## N=100000 lives in each crash simulator, from seed S=1 on
	@tools/setup build
	@$(call build,one)
	@printf '%s\n' build/one/test/test_sim_{log,store} | SIM_SEEDS=$(or $(N),100000) \
	    TEST_TIME_FACTOR=100 xargs -P 2 -I {} env {} --seed=$(or $(S),1)

fuzz: ## one fuzz target: T=name S=seconds
	@tools/setup fuzz
	@$(call build,fuzz)
	@mkdir -p build/fuzz/found.$(T)
	build/fuzz/fuzz/fuzz_$(T) -max_total_time=$(or $(S),60) build/fuzz/found.$(T) \
	    $(wildcard */fuzz/corpus/$(T))

bench-%: release ## bench-engine, bench-bus, bench-jni, bench-values
	@bench/$*/run

cover: ## which lines the C tests execute, and which never
	@tools/setup
	@tools/cover

fmt: ## rewrite the C and C++ files in the house format
	@tools/setup check
	@tools/fmt

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z%-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14
