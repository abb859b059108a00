/** Asks one question that is answered with y or n. */

import type { Io } from '../io.ts'
import { safe } from '../output/safe-text.ts'
import { Screen } from '../output/screen.ts'
import { chooseByKey } from './choice-line.ts'

/** Enter is no. @param yes what a yes does: `write it` */
export const confirm = (io: Io, question: string, yes: string, signal: AbortSignal): Promise<boolean> =>
  io.terminal.ask(async (terminal) => {
    const here = { ...io, terminal }
    const screen = new Screen(here)
    screen.note(safe`${screen.noteStyle.bold(question)}`)
    const choices = [
      { key: 'y', label: yes },
      { key: 'n', label: 'no' },
    ] as const
    return (await chooseByKey<'y' | 'n'>(here, choices, 'n', signal)) === 'y'
  })
