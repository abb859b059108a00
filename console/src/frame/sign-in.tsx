/** Shown to a window without a session: it needs a link with a one-time code. */

import { type FormEvent, type ReactNode, useState } from 'react'
import { codeIn, type Session } from '../api/session.ts'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Field, TextInput } from '../components/field.tsx'
import css from './sign-in.module.css'

export function SignIn({ session, problem, onDone }: { session: Session; problem?: string | undefined; onDone(): void }): ReactNode {
  const [text, setText] = useState('')
  const [fault, setFault] = useState(problem)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    const code = codeIn(text)
    if (code === undefined) return setFault('Expected a link that ends with #code=..., or the code alone')
    setBusy(true)
    try {
      await session.exchange(code)
      onDone()
    } catch (error) {
      setFault((error as Error).message)
      setBusy(false)
    }
  }
  return (
    <main className={css.page}>
      <h1>This window is not connected</h1>
      <p>
        Only windows that you open can use the console. Open the link that Portico printed in the terminal, or paste it here. Each link
        works once, for 5 minutes. For a new one, restart the console:
      </p>
      <CodeBlock text="npm start" label="In the terminal" />
      <form onSubmit={submit} className={css.form}>
        <Field label="Link or code" fault={fault}>
          {(control) => <TextInput {...control} value={text} onChange={(event) => setText(event.target.value)} />}
        </Field>
        <Button kind="main" type="submit" isBusy={isBusy}>
          Connect
        </Button>
      </form>
    </main>
  )
}
