/** What Portico says in the log of the program. */

/** `error` is a fault of the server or of its surroundings, `warn` something to look at, and `info` no fault. */
type NoticeLevel = 'info' | 'warn' | 'error'

type Write = (level: NoticeLevel, text: string) => void

/** To standard error, because standard output may carry messages of the protocol. */
const writePlain: Write = (_level, text) => console.error(text)

export const notices = {
  write: writePlain,
}

/** The logs that programs have given. The last one is in use. */
const logs: { write: Write }[] = []

const useLast = (): void => {
  notices.write = logs.at(-1)?.write ?? writePlain
}

/** Lets a program write what Portico says to its own log. Returns a function that ends it. */
export function sendNotices(write: Write): () => void {
  const log = { write }
  logs.push(log)
  useLast()
  return () => {
    // Logs may end in any order, and a program may end one twice.
    const at = logs.indexOf(log)
    if (at >= 0) logs.splice(at, 1)
    useLast()
  }
}
