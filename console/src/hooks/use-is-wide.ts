/** Whether the window has room for the tray beside the page. The same width is in frame.module.css. */

import { useSyncExternalStore } from 'react'

const query = matchMedia('(min-width: 761px)')

export const useIsWide = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => query.matches,
  )
