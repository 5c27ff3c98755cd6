# SPDX-License-Identifier: GPL-2.0-only
# cmake -DIN=FILE -DOUT=HEADER -DNAME=NAME -P embed.cmake: FILE's text as a string of C.
file(STRINGS "${IN}" lines ENCODING UTF-8)
set(body "")
foreach(line IN LISTS lines)
	string(REPLACE "\\" "\\\\" line "${line}")
	string(REPLACE "\"" "\\\"" line "${line}")
	string(APPEND body "\t\"${line}\\n\"\n")
endforeach()
file(WRITE "${OUT}" "/* Made from ${IN}. */\nstatic const char ${NAME}[] =\n${body}\t\"\";\n")
