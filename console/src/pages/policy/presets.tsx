/** The three presets, with what each asks about. */

import type { ReactNode } from 'react'
import type { PolicyView } from '../../../../src/console/api.ts'
import { Section } from '../../components/page-header.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useAction, useNotify } from '../../hooks/use-console.tsx'
import css from './page.module.css'

export function Presets({ policy }: { policy: PolicyView }): ReactNode {
  const use = useAction('POST /api/policy/preset', { stale: ['GET /api/policy', 'GET /api/settings'] })
  const notify = useNotify()
  const choose = (preset: PolicyView['preset']): void =>
    use.mutate(
      { body: { preset } },
      {
        onSuccess: (now) =>
          notify(
            now.preset === preset
              ? { tone: 'fine', text: `The preset is ${preset} now.` }
              : { tone: 'waiting', text: `Another policy file sets a stricter preset: ${now.preset}.` },
          ),
      },
    )
  return (
    <Section title="Preset">
      <fieldset className={css.presets} aria-busy={use.isPending}>
        <legend className="sr-only">Preset</legend>
        {policy.presets.map(({ id, text }) => (
          <label key={id} className={css.preset} data-selected={id === policy.preset}>
            <span className={css.presetTop}>
              <input type="radio" name="preset" checked={id === policy.preset} onChange={() => choose(id)} />
              <strong>{id}</strong>
            </span>
            <span className={css.muted}>{text}</span>
          </label>
        ))}
      </fieldset>
      {use.isError && <ErrorState title="The preset was not changed" error={use.error} />}
    </Section>
  )
}
