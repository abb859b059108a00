/** A resource template: its variables as a form, and the resource that they name. */

import { type ReactNode, useMemo } from 'react'
import type { ResourceTemplate } from '../../../../src/client/index.ts'
import type { EntryView } from '../../../../src/console/api.ts'
import css from '../../catalog/catalog.module.css'
import { PanelHead } from '../../catalog/panel-head.tsx'
import { useSuggest } from '../../catalog/use-suggest.ts'
import { ErrorState } from '../../components/states.tsx'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useSchemaForm } from '../../forms/use-schema-form.ts'
import { type Template, templateForm } from '../../state/arguments.ts'
import { foreignName } from '../../state/foreign-text.ts'
import { ReadUri } from './read-uri.tsx'

export function TemplatePanel({ entry }: { entry: EntryView<ResourceTemplate> }): ReactNode {
  const { name, title, uriTemplate, description, mimeType } = entry.definition
  const made = useMemo(() => parsed(uriTemplate), [uriTemplate])
  return (
    <section className={css.panel} aria-label="Resource template">
      <PanelHead
        title={title ?? name}
        name={uriTemplate}
        server={entry.server}
        description={description}
        facts={mimeType && foreignName(mimeType)}
      />
      {made.error ? (
        <ErrorState title="The template of the server is not valid" error={made.error} />
      ) : (
        <TemplateFields template={made.template} server={entry.server} uriTemplate={uriTemplate} />
      )}
    </section>
  )
}

function parsed(uriTemplate: string): { template: Template; error?: never } | { error: Error } {
  try {
    return { template: templateForm(uriTemplate) }
  } catch (error) {
    return { error: error as Error }
  }
}

function TemplateFields({ template, server, uriTemplate }: { template: Template; server: string; uriTemplate: string }): ReactNode {
  const form = useSchemaForm(template.schema)
  const suggest = useSuggest(server, { type: 'ref/resource', uri: uriTemplate }, form.value)
  const uri = template.expand((form.value ?? {}) as Record<string, unknown>)
  return (
    <>
      <div className={css.form}>
        <SchemaForm form={form} suggest={suggest} nothing="The template has no variables." />
      </div>
      <p className={css.facts}>{uri === undefined ? 'Fill in the variables to get an address.' : <code>{foreignName(uri)}</code>}</p>
      <ReadUri uri={uri} onCheck={form.check} />
    </>
  )
}
