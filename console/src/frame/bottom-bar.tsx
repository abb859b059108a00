/** The bar at the bottom of a phone: Home, Tools, Waiting, Timeline, More. */

import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Count } from '../components/badge.tsx'
import { Menu } from '../components/menu.tsx'
import css from './bottom-bar.module.css'
import { Icon } from './icons.tsx'
import { PLACES } from './places.ts'

const SHOWN = new Set(['/', '/tools', '/timeline'])

export function BottomBar({ waiting }: { waiting: number }): ReactNode {
  const navigate = useNavigate()
  const shown = PLACES.filter(({ to }) => SHOWN.has(to))
  const link = ({ to, label, icon }: (typeof PLACES)[number]): ReactNode => (
    <Link key={to} to={to} className={css.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
      <Icon name={icon} />
      {label}
    </Link>
  )
  return (
    <nav className={css.bar} aria-label="Main pages">
      {shown.slice(0, 2).map(link)}
      <Link to="/waiting" className={css.link}>
        <Icon name="waiting" />
        <span>
          Waiting <Count value={waiting} tone="waiting" />
        </span>
      </Link>
      {shown.slice(2).map(link)}
      <Menu
        kind="quiet"
        label={
          <span className={css.more}>
            <Icon name="more" />
            More
          </span>
        }
        actions={PLACES.filter(({ to }) => !SHOWN.has(to)).map(({ to, label }) => ({ label, onSelect: () => void navigate({ to }) }))}
      />
    </nav>
  )
}
