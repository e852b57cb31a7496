# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Bash completion for dpumap. Commands and options come from --help. Names of exports come from the
# dpumapd or the fleet that the command line, the environment or the configuration selects.

# The long options of a command.
_dpumap_options()
{
	dpumap "$@" --help 2>/dev/null | grep -oE -- '^ +(-., )? *--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

_dpumap_commands()
{
	dpumap --help 2>/dev/null | sed -n '/^Commands:$/,/^$/s/^  \([a-z-]*\).*/\1/p; $s/.*/help/p' | sort -u
}

_dpumap_group()
{
	dpumap "$1" --help 2>/dev/null | sed -n "s/^  $1 \([a-z]*\).*/\1/p"
}

# The names of the exports, with the connection options of the command line.
_dpumap_exports()
{
	dpumap "$@" list --timeout 2 2>/dev/null | sed -n '2,$s/ .*//p'
}

_dpumap_certificates()
{
	dpumap pki list "$@" 2>/dev/null | sed -n '2,$s/ .* valid .*//p'
}

# Offer the words of $1.
_dpumap_offer()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_dpumap_files()
{
	compopt -o filenames 2>/dev/null || true
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

_dpumap_address()
{
	compopt -o nospace 2>/dev/null || true
	case $cur in
	unix:*) mapfile -t COMPREPLY < <(compgen -P unix: -f -- "${cur#unix:}") ;;
	*) _dpumap_offer "unix: tls:" ;;
	esac
}

# Complete the value of an option; false if the option has no value.
_dpumap_value()
{
	case $1 in
	--cert | --key | --ca | --crl | --psk | --config | --descriptor) _dpumap_files -f ;;
	--dir) _dpumap_files -d ;;
	--connect | -c) _dpumap_address ;;
	--key-type) _dpumap_offer "p256 ed25519" ;;
	--device | -d | --offset | -o | --length | -n | --file-offset | --size | -s | --count | \
		--timeout | -t | --psk-name | --server | --dpu | --host | --san | --days | --fleet | --label) ;;
	*) return 1 ;;
	esac
}

# Is the next word the value of this option? Adds connection options and --dir to connection, with
# their values.
_dpumap_has_value()
{
	local cur='' COMPREPLY
	case $1 in
	--connect=* | --cert=* | --key=* | --ca=* | --crl=* | --psk=* | --psk-name=* | --server=* | \
		--config=* | --dir=* | --fleet=*)
		connection+=("$1")
		return 1
		;;
	--connect | -c | --cert | --key | --ca | --crl | --psk | --psk-name | --server | --config | --dir | --fleet)
		connection+=("$1" "$2")
		;;
	*) _dpumap_value "$1" ;;
	esac
}

# Set command (one or two words), place (number of arguments before the cursor) and connection.
_dpumap_parse()
{
	local i word
	command='' place=0 connection=()
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		if _dpumap_has_value "$word" "${words[i + 1]}"; then
			i=$((i + 1))
		elif [[ $word == -?* ]]; then
			continue
		elif [ -z "$command" ]; then
			[ "$word" = help ] || command=$word
		elif [ "$command" = desc ] || [ "$command" = pki ] || [ "$command" = fleet ]; then
			command="$command $word"
		else
			place=$((place + 1))
		fi
	done
}

# Files, and in a fleet also its exports, which have no colon in front.
_dpumap_files_or_fleet()
{
	local names=()
	_dpumap_files -f
	[[ " ${connection[*]}" == *" --fleet"* ]] || return 0
	mapfile -t names < <(compgen -W "$(_dpumap_exports "${connection[@]}")" -- "$cur")
	COMPREPLY+=("${names[@]}")
}

_dpumap_argument()
{
	case $command:$place in
	:0) _dpumap_offer "$(_dpumap_commands)" ;;
	desc:0 | pki:0 | fleet:0) _dpumap_offer "$(_dpumap_group "$command")" ;;
	cp:0 | cp:1)
		case $cur in
		:*) _dpumap_offer "$(_dpumap_exports "${connection[@]}" | sed 's/^/:/')" ;;
		*) _dpumap_files_or_fleet ;;
		esac
		;;
	list:0)
		[[ " ${connection[*]}" != *" --fleet"* ]] || _dpumap_offer "$(_dpumap_exports "${connection[@]}")"
		;;
	info:0 | get:0 | import:0 | read:0 | write:0 | fill:0 | dump:0 | watch:0 | bench:0)
		_dpumap_offer "$(_dpumap_exports "${connection[@]}")"
		;;
	get:1 | read:1 | write:1 | cp:2 | desc\ *:0) _dpumap_files -f ;;
	pki\ revoke:0) _dpumap_offer "$(_dpumap_certificates "${connection[@]}")" ;;
	esac
}

_dpumap_option()
{
	local offered
	# shellcheck disable=SC2086 # a command may be two words
	offered=$(_dpumap_options $command)
	case $command in
	desc* | pki* | '') ;;
	*) offered+=" $(_dpumap_options)" ;;
	esac
	_dpumap_offer "$offered"
}

# bash splits words at colons and replaces only the part after the last colon.
_dpumap_trim()
{
	local before=${cur%"${cur##*:}"} i
	[[ $COMP_WORDBREAKS == *:* ]] || return 0
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]#"$before"}
	done
}

_dpumap()
{
	local line=${COMP_LINE:0:COMP_POINT} cur prev command place connection words
	# COMP_WORDS breaks addresses and names at their colons.
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=('')
	cur=${words[-1]} prev=${words[-2]}
	COMPREPLY=()
	_dpumap_parse
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*} cur=${cur#*=}
		_dpumap_value "$prev" || true
	elif _dpumap_value "$prev"; then
		:
	elif [[ $cur == -?* ]]; then
		_dpumap_option
	else
		_dpumap_argument
	fi
	_dpumap_trim
}

complete -F _dpumap dpumap
