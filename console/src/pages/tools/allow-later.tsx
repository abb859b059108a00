/** The button "Allow this from now on", where a grant can allow it: a model would be asked about, and the question is not forced. */

import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { useAction } from '../../hooks/use-console.tsx'
import type { Arguments } from '../../state/arguments.ts'
import { canBeAllowed } from '../../state/explain.ts'

export function AllowLater({ tool, args, onOpen }: { tool: string; args: Arguments; onOpen(): void }): ReactNode {
  const explain = useAction('POST /api/policy/explain')
  const [given] = useState(args)
  const { mutate } = explain
  useEffect(() => mutate({ body: { tool, args: { ...given }, as: 'model' } }), [mutate, tool, given])
  if (!explain.data || !canBeAllowed(explain.data)) return null
  return (
    <Button isSmall onClick={onOpen}>
      Allow this from now on
    </Button>
  )
}
