/** A link of others: nothing is opened before the person has seen the whole address with its host in bold. */

import { type ReactNode, useState } from 'react'
import { personUrl } from '../../../src/base/address/person-url.ts'
import { Button, buttonClass } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import css from './safe-link.module.css'

export function SafeLink({ href, children }: { href: string; children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const url = personUrl(href)
  // Anything but https, or http to this computer, stays text.
  if (!url) {
    return (
      <span className={css.inert} title={href}>
        {children}
      </span>
    )
  }
  return (
    <>
      <button type="button" className={css.link} onClick={() => setOpen(true)} title={href}>
        {children}
        <span className={css.host}> ({url.hostUnicode})</span>
      </button>
      <Dialog
        title="Open this page?"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        actions={
          <>
            <CopyButton text={url.href} label="Copy address" isSmall={false} />
            <Button onClick={() => setOpen(false)}>Not now</Button>
            <a
              className={buttonClass({ kind: 'main' })}
              href={url.href}
              target="_blank"
              rel="noopener noreferrer"
              onClick={() => setOpen(false)}
            >
              Open in a new window
            </a>
          </>
        }
      >
        <UrlView url={url} />
      </Dialog>
    </>
  )
}

const WARNINGS: Readonly<Record<string, string>> = {
  punycode: 'The name has letters that can look like others. It is really ',
  'mixed-scripts': 'The name mixes letters of several alphabets.',
  'ip-address': 'The address is a number, not a name.',
  'user-info': 'There is text before an @, which can look like a name.',
  'unusual-port': 'The address has an unusual port.',
  'not-encrypted': 'The connection is not encrypted.',
}

/** An address in full: the host in bold, and what is unusual about it. */
export function UrlView({ url }: { url: NonNullable<ReturnType<typeof personUrl>> }): ReactNode {
  // A name before an @ is not the host.
  const start = url.href.indexOf('//') + 2
  const authority = url.href.slice(start).split('/')[0] ?? ''
  const at = start + authority.lastIndexOf('@') + 1
  return (
    <div className={css.url}>
      <p className={css.address}>
        {url.href.slice(0, at)}
        <strong>{url.host}</strong>
        {url.href.slice(at + url.host.length)}
      </p>
      {url.hostUnicode !== url.host && <p>It is shown as {url.hostUnicode}</p>}
      {url.warnings.map((warning) => (
        <p key={warning} className={css.warning}>
          <span aria-hidden="true">▲ </span>
          {WARNINGS[warning] ?? warning}
          {warning === 'punycode' && <code>{url.host}</code>}
        </p>
      ))}
    </div>
  )
}
