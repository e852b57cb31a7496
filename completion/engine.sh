# shellcheck shell=sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# What may follow on a command line of dpumap, dpumapd or dpumap-emu. The completions of bash, zsh and fish contain this
# text. Arguments: the program, and the words after it, of which the last one is being typed. Output: a word in each
# line and after a tab its meaning, or
#   <file>PREFIX, <dir>PREFIX   files or directories after a prefix of the last word
#   <command>NUMBER             another command line, which begins with the word of this number
# All of it comes from --help and from running programs, so it cannot differ from what the programs accept.

program=$1
shift
tab=$(printf "\t")

help_of()
{
	"$program" "$@" --help 2>/dev/null
}

# Lines NAME, argument, meaning and letter of the options of a command.
options_of()
{
	# shellcheck disable=SC2086 # a command may be two words
	{
		help_of $1
		[ "$program" != dpumap ] || case $1 in desc* | pki* | "") ;; *) help_of ;; esac
	} | awk '
		/^ +(-[A-Za-z], )?--[a-z]/ {
			sub(/^ +/, "")
			letter = substr($0, 2, 1) == "-" ? "" : substr($0, 1, 2)
			if (letter != "") { $0 = substr($0, 5); sub(/^ +/, "") }
			name = $0; sub(/[ =].*/, "", name)
			argument = substr($0, length(name) + 1, 1) == "=" ? substr($0, length(name) + 2) : ""
			sub(/ .*/, "", argument)
			meaning = match($0, /   +/) ? substr($0, RSTART + RLENGTH) : ""
			if (!seen[name]++) print name "\t" argument "\t" meaning "\t" letter
		}'
}

# The words that may follow the words of a command: commands, actions of gid and port, kinds of faults.
next_words()
{
	# shellcheck disable=SC2086
	{ help_of; [ -z "$1" ] || help_of $1; } | awk -v given="$1" '
		/^Commands:$/ { commands = 1; next }
		/^The options of each kind:$/ { kinds = 1; next }
		/^$/ { commands = 0; kinds = 0 }
		kinds && /^  [a-z]/ { print $1 "\t" }
		/^(Usage|  or):/ && given != "" && index($0, " " given " ") && match($0, /\[OPTION\.\.\.\] [a-z]+( |$)/) {
			word = substr($0, RSTART + 12, RLENGTH - 12)
			sub(/ $/, "", word)
			if (!seen[word]++) print word "\t"
		}
		commands && /^  [a-z]/ {
			n = split(substr($0, 3, 28), words, " ")
			m = split(given, before, " ")
			for (i = 1; i <= m; i++)
				if (words[i] != before[i]) next
			meaning = substr($0, 31)
			sub(/^ +/, "", meaning)
			word = words[m + 1]
			if (n > m + 1 && words[m + 2] ~ /^[a-z]+$/) meaning = "..."
			if (word ~ /^[a-z][a-z-]*$/ && !seen[word]++) print word "\t" meaning
		}'
	case $program:$1 in
	*:) printf "help\tPrint the help of a command\n" ;;
	dpumap-emu:fault) echo clear ;;
	esac
}

# The words below a heading of the help of a command.
listed()
{
	help_of "$1" | sed -n "/^$2.*:\$/,/^\$/s/^    //p" | tr -d "," | tr " " "\n"
}

functions_of_emulator()
{
	# shellcheck disable=SC2086
	found=$("$program" status $place 2>/dev/null | sed -n "s/^gid \([^ ]*\) .*/\1/p" | sort -u)
	echo "${found:-dpu
host}"
}

exports()
{
	# shellcheck disable=SC2086
	case $program in
	dpumap) "$program" $place list --timeout 2 2>/dev/null ;;
	dpumapd) "$program" ctl list $place 2>/dev/null ;;
	esac | sed -n "2,\$s/ .*//p"
}

certificates()
{
	# shellcheck disable=SC2086
	"$program" pki list $place 2>/dev/null | sed -n "2,\$s/ .* valid .*//p"
}

# value NAME ARGUMENT: the values of an option, of which $typed was typed
value()
{
	case $program:$1 in
	dpumap-emu:--as | dpumap-emu:--peer) functions_of_emulator ;;
	dpumap-emu:--profile) listed run Profiles ;;
	dpumap-emu:--cap) "$program" caps 2>/dev/null | sed -n "2,\$s/^\([a-z][a-z-]*\) .*/\1=/p" ;;
	dpumap-emu:--method) listed fault Commands ;;
	dpumap-emu:--status) listed fault "Firmware statuses" ;;
	dpumap-emu:--syndrome) listed fault "Syndromes of" ;;
	dpumap-emu:--wire) echo loopback ;;
	dpumap:--key-type) printf "p256\ned25519\n" ;;
	*)
		case $2 in
		FILE | PATH) echo "<file>" ;;
		DIR | DIRECTORY) echo "<dir>" ;;
		ADDRESS)
			case $typed in
			unix:*) echo "<file>unix:" ;;
			*) printf "unix:\ntls:\n" ;;
			esac
			;;
		[a-z]*"|"*) echo "$2" | tr "|" "\n" ;;
		esac
		;;
	esac
}

# argument COMMAND NUMBER: an argument that is no word of the help
argument()
{
	case $program:$1:$2 in
	dpumap-emu:capture:0 | dpumap:get:1 | dpumap:read:1 | dpumap:write:1 | dpumap:cp:2 | "dpumap:desc "*:0) echo "<file>" ;;
	dpumap:cp:*)
		case $place in *--fleet*) exports ;; *) exports | sed "s/^/:/" ;; esac
		case $current in :*) ;; *) echo "<file>" ;; esac
		;;
	dpumap:list:0 | dpumap:info:0 | dpumap:get:0 | dpumap:import:0 | dpumap:read:0 | dpumap:write:0 | dpumap:fill:0 | dpumap:dump:0 | \
		dpumap:watch:0 | dpumap:bench:0 | "dpumapd:ctl remove:0" | "dpumapd:ctl rekey:0") exports ;;
	"dpumap:pki revoke:0" | "dpumap:pki renew:0") certificates ;;
	esac
}

word="" command="" number=0 place="" option="" wanted="" at=0
while [ $# -gt 1 ]; do
	word=$1
	shift
	at=$((at + 1))
	if [ -n "$wanted" ]; then
		wanted=""
		place="$place $option $word"
		continue
	fi
	case $word in
	--) [ "$command" != run ] || break ;;
	--*=*) place="$place $word" ;;
	-?*)
		option=$word
		wanted=$(options_of "$command" | awk -F "$tab" -v word="$word" "\$1 == word || \$4 == word { print \$2 }")
		;;
	*)
		[ "$word" != help ] || [ -n "$command" ] || continue
		if [ -n "$(next_words "$command" | awk -F "$tab" -v word="$word" "\$1 == word")" ]; then
			command="${command:+$command }$word"
		else
			number=$((number + 1))
		fi
		;;
	esac
	if [ "$command:$number" = run:1 ]; then
		at=$((at - 1))
		break
	fi
done
# Of these options, only those that say where: other ones would be errors of the commands that are asked.
place=$(echo " $place" | grep -oE -e " (--(connect|cert|key|ca|crl|psk|psk-name|server|config|dir|fleet|admin)|-[ca])[ =][^ ]+" | tr -d "\n")
current=${1-}
typed=$current
if [ "$command:$number" = run:1 ] || [ "$command:$word" = run:-- ]; then
	echo "<command>$((at + 1))"
elif [ -n "$wanted" ]; then
	value "$option" "$wanted"
elif [ "${current#--*=}" != "$current" ]; then
	option=${current%%=*}
	typed=${current#*=}
	wanted=$(options_of "$command" | awk -F "$tab" -v word="$option" "\$1 == word { print \$2 }")
	[ -z "$wanted" ] || value "$option" "$wanted" | sed "s|^<[a-z]*>|&$option=|; /^</!s|^|$option=|"
else
	case $current in
	-?*) options_of "$command" | awk -F "$tab" "{ print \$1 \"\t\" \$3 }" ;;
	*)
		if [ "$command" = run ]; then
			echo "<command>$((at + 1))"
		else
			[ "$number" -gt 0 ] || next_words "$command"
			argument "$command" "$number"
		fi
		;;
	esac
fi
