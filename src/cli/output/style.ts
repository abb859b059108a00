/** Colours, where the output supports them. */

import { styleText } from 'node:util'
import type { Io } from '../io.ts'
import type { Output } from '../shared-terminal.ts'
import { SafeText, type Showable } from './safe-text.ts'

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const

export type StyleName = (typeof STYLES)[number]

export type Styles = Readonly<Record<StyleName, (text: Showable) => SafeText>>

/** NO_COLOR and FORCE_COLOR decide first. Default: colours on a terminal that is not dumb. */
export function wantsColour({ env }: Pick<Io, 'env'>, output: Output): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0') return true
  return output.isTTY && env.TERM !== 'dumb'
}

export function stylesFor(isColoured: boolean): Styles {
  const entries = STYLES.map((name) => [
    name,
    (text: Showable): SafeText => {
      const shown = SafeText.join([text])
      return isColoured ? shown.styled((plain) => styleText(name, plain, { validateStream: false })) : shown
    },
  ])
  return Object.fromEntries(entries) as Styles
}

/** Terminals that draw links (OSC 8). tmux and screen may not pass them on. */
export function supportsLinks({ env }: Pick<Io, 'env'>, output: Output): boolean {
  if (!output.isTTY || env.TMUX !== undefined || env.STY !== undefined || env.TERM === 'dumb') return false
  const isKnown =
    /^(?:iTerm\.app|WezTerm|vscode|ghostty|Hyper|Tabby)$/.test(env.TERM_PROGRAM ?? '') ||
    /kitty|alacritty|foot|ghostty/.test(env.TERM ?? '')
  return isKnown || env.WT_SESSION !== undefined || env.KONSOLE_VERSION !== undefined || Number(env.VTE_VERSION ?? 0) >= 5000
}
