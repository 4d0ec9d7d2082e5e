# shellcheck shell=bash
# Completes 'git-shadow', and 'git shadow' where git's own completion is loaded (it calls _git_shadow).

# __git_shadow_complete <word>...: what the last word may become; the first one is 'git-shadow'
__git_shadow_complete()
{
	local typed=${*: -1} begun='' quote='' value
	case $typed in
	[\'\"]*)
		quote=${typed:0:1}
		typed=${typed:1}
		;;
	esac
	# Bash replaces only what stands behind the last '='.
	case $typed in
	-*=*) [[ $COMP_WORDBREAKS != *=* ]] || begun=${typed%%=*}= ;;
	esac
	COMPREPLY=()
	while IFS=$'\t' read -r value _; do
		value=${value#"$begun"}
		[[ $quote ]] || printf -v value %q "$value"
		# Git's completion has bash add no space, so this one does it as well.
		[[ $quote || $value == *[=/] ]] || value+=' '
		COMPREPLY+=("$value")
	done < <(git-shadow completion bash -- "${@:1:$#-1}" "$typed" 2>/dev/null)
}

# Called by git's completion, which has put together again what bash had taken apart at '='.
_git_shadow()
{
	local at=${__git_cmd_idx-1} last=${cword-0}
	# Before git 2.31 it did not say where the command is.
	while [[ -z ${__git_cmd_idx-} && ${words[at]-} != shadow ]] && ((at < last)); do ((at++)); done
	__git_shadow_complete git-shadow ${__git_C_args:+"${__git_C_args[@]}"} "${words[@]:at+1:last-at}"
}

__git_shadow_alone()
{
	local word joined=() glue=''
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
		if [[ ${#joined[@]} -gt 0 && ($glue || $word == =) ]]; then
			joined[${#joined[@]}-1]+=$word
			[[ $word == = ]] && glue=1 || glue=''
		else
			joined+=("$word")
		fi
	done
	__git_shadow_complete git-shadow "${joined[@]}"
}

complete -o bashdefault -o nospace -F __git_shadow_alone git-shadow
