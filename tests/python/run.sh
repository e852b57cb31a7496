#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# run.sh BUILD PYTHON [PYTEST-ARGUMENT...]: run the tests of the Python package of a build. Without arguments,
# its coverage must be at least 90 %. One part runs on the host's function of an emulated card, the other
# part starts cards itself.
set -euo pipefail

build=$1
python=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
"$python" -c "import pytest, coverage, _cffi_backend" || { echo "needs pytest, coverage and cffi's backend"; exit 77; }

tmp=$(mktemp -d /tmp/dpumap-python.XXXXXX)
finish()
{
	"$build/bin/dpumap-emu" stop >/dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap finish EXIT

unset DPUMAP_LOG_LEVEL DPUMAP_CONNECT XDG_RUNTIME_DIR XDG_CONFIG_HOME
export DPUMAP_EMU_DIR=$tmp/emu DPUMAP_COMCH_DIR=$tmp/comch PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=error::ResourceWarning
export PATH=$build/bin:$PATH LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONPATH=$build/python:$here:$here/..
export COVERAGE_FILE=$tmp/coverage/data
mkdir "$tmp/coverage"
cd "$here"
cat >"$tmp/coveragerc" <<END
[run]
parallel = true
source = $build/python/dpumap
omit = $build/python/dpumap/_ffi.py
[report]
show_missing = true
END

covered=("$python" -m coverage run --rcfile "$tmp/coveragerc" -m pytest -q -c "$here/pytest.ini")
[ $# -eq 0 ] || covered=("$python" -m pytest -q -c "$here/pytest.ini")
dpumap-emu start
dpumap-emu run --as host -- "${covered[@]}" --basetemp "$tmp/on" --durations 5 "$@" on_card
[ $# -eq 0 ] || exit 0
dpumap-emu stop
"${covered[@]}" --basetemp "$tmp/off" --durations 3 off_card
"$python" -m coverage combine --rcfile "$tmp/coveragerc" -q
"$python" -m coverage report --rcfile "$tmp/coveragerc" --fail-under 90
