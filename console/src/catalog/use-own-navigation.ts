/** Whether the person came here by a link of the console's own pages, and the quiet time for those who did not. */

import { useLocation, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'

/**
 * False for the address that opened this window: any page, mail or program can make such a link, so what it fills in is only offered.
 * The router counts the addresses of a window. The count survives a reload, and another site cannot set it.
 */
export const useIsOwnNavigation = (): boolean => useLocation({ select: ({ state }) => state.__TSR_index > 0 })

/** Opens the same address again, by the person: what the link fills in is used then, also after a reload. Undefined: it is used already. */
export function useLinkOffer(): (() => void) | undefined {
  const isOwn = useIsOwnNavigation()
  const { history } = useRouter()
  return isOwn ? undefined : () => history.push(history.location.href)
}

/** Longer than a double click: a window that another site opens under the pointer must not get the second click. */
const QUIET_MS = 600

/** False in the first moment of a window that was opened by a link from elsewhere. */
export function useIsReady(): boolean {
  const isOwn = useIsOwnNavigation()
  const [isReady, setReady] = useState(isOwn)
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [])
  return isReady
}
