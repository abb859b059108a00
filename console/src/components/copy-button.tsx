/** Copies a text, and says that it did. */

import { type ReactNode, useEffect, useState } from 'react'
import { Button } from './button.tsx'

export function CopyButton({
  text,
  label = 'Copy',
  isSmall = true,
  kind = 'plain',
}: {
  text: string | (() => string)
  label?: string
  isSmall?: boolean
  kind?: 'plain' | 'quiet'
}): ReactNode {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 1_500)
    return () => clearTimeout(timer)
  }, [state])
  const copy = (): void => {
    const value = typeof text === 'string' ? text : text()
    navigator.clipboard.writeText(value).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  }
  return (
    <Button kind={kind} isSmall={isSmall} onClick={copy}>
      {state === 'idle' ? label : state === 'copied' ? 'Copied' : 'Not copied'}
      <span className="sr-only" aria-live="polite">
        {state === 'copied' ? 'Copied' : ''}
      </span>
    </Button>
  )
}
