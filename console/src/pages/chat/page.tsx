/** Chat: a conversation with a model that can use the tools of your servers. Every call goes through your rules. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { LinkNotice } from '../../catalog/link-notice.tsx'
import { useLinkOffer } from '../../catalog/use-own-navigation.ts'
import { Button } from '../../components/button.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { useAction, useConsoleState, useOperation, useRoute } from '../../hooks/use-console.tsx'
import { usePreferences } from '../../hooks/use-preferences.ts'
import {
  type ChatCall,
  type ChatEntry,
  entriesOf,
  entriesOfParts,
  isRunningAt,
  joinedEntries,
  messagesIn,
  waitsFor,
  withDecisions,
} from '../../state/chat.ts'
import { Activity } from './activity.tsx'
import { CallView } from './call-view.tsx'
import { Composer } from './composer.tsx'
import { ContextChips } from './context-chips.tsx'
import { ConversationList } from './conversation-list.tsx'
import { Entry } from './entry.tsx'
import { ModelTurn } from './model-turn.tsx'
import css from './page.module.css'
import { useSeenContexts, ViewContexts } from './view-contexts.tsx'

/** Entries that are drawn at first, the newest, and with each request for more. */
const STEP = 100
const NONE: readonly never[] = []

export function ChatPage(): ReactNode {
  const { conversation: id, say } = useSearch({ from: '/chat' })
  const navigate = useNavigate({ from: '/chat' })
  const onUseLink = useLinkOffer()
  const [preferences, setPreferences] = usePreferences()
  const settings = useRoute('GET /api/settings')
  const stored = useRoute('GET /api/conversations/:id', { params: { id: id ?? '-' } }, { isEnabled: id !== undefined })
  const run = stored.data?.run
  const log = useRoute('GET /api/audit', { query: { run: run ?? '-', action: 'tool.call', limit: 1000 } }, { isEnabled: run !== undefined })
  const turns = useRoute('GET /api/model-turns')
  const chat = useOperation()
  const cancel = useAction('DELETE /api/operations/:id')
  const [said, setSaid] = useState<{ text: string; after: number }>()
  const running = stored.data?.conversation.running ?? (chat.isRunning ? chat.operation?.id : undefined)
  const shown = running ?? chat.operation?.id
  const parts = useConsoleState((state) => (shown === undefined ? NONE : (state.chats[shown] ?? NONE)))
  const models = settings.data?.models ?? []
  const model = models.find(({ id: each }) => each === preferences.model)?.id ?? models[0]?.id
  const isOfThis = chat.operation === undefined || chat.operation.target === id
  const entries = useMemo<ChatEntry[]>(() => {
    const before = entriesOf(stored.data?.messages ?? [], running !== undefined)
    if (!isOfThis && running === undefined) return before
    // While a turn runs, its message is not stored yet.
    const live =
      running === undefined ? entriesOfParts(parts).filter(({ kind }) => kind === 'failed' || kind === 'ended') : entriesOfParts(parts)
    const question: ChatEntry[] =
      running !== undefined && said !== undefined && messagesIn(before) <= said.after
        ? [{ kind: 'said', by: 'person', text: said.text }]
        : []
    return joinedEntries([...before, ...question], live)
  }, [stored.data, parts, running, said, isOfThis])
  const decidedEntries = useMemo(() => withDecisions(entries, log.data?.records ?? []), [entries, log.data])
  const end = useRef<HTMLDivElement>(null)
  const turnCount = turns.data?.turns.length ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new entry scrolls to the end
  useEffect(() => {
    // In braces: newer browsers return a promise here, which is no clean-up.
    end.current?.scrollIntoView({ block: 'end' })
  }, [entries, turnCount])

  const contexts = stored.data?.contexts ?? NONE
  const seen = useSeenContexts(contexts)
  const send = async (message: string): Promise<void> => {
    setSaid({ text: message, after: messagesIn(entriesOf(stored.data?.messages ?? [])) })
    const operation = await chat.start('POST /api/chat', {
      body: { message, contexts: seen(), ...(id !== undefined && { conversation: id }), ...(model !== undefined && { model }) },
    })
    if (operation && typeof operation.target === 'string' && operation.target !== id) {
      void navigate({ search: { conversation: operation.target } })
    }
  }
  // The turn may have been started in another window, or before a reload.
  const stop = (): void => {
    if (running !== undefined) cancel.mutate({ params: { id: running } })
  }
  const tools = useRoute('GET /api/tools')
  const hasView = (entry: ChatEntry): entry is ChatCall =>
    entry.kind === 'call' && entry.state === 'done' && (tools.data?.tools ?? []).some((each) => each.exposed === entry.name && each.view)
  const questions = useConsoleState((state) => state.questions)
  const waiting = running === undefined ? [] : waitsFor(questions, entries)
  const [shownEntries, setShown] = useState(STEP)
  const hidden = Math.max(0, entries.length - shownEntries)
  const waitingTurns = (turns.data?.turns ?? []).filter(({ conversation }) => conversation === undefined || conversation === id)

  return (
    <div className={css.page}>
      <PageHeader title="Chat" about="A model that can use your servers. You decide about every call, as everywhere." />
      <div className={css.columns}>
        <ConversationList
          selected={id}
          onSelect={(chosen) => void navigate({ search: chosen === undefined ? {} : { conversation: chosen } })}
        />
        <section className={css.chat} aria-label="Conversation">
          {stored.data && <ContextChips labels={stored.data.context} />}
          <div className={css.scroll}>
            <div className={css.entries} role="log" aria-label="Messages" aria-live="polite">
              {id !== undefined && stored.isPending && <Skeleton lines={4} />}
              {stored.isError && (
                <ErrorState title="The conversation could not be opened" error={stored.error} onRetry={() => void stored.refetch()} />
              )}
              {entries.length === 0 && !stored.isPending && id !== undefined && <EmptyState title="No message yet" />}
              {id === undefined && entries.length === 0 && (
                <EmptyState title="Ask something that your servers can do">
                  For example: “List my notes” or “Search my notes for milk”. Without a model of your own, a scripted one answers.
                </EmptyState>
              )}
              {hidden > 0 && (
                <div>
                  <Button isSmall onClick={() => setShown(shownEntries + STEP)}>
                    Show earlier messages, {hidden.toLocaleString('en')} left
                  </Button>
                </div>
              )}
              {decidedEntries.slice(hidden).map((entry, index) => (
                <Entry
                  // biome-ignore lint/suspicious/noArrayIndexKey: entries are only added at the end
                  key={hidden + index}
                  entry={entry}
                  isWaiting={waiting.some(({ server }) => isRunningAt(entry, server))}
                  view={hasView(entry) && <CallView call={entry} conversation={id} onSay={(text) => void send(text)} />}
                />
              ))}
              {running !== undefined && <Activity waiting={waiting.length} isYourTurn={waitingTurns.length > 0} />}
            </div>
            {/* Beside the messages that it answers, so that the field and "Stop" stay where they are. */}
            {waitingTurns.map((turn) => (
              <ModelTurn key={turn.id} turn={turn} />
            ))}
            <div ref={end} />
          </div>
          {chat.startError && <ErrorState title="The message was not sent" error={chat.startError} />}
          {say !== undefined && onUseLink && <LinkNotice what="a message" text={say} use="Use it" onUse={onUseLink} />}
          {id !== undefined && <ViewContexts conversation={id} contexts={contexts} onRemoved={() => void stored.refetch()} />}
          <Composer
            key={onUseLink ? undefined : say}
            initial={onUseLink ? undefined : say}
            models={models}
            model={model}
            onModel={(chosen) => setPreferences({ model: chosen })}
            isRunning={running !== undefined}
            onSend={(message) => void send(message)}
            onStop={stop}
          />
        </section>
      </div>
    </div>
  )
}
