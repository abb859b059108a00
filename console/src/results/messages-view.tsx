/** The messages of a prompt, in their order. */

import type { ReactNode } from 'react'
import type { GetPromptResult } from '../../../src/client/index.ts'
import { foreignName } from '../state/foreign-text.ts'
import { ContentView } from './content-view.tsx'
import { FirstParts } from './first-parts.tsx'
import css from './results.module.css'

const ROLES: Readonly<Record<string, string>> = { user: 'You say', assistant: 'The model answers' }

export function MessagesView({ messages, name }: { messages: GetPromptResult['messages']; name: string }): ReactNode {
  if (messages.length === 0) return <p className={css.muted}>The prompt has no messages.</p>
  return (
    <FirstParts parts={messages} more="Show more messages" box={(drawn) => <ol className={css.messages}>{drawn}</ol>}>
      {({ role, content }, index) => (
        <li key={index} className={css.message} data-role={role}>
          <span className={css.role}>{ROLES[role] ?? foreignName(String(role))}</span>
          <ContentView content={Array.isArray(content) ? content : [content]} name={name} />
        </li>
      )}
    </FirstParts>
  )
}
