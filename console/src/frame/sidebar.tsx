/** The list of pages, for windows that are wide enough. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Count } from '../components/badge.tsx'
import { useRoute } from '../hooks/use-console.tsx'
import { Icon } from './icons.tsx'
import { PLACES } from './places.ts'
import css from './sidebar.module.css'

export function Sidebar(): ReactNode {
  const servers = useRoute('GET /api/servers')
  return (
    <nav className={css.sidebar} aria-label="Pages">
      {PLACES.map(({ to, label, icon }) => (
        <Link key={to} to={to} className={css.link} activeOptions={{ exact: to === '/', includeSearch: false }} title={label}>
          <Icon name={icon} />
          <span className={css.label}>{label}</span>
          {to === '/servers' && <Count value={servers.data?.servers.length ?? 0} />}
        </Link>
      ))}
    </nav>
  )
}
