/** Shell scripts that connect the Tab key to `portico __complete`. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

// Bash splits words at = and :. So we pass the whole line, and suggestions begin after the last = or :.
const BASH = `# portico completion for bash: put this into ~/.bashrc
#   source <(portico completion bash)
_portico() {
  local IFS=$'\\n'
  COMPREPLY=($(portico __complete bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]]; then compopt -o nospace; fi
}
complete -o default -F _portico portico
`

const ZSH = `#compdef portico
# portico completion for zsh: put this into ~/.zshrc
#   source <(portico completion zsh)
_portico() {
  local -a found
  found=("\${(@f)$(portico __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( \${#found} )) && [[ -n "\${found[1]}" ]]; then
    compadd -S '' -M 'r:|/=*' -- \${found:#*[^/]}
    compadd -- \${found:#*/}
  else
    _files
  fi
}
compdef _portico portico
`

const FISH = `# portico completion for fish: put this into ~/.config/fish/completions/portico.fish
function __portico_complete
  set -l words (commandline -opc)
  portico __complete fish $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c portico -a '(__portico_complete)'
`

export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH }
