/** The view of a call of the model. */

import type { ReactNode } from 'react'
import { isObject } from '../../../../src/base/json.ts'
import type { CallToolResult } from '../../../../src/client/index.ts'
import { AppFrame } from '../../results/app-frame.tsx'
import type { ChatCall } from '../../state/chat.ts'

export function CallView({
  call,
  conversation,
  onSay,
}: {
  call: ChatCall
  conversation: string | undefined
  onSay(text: string): void
}): ReactNode {
  const result: CallToolResult = {
    content: [...(call.content ?? [])] as CallToolResult['content'],
    ...(call.structured !== undefined && { structuredContent: call.structured }),
  }
  return (
    <AppFrame
      tool={call.name}
      args={isObject(call.args) ? call.args : {}}
      result={result}
      {...(conversation !== undefined && { conversation, onSay })}
    />
  )
}
