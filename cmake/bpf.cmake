# SPDX-License-Identifier: GPL-2.0-only
# The BPF probe: SQUEEZE_BPF=AUTO builds it if all it needs is there, ON insists, OFF leaves it out.
# Sets SQUEEZE_BPF_FOUND, and gives squeeze_target_bpf(). The build needs no BTF of the machine it
# runs on: the program declares what it looks at, and CO-RE finds that where it is loaded.

set(SQUEEZE_BPF_FOUND FALSE)
if(NOT SQUEEZE_BPF STREQUAL "OFF")
	find_program(BPF_CLANG clang)
	# Debian has it in /usr/sbin, which is not in everybody's PATH.
	find_program(BPFTOOL bpftool PATHS /usr/sbin /sbin)
	pkg_check_modules(LIBBPF QUIET IMPORTED_TARGET GLOBAL libbpf>=1.0)
	set(bpf_missing "")
	if(NOT BPF_CLANG)
		string(APPEND bpf_missing " clang")
	endif()
	if(NOT BPFTOOL)
		string(APPEND bpf_missing " bpftool")
	endif()
	if(NOT LIBBPF_FOUND)
		string(APPEND bpf_missing " libbpf-dev")
	endif()
	if(NOT bpf_missing)
		set(SQUEEZE_BPF_FOUND TRUE)
	elseif(SQUEEZE_BPF STREQUAL "ON")
		message(FATAL_ERROR "SQUEEZE_BPF=ON, but something is missing: apt-get install${bpf_missing}")
	else()
		message(STATUS "built without the BPF probe (apt-get install${bpf_missing})")
	endif()
endif()

# squeeze_target_bpf(TARGET NAME): compiles bpf/NAME.bpf.c, and NAME.skel.h for the sources of TARGET.
function(squeeze_target_bpf target name)
	set(source ${CMAKE_CURRENT_SOURCE_DIR}/bpf/${name}.bpf.c)
	set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
	set(stripped ${CMAKE_CURRENT_BINARY_DIR}/${name}.stripped.bpf.o)
	set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/skel/${name}.skel.h)
	file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/skel)
	# asm/types.h is in the architecture's folder, which -target bpf does not look into.
	add_custom_command(OUTPUT ${skeleton}
		COMMAND ${BPF_CLANG} -g -O2 -target bpf -Wall -Wextra -Werror
			-idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
			-MD -MF ${object}.d -MT ${skeleton} -c ${source} -o ${object}
		COMMAND ${BPFTOOL} gen object ${stripped} ${object}
		COMMAND ${BPFTOOL} gen skeleton ${stripped} name ${name}_bpf > ${skeleton}
		DEPENDS ${source}
		DEPFILE ${object}.d
		COMMENT "Building BPF skeleton ${name}.skel.h"
		VERBATIM)
	target_sources(${target} PRIVATE ${skeleton})
	# Generated code does not keep to our warnings.
	target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/skel)
	target_link_libraries(${target} PRIVATE PkgConfig::LIBBPF)
endfunction()
