# Completes 'git-shadow', and 'git shadow' with fish's own completion of git.

# The words behind the command's name, with the directories that git was told to go to.
function __git_shadow_words
    set -l words (commandline -opc)
    set -l name $words[1]
    set -e words[1]
    if test $name = git
        while set -q words[1]; and test $words[1] != shadow
            if test $words[1] = -C; and set -q words[2]
                printf '%s\n' -C $words[2]
                set -e words[1]
            end
            set -e words[1]
        end
        set -e words[1]
    end
    set -q words[1]; and printf '%s\n' $words
end

function __git_shadow_complete
    set -l typed (commandline -ct | string replace -r '^[\'"]' '')
    git-shadow completion fish -- git-shadow (__git_shadow_words) "$typed" 2>/dev/null
end

complete -c git-shadow -f -k -a '(__git_shadow_complete)'
complete -c git -n '__fish_git_using_command shadow' -f -k -a '(__git_shadow_complete)'
