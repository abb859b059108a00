/** Servers that other programs on this computer use already, and the way to add one. */

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { buttonClass } from '../../components/button.tsx'
import { Skeleton } from '../../components/states.tsx'
import { useRoute } from '../../hooks/use-console.tsx'
import { foundText } from '../../state/found-servers.ts'
import css from './home.module.css'

const ALL_HERE = 'The servers of other programs on this computer are here already.'
const NONE_FOUND = 'No other program on this computer has servers that can be imported.'

export function YourServers(): ReactNode {
  const found = useRoute('GET /api/import')
  const text = found.data && foundText(found.data.servers)
  return (
    <section className={css.box} aria-labelledby="your-servers">
      <h2 id="your-servers">Your servers</h2>
      {found.isPending ? (
        <Skeleton lines={1} label="Looking for servers of other programs" />
      ) : (
        <p>{text ?? (found.data?.servers.length ? ALL_HERE : NONE_FOUND)}</p>
      )}
      <div className={css.actions}>
        {text !== undefined && (
          <Link to="/servers" search={{ add: 'import' }} className={buttonClass({ kind: 'main' })}>
            Review and import
          </Link>
        )}
        <Link to="/servers" search={{ add: 'new' }} className={buttonClass({})}>
          Add a server
        </Link>
      </div>
    </section>
  )
}
