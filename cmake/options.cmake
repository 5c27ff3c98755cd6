# SPDX-License-Identifier: GPL-2.0-only
# Options of the build, and the INTERFACE target that carries them to every target of ours.

option(SQUEEZE_TESTS "Build the tests" ON)
option(SQUEEZE_BENCH "Build the benchmarks" ON)
option(SQUEEZE_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(SQUEEZE_WERROR "Warnings are errors (CI)" OFF)
option(SQUEEZE_COVERAGE "Instrument for gcov" OFF)
set(SQUEEZE_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")
set(SQUEEZE_BPF AUTO CACHE STRING "The BPF probe: AUTO (if clang, bpftool and libbpf are there), ON, OFF")
set_property(CACHE SQUEEZE_BPF PROPERTY STRINGS AUTO ON OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
	set(CMAKE_BUILD_TYPE Release)
endif()

add_library(squeeze_options INTERFACE)
target_compile_definitions(squeeze_options INTERFACE _GNU_SOURCE SQUEEZE_VERSION="${PROJECT_VERSION}")
target_compile_options(squeeze_options INTERFACE
	-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
	-Wno-missing-field-initializers # tables that leave out what is 0 are meant
	-Wformat=2 -Wvla -Wundef -Wimplicit-fallthrough -fno-common -fno-strict-aliasing)
target_include_directories(squeeze_options INTERFACE ${PROJECT_SOURCE_DIR}/src/common)
if(SQUEEZE_WERROR)
	target_compile_options(squeeze_options INTERFACE -Werror)
endif()
if(SQUEEZE_SANITIZE)
	target_compile_options(squeeze_options INTERFACE -fsanitize=${SQUEEZE_SANITIZE} -fno-omit-frame-pointer -g)
	target_link_options(squeeze_options INTERFACE -fsanitize=${SQUEEZE_SANITIZE})
endif()
if(SQUEEZE_COVERAGE)
	target_compile_options(squeeze_options INTERFACE --coverage -O0 -g)
	target_link_options(squeeze_options INTERFACE --coverage)
endif()
