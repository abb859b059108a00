/** The HTTP request that carried a message, and the head of its response. */

import type { ReactNode } from 'react'
import type { HttpExchangeView } from '../../../src/console/api.ts'
import { Badge } from '../components/badge.tsx'
import { Fold } from '../components/fold.tsx'
import { foreignName } from '../state/foreign-text.ts'
import { type HeaderRow, isFailure, requestHeaders, responseHeaders, statusText } from '../state/http-view.ts'
import css from './http-view.module.css'

export function HttpView({ http }: { http: HttpExchangeView }): ReactNode {
  return (
    <Fold label={`HTTP ${foreignName(http.method)}, ${statusText(http)}`} isOpen={isFailure(http)}>
      <p className={css.address}>
        {foreignName(http.url)} {http.status !== undefined && <Badge tone={isFailure(http) ? 'danger' : 'fine'}>{statusText(http)}</Badge>}
      </p>
      <Headers title="Request headers" rows={requestHeaders(http)} />
      <Headers title="Response headers" rows={responseHeaders(http)} />
    </Fold>
  )
}

const Headers = ({ title, rows }: { title: string; rows: readonly HeaderRow[] }): ReactNode => (
  <section className={css.part}>
    <h3>{title}</h3>
    {rows.length === 0 ? (
      <p className={css.none}>none</p>
    ) : (
      <dl className={css.headers}>
        {rows.map(({ name, value, isHidden }) => (
          <div key={name} className={css.row}>
            <dt>{foreignName(name)}</dt>
            <dd>{isHidden ? <span className={css.none}>sent, not shown</span> : foreignName(value)}</dd>
          </div>
        ))}
      </dl>
    )}
  </section>
)
