/** The time, once in a second. */

import { useEffect, useState } from 'react'

/** @param isTicking false: the time stands still, because nothing runs */
export function useSeconds(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isTicking) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
