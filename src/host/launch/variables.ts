/** Environment variables of a server: which of them change what runs, and which values are somebody's secret. */

import { isSecretName } from '../../protocol/redact.ts'
import { partsOf } from '../config/placeholder.ts'

/** Variables that load code, choose programs, or say where these are looked for. */
const CHANGE_WHAT_RUNS =
  /^(?:PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|XDG_CONFIG_\w+|IFS|ENV|BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|SHELL|PS4|PROMPT_COMMAND|ZDOTDIR|CDPATH|NODE_\w+|TS_NODE_\w+|TSX_\w+|npm_\w+|PNPM_\w+|YARN_\w+|BUN_\w+|DENO_\w+|UV_\w+|PIP_\w+|PIPX_\w+|PYTHON\w*|VIRTUAL_ENV|CONDA_\w+|RUBY\w+|GEM_\w+|BUNDLE_\w+|PERL\w+|PHPRC|PHP_INI_SCAN_DIR|LUA_\w+|JAVA_\w+|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_\w+|CORECLR_\w+|COR_\w+|GIT_\w+|SSH_ASKPASS|LD_\w+|DYLD_\w+|GCONV_PATH|GTK_MODULES|QT_PLUGIN_PATH|DOCKER_\w+|EDITOR|VISUAL|PAGER|BROWSER)$/i

/** Of these the system or an interpreter makes something before the server's own code runs. */
export const changesWhatRuns = (name: string): boolean => CHANGE_WHAT_RUNS.test(name) && !HARMLESS.test(name)

/** They look like one of those above, and choose no program. */
const HARMLESS =
  /^(?:NODE_ENV|NODE_NO_WARNINGS|NODE_DEBUG|NODE_DISABLE_COLORS|PYTHONUNBUFFERED|PYTHONIOENCODING|PYTHONUTF8|PYTHONDONTWRITEBYTECODE)$/

/** For people: what to look at twice among the variables that a configuration sets. */
export const variableWarnings = (env: Readonly<Record<string, string>>): string[] =>
  Object.keys(env)
    .filter(changesWhatRuns)
    .map((name) => `The variable ${name} can change which program or code runs`)

/**
 * What a question shows of a value. Placeholders stay as they are written, so nothing of the vault is in it. What somebody
 * wrote into the file is shown, except a plain word under the name of a secret: of that only the length. A text with
 * spaces or shell characters, or a value of a variable that changes what runs, is never hidden. Nor is any where the
 * command holds code, which can run a variable.
 */
export function shownValue(name: string, text: string, hasCode: boolean): string {
  if (hasCode || !isSecretName(name) || changesWhatRuns(name) || !SECRET_WORD.test(text)) return text
  if (partsOf(text).some((part) => 'placeholder' in part)) return text
  return `(a secret by its name: ${text.length} characters that are not shown)`
}

/** One word, as keys and tokens are; paths are none. */
const SECRET_WORD = /^[\w+=~-][\w.+=~-]{0,4095}$/
