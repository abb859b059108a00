/** A picture, a sound, or bytes of another kind. Only checked types become elements; everything can be saved. */

import { type ReactNode, useState } from 'react'
import { Button } from '../components/button.tsx'
import { foreignName } from '../state/foreign-text.ts'
import { bytesText } from '../state/format.ts'
import { base64Bytes, endingOf, fileName, mediaKind, mediaUrl } from '../state/results.ts'
import css from './results.module.css'
import { saveBytes } from './save-bytes.ts'

export function MediaView({ data, mimeType, name }: { data: string; mimeType: string | undefined; name: string }): ReactNode {
  const [hasFailed, setFailed] = useState(false)
  const kind = mediaKind(mimeType)
  const url = mediaUrl(mimeType, data)
  const about = `${foreignName(mimeType ?? 'unknown type')}, ${bytesText(base64Bytes(data))}`
  return (
    <figure className={css.media}>
      {url && !hasFailed && kind === 'image' && (
        <img className={css.image} src={url} alt={`From the server: ${about}`} onError={() => setFailed(true)} />
      )}
      {url && !hasFailed && kind === 'audio' && (
        // biome-ignore lint/a11y/useMediaCaption: servers send no captions
        <audio className={css.audio} controls src={url} aria-label={`Sound from the server: ${about}`} onError={() => setFailed(true)} />
      )}
      <figcaption className={css.line}>
        <span className={css.muted}>
          {about}
          {hasFailed && ' · this browser cannot show it'}
          {!url && (kind === undefined ? ' · this type is not shown here' : ' · the data is not base64')}
        </span>
        <SaveBytes name={fileName(name, endingOf(mimeType))} data={data} />
      </figcaption>
    </figure>
  )
}

function SaveBytes({ name, data }: { name: string; data: string }): ReactNode {
  const [fault, setFault] = useState<string>()
  const save = (): void => {
    try {
      saveBytes(name, data)
    } catch {
      setFault('Not saved: the data is not base64')
    }
  }
  return (
    <>
      <Button isSmall onClick={save}>
        Save
      </Button>
      {fault && <span role="alert">{fault}</span>}
    </>
  )
}
