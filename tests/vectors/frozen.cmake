# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Is v1.txt what it was when version 1.0 of the descriptor was released? An exporter and an importer
# are updated at different times, firmware perhaps never: a descriptor of version 1 has to mean the
# same to all of them. If this fails, do not write another sum here; restore the file. A format that
# needs other answers is major version 2, which has vectors of its own.
set(frozen fbe7294b1740bfb350d2fedb662471d184573222921376fd2c97c4957abf2a87)
file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/v1.txt found)
if(NOT found STREQUAL frozen)
	message(FATAL_ERROR "v1.txt was changed; it must never be: see frozen.cmake")
endif()
