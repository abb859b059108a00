/** The time since something was fetched, for a text that counts down. */

import { useEffect, useState } from 'react'

/** @param isCounting false: it stays 0, and nothing is drawn again */
export function useElapsed(since: number, isCounting: boolean): number {
  const [now, setNow] = useState(since)
  useEffect(() => {
    if (!isCounting) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isCounting])
  return isCounting ? Math.max(0, now - since) : 0
}
