# SPDX-License-Identifier: GPL-2.0-only
# What the build needs. Each failure names the Debian package that brings the thing.

find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
	message(FATAL_ERROR "pkg-config is missing: apt-get install pkg-config")
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# squeeze_need(TARGET MODULE PACKAGE): an imported target from a pkg-config module.
function(squeeze_need target module package)
	pkg_check_modules(${target} QUIET IMPORTED_TARGET ${module})
	if(NOT ${target}_FOUND)
		message(FATAL_ERROR "${module} is missing: apt-get install ${package}")
	endif()
endfunction()

squeeze_need(LIBCGROUP libcgroup libcgroup-dev)
squeeze_need(LIBURING liburing liburing-dev)
squeeze_need(NUMA numa libnuma-dev)
squeeze_need(LIBCAP libcap libcap-dev)
squeeze_need(JANSSON jansson libjansson-dev)

# dm-delay is optional: a kernel without device-mapper could not use it anyway.
pkg_check_modules(DEVMAPPER QUIET IMPORTED_TARGET devmapper)
if(NOT DEVMAPPER_FOUND)
	message(STATUS "devmapper is missing (apt-get install libdevmapper-dev): built without --swap delay")
endif()
