# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Fail if v1.txt differs from the file released with version 1.0 of the descriptor. Exporters and
# importers are updated at different times, firmware perhaps never, so all of them must agree on the
# meaning of a version 1 descriptor. If this check fails, restore the file; do not change the sum. A
# format that needs other results is major version 2, which has its own vectors.
set(frozen fbe7294b1740bfb350d2fedb662471d184573222921376fd2c97c4957abf2a87)
file(SHA256 ${CMAKE_CURRENT_LIST_DIR}/v1.txt found)
if(NOT found STREQUAL frozen)
	message(FATAL_ERROR "v1.txt was changed; restore it: see frozen.cmake")
endif()
