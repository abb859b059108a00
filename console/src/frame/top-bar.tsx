/** The bar at the top: name, search, what waits, whether messages are recorded. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Count } from '../components/badge.tsx'
import { Button, IconButton } from '../components/button.tsx'
import { KeyHint } from '../components/key-hint.tsx'
import { Icon } from './icons.tsx'
import { RecordingSign } from './recording-sign.tsx'
import css from './top-bar.module.css'

export interface TopBarProps {
  waiting: number
  isTrayOpen: boolean
  onWaiting(): void
  onSearch(): void
  onKeys(): void
}

export function TopBar({ waiting, isTrayOpen, onWaiting, onSearch, onKeys }: TopBarProps): ReactNode {
  return (
    <header className={css.bar}>
      <Link to="/" className={css.name}>
        Portico
      </Link>
      <button type="button" className={css.search} onClick={onSearch} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span className={css.searchText}>Search tools, resources, prompts</span>
        <KeyHint keys="Ctrl K" />
      </button>
      <div className={css.right}>
        <RecordingSign />
        <Button kind="quiet" onClick={onWaiting} aria-expanded={isTrayOpen} className={css.waiting} icon={<Icon name="waiting" />}>
          Waiting <Count value={waiting} tone="waiting" />
        </Button>
        <IconButton label="Keys" onClick={onKeys} className={css.keys}>
          ?
        </IconButton>
      </div>
    </header>
  )
}
