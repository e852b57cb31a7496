# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Bash completion for dpumap-emu. Commands, options and their values come from --help, the functions of a
# running emulator from status.

_dpumap_emu_help()
{
	dpumap-emu "$@" --help 2>/dev/null
}

_dpumap_emu_commands()
{
	_dpumap_emu_help | sed -n '/^Commands:$/,/^$/s/^  \([a-z]*\) .*/\1/p'
	echo help
}

# The words that follow the first word of a command.
_dpumap_emu_actions()
{
	_dpumap_emu_help "$1" | sed -n "s/^\(Usage\|  or\): *dpumap-emu $1 \[OPTION\.\.\.\] \([a-z][a-z]*\).*/\2/p"
}

_dpumap_emu_options()
{
	_dpumap_emu_help "$@" | grep -oE -- '^ +(-., )? *--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

# The words below a heading of the help of `fault', or of another command.
_dpumap_emu_list()
{
	_dpumap_emu_help "$1" | sed -n "/^$2.*:\$/,/^\$/s/^    //p" | tr -d ','
}

_dpumap_emu_kinds()
{
	_dpumap_emu_help fault | sed -n '/^The options of each kind:$/,/^[A-Z].*--off/s/^  \([a-z]*\) .*/\1/p'
	echo clear
}

# Without an emulator: those of one card.
_dpumap_emu_functions()
{
	local found
	found=$(dpumap-emu status "${place[@]}" 2>/dev/null | sed -n 's/^gid \([^ ]*\) .*/\1/p' | sort -u)
	echo "${found:-dpu host}"
}

_dpumap_emu_capabilities()
{
	dpumap-emu caps 2>/dev/null | sed -n '2,$s/^\([a-z][a-z-]*\) .*/\1=/p'
}

# Offer the words of $1.
_dpumap_emu_offer()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_dpumap_emu_files()
{
	compopt -o filenames 2>/dev/null || true
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

# Complete the value of an option; false if the option has no value.
_dpumap_emu_value()
{
	case $1 in
	--config | --plan) _dpumap_emu_files -f ;;
	--dir) _dpumap_emu_files -d ;;
	--as | --peer) _dpumap_emu_offer "$(_dpumap_emu_functions)" ;;
	--profile) _dpumap_emu_offer "$(_dpumap_emu_list run Profiles)" ;;
	--cap)
		compopt -o nospace 2>/dev/null || true
		_dpumap_emu_offer "$(_dpumap_emu_capabilities)"
		;;
	--method) _dpumap_emu_offer "$(_dpumap_emu_list fault Commands)" ;;
	--status) _dpumap_emu_offer "$(_dpumap_emu_list fault 'Firmware statuses')" ;;
	--syndrome) _dpumap_emu_offer "$(_dpumap_emu_list fault 'Syndromes of')" ;;
	--wire) _dpumap_emu_offer loopback ;;
	--type) _dpumap_emu_offer "v1 v2" ;;
	--count) _dpumap_emu_offer all ;;
	--errno) _dpumap_emu_offer "ENOMEM EIO EINVAL EAGAIN EPERM" ;;
	--cards | --nodes | --gid | --device | --index | --vlan | --delay | --left | --nth | --qpn | --seed | \
		--speed) ;;
	*) return 1 ;;
	esac
}

# Set command, action (its first argument), rest (the index of the program of run) and place (--dir).
_dpumap_emu_parse()
{
	local i word cur='' COMPREPLY
	command='' action='' rest=0 place=()
	for ((i = 1; i < ${#words[@]} - 1; i++)); do
		word=${words[i]}
		case $word in
		--dir) place=(--dir "${words[i + 1]}") ;;
		--dir=*) place=("$word") ;;
		esac
		if [ "$command" = run ] && [[ $word != -* ]]; then
			rest=$i
			return
		elif [ "$word" = -- ]; then
			rest=$((i + 1))
			return
		elif [[ $word == -* ]]; then
			! _dpumap_emu_value "$word" || i=$((i + 1))
		elif [ -z "$command" ]; then
			[ "$word" = help ] || command=$word
		else
			action=$word
		fi
	done
}

_dpumap_emu_argument()
{
	case $command:$action in
	:) _dpumap_emu_offer "$(_dpumap_emu_commands)" ;;
	run:) _dpumap_emu_files -c ;;
	gid: | port:) _dpumap_emu_offer "$(_dpumap_emu_actions "$command")" ;;
	fault:) _dpumap_emu_offer "$(_dpumap_emu_kinds)" ;;
	capture:) _dpumap_emu_files -f ;;
	esac
}

# The program of run has its own completion.
_dpumap_emu_program()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$rest"
	elif [ "$rest" -eq $((${#words[@]} - 1)) ]; then
		_dpumap_emu_files -c
	else
		_dpumap_emu_files -f
	fi
}

_dpumap_emu()
{
	local line=${COMP_LINE:0:COMP_POINT} cur prev command action rest place words
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=('')
	cur=${words[-1]} prev=${words[-2]}
	COMPREPLY=()
	_dpumap_emu_parse
	if [ "$rest" -gt 0 ]; then
		_dpumap_emu_program
	elif [[ $cur == --*=* ]]; then
		prev=${cur%%=*} cur=${cur#*=}
		_dpumap_emu_value "$prev" || true
	elif _dpumap_emu_value "$prev"; then
		:
	elif [[ $cur == -* ]]; then
		_dpumap_emu_offer "$(_dpumap_emu_options ${command:+"$command"})"
	else
		_dpumap_emu_argument
	fi
}

complete -F _dpumap_emu dpumap-emu
