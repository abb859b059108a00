/**
 * A form from a JSON Schema, with its JSON beside it.
 *
 *   const form = useSchemaForm(tool.inputSchema)
 *   <SchemaForm form={form} />
 *   if (form.check()) send(form.value)
 */

import { type ReactNode, useMemo } from 'react'
import { Button } from '../components/button.tsx'
import { Field, TextArea } from '../components/field.tsx'
import { FormContext, type Suggest } from './fields/context.ts'
import { ObjectFields } from './fields/object-fields.tsx'
import { ValueField } from './fields/value-field.tsx'
import { fieldOf } from './model/field.ts'
import { isTooMuch, MAX_VALUES } from './model/raw.ts'
import { isObject } from './model/schema.ts'
import { pathKey } from './model/value.ts'
import css from './schema-form.module.css'
import type { SchemaFormState } from './use-schema-form.ts'

export interface SchemaFormProps {
  form: SchemaFormState
  /** Suggests values for a text field while the person types. */
  suggest?: Suggest
  /** Names of fields whose values are not shown while they are typed. */
  hidden?: readonly string[]
  /** Without the button for raw JSON. */
  isPlain?: boolean
  /** Said when the schema asks for nothing. */
  nothing?: ReactNode
}

export function SchemaForm({ form, suggest, hidden, isPlain = false, nothing = 'It needs no input.' }: SchemaFormProps): ReactNode {
  const { schema, state, shownIssues } = form
  const field = useMemo(() => fieldOf(schema, schema), [schema])
  const context = useMemo(
    () => ({ root: schema, issues: shownIssues, suggest, hidden: new Set(hidden), ValueField }),
    [schema, shownIssues, suggest, hidden],
  )
  const isRaw = state.mode === 'raw'
  const isObjectForm = field.kind === 'object' && (form.value === undefined || isObject(form.value))
  const hasNames = isObject(form.value) && Object.keys(form.value).length > 0
  const isEmpty = isObjectForm && field.properties.length === 0 && field.additional === undefined && !hasNames
  const isMuch = isRaw && isTooMuch(form.value)
  return (
    <FormContext value={context}>
      <div className={css.form}>
        {!isPlain && (
          <div className={css.modes}>
            <Button
              kind="quiet"
              isSmall
              aria-pressed={isRaw}
              disabled={isRaw && (state.rawFault !== undefined || isMuch)}
              onClick={() => form.setMode(isRaw ? 'form' : 'raw')}
            >
              {isRaw ? 'Form' : 'JSON'}
            </Button>
          </div>
        )}
        {isRaw ? (
          <Field
            label="JSON"
            help={
              isMuch ? `It has more than ${MAX_VALUES.toLocaleString('en')} values, too many for fields. Everything is here.` : undefined
            }
            fault={state.rawFault ?? allIssues(shownIssues)}
          >
            {(control) => (
              <TextArea {...control} isCode rows={10} value={state.raw} onChange={(event) => form.setRaw(event.target.value)} />
            )}
          </Field>
        ) : isEmpty ? (
          <p className={css.nothing}>{nothing}</p>
        ) : isObjectForm ? (
          <ObjectFields field={field} value={form.value} onChange={form.setValue} path={[]} depth={0} />
        ) : (
          <ValueField schema={schema} name="value" value={form.value} onChange={form.setValue} path={[]} depth={0} isRequired />
        )}
        {!isRaw && isObjectForm && shownIssues.has(pathKey([])) && <p className={css.fault}>{shownIssues.get(pathKey([]))}</p>}
        {form.schemaFault !== undefined && <p className={css.nothing}>The schema is not checked here: {form.schemaFault}</p>}
      </div>
    </FormContext>
  )
}

/** In the raw mode all issues stand under the text, with their paths. */
function allIssues(issues: ReadonlyMap<string, string>): string | undefined {
  if (issues.size === 0) return undefined
  return [...issues].map(([key, text]) => `${(JSON.parse(key) as (string | number)[]).join('.') || 'value'}: ${text}`).join('\n')
}
