/** The first of many parts, and more on request. A server can send any number of them. */

import { type ReactNode, useState } from 'react'
import { Button } from '../components/button.tsx'

const STEP = 50

/** @param more for the button: `Show more parts` */
export function FirstParts<Part>({
  parts,
  more,
  box = (drawn) => drawn,
  children,
}: {
  parts: readonly Part[]
  more: string
  /** Around the parts, without the button. */
  box?: (drawn: ReactNode) => ReactNode
  children(part: Part, index: number): ReactNode
}): ReactNode {
  const [shown, setShown] = useState(STEP)
  return (
    <>
      {box(parts.slice(0, shown).map(children))}
      {parts.length > shown && (
        <div>
          <Button isSmall onClick={() => setShown(shown + STEP)}>
            {more}, {(parts.length - shown).toLocaleString('en')} left
          </Button>
        </div>
      )}
    </>
  )
}
