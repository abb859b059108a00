/** The top of a panel: what it is, of which server, and what the server says about it. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Badge } from '../components/badge.tsx'
import { Button } from '../components/button.tsx'
import { SafeMarkdown } from '../components/safe-markdown.tsx'
import type { CatalogBadge } from '../state/catalog.ts'
import { foreignName, foreignText } from '../state/foreign-text.ts'
import css from './catalog.module.css'

export interface PanelHeadProps {
  title: string
  /** The server's own name, or the URI. */
  name: string
  server: string | undefined
  description?: string | undefined
  badges?: readonly CatalogBadge[]
  /** More facts, such as a type. */
  facts?: ReactNode
}

/** Longer descriptions are folded. */
const MAX_SHOWN = 600

export function PanelHead({ title, name, server, description, badges = [], facts }: PanelHeadProps): ReactNode {
  const [isWhole, setWhole] = useState(false)
  const text = description === undefined ? '' : foreignText(description)
  const isLong = text.length > MAX_SHOWN && !isWhole
  return (
    <div className={css.head}>
      <h2>{foreignName(title)}</h2>
      <div className={css.facts}>
        <code>{foreignName(name)}</code>
        {server !== undefined && (
          <span>
            of{' '}
            <Link to="/servers" search={{ server }}>
              {foreignName(server)}
            </Link>
          </span>
        )}
        {badges.map(({ text: word, tone, title: why }) => (
          <Badge key={word} tone={tone} title={why}>
            {word}
          </Badge>
        ))}
        {facts}
      </div>
      {text !== '' && <SafeMarkdown text={isLong ? `${text.slice(0, MAX_SHOWN)} …` : text} />}
      {isLong && (
        <div>
          <Button kind="quiet" isSmall onClick={() => setWhole(true)}>
            Whole description
          </Button>
        </div>
      )}
    </div>
  )
}
