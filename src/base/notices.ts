/** What Portico says in the log of the program. */

/** `error` is a fault of the server or of its surroundings, `warn` something to look at, and `info` no fault. */
type NoticeLevel = 'info' | 'warn' | 'error'

type Write = (level: NoticeLevel, text: string) => void

/** To standard error, because standard output may carry messages of the protocol. */
const writePlain: Write = (_level, text) => console.error(text)

export const notices = {
  write: writePlain,
}

/** Lets a program write what Portico says to its own log. Returns a function that ends it. */
export function sendNotices(write: Write): () => void {
  const before = notices.write
  notices.write = write
  return () => {
    // Another log may have replaced this one since.
    if (notices.write === write) notices.write = before
  }
}
