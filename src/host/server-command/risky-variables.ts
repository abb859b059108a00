/** Recognizes environment variables that change which program or code runs. */

/** Variables that load code, choose programs, or set search paths. */
const CHANGE_WHAT_RUNS =
  /^(?:PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|XDG_CONFIG_\w+|IFS|ENV|BASH_ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|SHELL|PS4|PROMPT_COMMAND|ZDOTDIR|CDPATH|NODE_\w+|TS_NODE_\w+|TSX_\w+|npm_\w+|PNPM_\w+|YARN_\w+|BUN_\w+|DENO_\w+|UV_\w+|PIP_\w+|PIPX_\w+|PYTHON\w*|VIRTUAL_ENV|CONDA_\w+|RUBY\w+|GEM_\w+|BUNDLE_\w+|PERL\w+|PHPRC|PHP_INI_SCAN_DIR|LUA_\w+|JAVA_\w+|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_\w+|CORECLR_\w+|COR_\w+|GIT_\w+|SSH_ASKPASS|LD_\w+|DYLD_\w+|GCONV_PATH|GTK_MODULES|QT_PLUGIN_PATH|DOCKER_\w+|EDITOR|VISUAL|PAGER|BROWSER)$/i

/** Common name endings of such variables. */
const NAMED_FOR_IT = /(?:_COMMAND|_CMD|_ARGS|_OPTS|_OPTIONS|_FLAGS|_SCRIPT|_PRELOAD|_PROXY|_HOME|_PATH)$/i

/** The broad check: these variables stay visible in questions, because they may decide what runs. */
export const mayChangeWhatRuns = (name: string): boolean => CHANGE_WHAT_RUNS.test(name) || NAMED_FOR_IT.test(name)

/** The strict check: the system or an interpreter evaluates these before the server's own code runs. */
export const changesWhatRuns = (name: string): boolean => CHANGE_WHAT_RUNS.test(name) && !HARMLESS.test(name)

/** Exceptions that match the pattern above but choose no program. */
const HARMLESS =
  /^(?:NODE_ENV|NODE_NO_WARNINGS|NODE_DEBUG|NODE_DISABLE_COLORS|PYTHONUNBUFFERED|PYTHONIOENCODING|PYTHONUTF8|PYTHONDONTWRITEBYTECODE)$/

/**
 * Warnings about the variables that a configuration sets.
 *
 * @example
 * variableWarnings({ NODE_OPTIONS: '--require ./x.js' }) // one warning
 */
export const variableWarnings = (env: Readonly<Record<string, string>>): string[] =>
  Object.keys(env)
    .filter(changesWhatRuns)
    .map((name) => `The variable ${name} can change which program or code runs`)
