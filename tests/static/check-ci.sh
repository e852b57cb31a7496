#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# The CI definitions are well formed, run every lane once, and run only scripts/test and scripts/hil. What other
# projects use (packaging/ci) and the examples of docs/ci.md are well formed, too, and the container for editors is
# that of the CI.
# shellcheck source=tests/static/lib.sh
. "$(dirname "$0")/lib.sh"

YAMLLINT='{extends: default, rules: {line-length: {max: 100}, document-start: disable, truthy: {check-keys: false}}}'

run_check()
{
	local line said
	said=$(cd "$TREE" && yamllint -f parsable -d "$YAMLLINT" .github .gitlab-ci.yml packaging/ci) ||
		bad "yamllint complains: $said"
	said=$("$PYTHON" "$(dirname "${BASH_SOURCE[0]}")/ci.py" "$TREE") || bad "ci.py failed"
	while read -r line; do
		[ -z "$line" ] || bad "$line"
	done <<<"$said"
}

# Debian's own interpreter has the required modules.
PYTHON=/usr/bin/python3

make_scratch()
{
	cp -a "$TREE/.github" "$TREE/.gitlab-ci.yml" "$TREE/.devcontainer" "$1/"
	mkdir "$1/scripts" "$1/packaging" "$1/docs"
	cp -a "$TREE/packaging/ci" "$1/packaging/"
	cp -a "$TREE/docs/ci.md" "$1/docs/"
	cp -a "$TREE/scripts/test" "$TREE/scripts/lanes" "$TREE/scripts/install-deps" "$1/scripts/"
}

PLANTS=29
plant()
{
	local github=$1/.github/workflows/test.yml hil=$1/.github/workflows/hil.yml
	local gitlab=$1/.gitlab-ci.yml users=$1/packaging/ci/dpumap-emu examples=$1/docs/ci.md
	local container=$1/.devcontainer/devcontainer.json
	case $2 in
	1) edit "$github" 's/^    steps:/   steps:/' ;;
	2) edit "$github" '/^          - static tidy$/d' ;;
	3) edit "$github" 's/^          - static tidy$/          - static unit/' ;;
	4) edit "$github" 's/checkout@v[0-9.]*/checkout@v4/' ;;
	5) edit "$github" 's/run: scripts\/test.*/& \&\& scripts\/demo/' ;;
	6) edit "$github" 's/needs: .*/needs: []/' ;;
	7) edit "$github" "s/!= 'success'/== 'failure'/" ;;
	8) edit "$github" 's/contents: read/contents: write/' ;;
	9) edit "$hil" 's/^  workflow_dispatch:/  pull_request:\n&/' ;;
	10) edit "$hil" 's/cancel-in-progress: .*/cancel-in-progress: true/' ;;
	11) edit "$hil" 's/scripts\/hil/scripts\/package/' ;;
	12) edit "$gitlab" 's/^          - static tidy$/          - statik/' ;;
	13) edit "$gitlab" '/resource_group/d' ;;
	14) edit "$gitlab" 's/^    - scripts\/test .*/&\n    - scripts\/bench/' ;;
	15) edit "$gitlab" 's/needs: \[lanes\]/needs: []/' ;;
	16) edit "$gitlab" 's/image: .*/image: debian:latest/' ;;
	17) printf 'name: more\n' >"$1/.github/workflows/more.yml" ;;
	18) touch "$1/scripts/lanes/planted" ;;
	19) edit "$users/action.yml" '/^ *- shell: bash$/{s/shell: bash/name: start/}' ;;
	20) edit "$users/action.yml" '/^description:/d' ;;
	21) edit "$users/action.yml" 's/using: composite/using: node20/' ;;
	22) edit "$users/gitlab.yml" 's/before_script/before-script/' ;;
	23) edit "$users/gitlab.yml" 's/^  variables:/  variables: {A: "1"}\n&/' ;;
	24) edit "$examples" 's/          do: stop/          does: stop/' ;;
	25) edit "$examples" 's/    container: debian:12/    containers: debian:12/' ;;
	26) edit "$examples" 's/^  extends: .dpumap-emu/  extend: .dpumap-emu/' ;;
	27) edit "$container" 's/bookworm-scm/bullseye-scm/' ;;
	28) edit "$container" 's/ test editor"/ test editors"/' ;;
	29) edit "$container" 's/"init": true,/"init": true/' ;;
	esac
}

main "$@"
