/** Settings: this browser, models, secrets, limits. */

import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { SettingsView } from '../../../../src/console/api.ts'
import { Button } from '../../components/button.tsx'
import { Fact, Facts } from '../../components/facts.tsx'
import { Field, Select, Switch } from '../../components/field.tsx'
import { PageHeader, Section } from '../../components/page-header.tsx'
import { ErrorState, Skeleton } from '../../components/states.tsx'
import { Table } from '../../components/table.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useAction, useNotify, useRoute } from '../../hooks/use-console.tsx'
import { usePreferences } from '../../hooks/use-preferences.ts'
import { foreignName } from '../../state/foreign-text.ts'
import { Models } from './models.tsx'
import css from './page.module.css'
import { Secrets } from './secrets.tsx'

export function SettingsPage(): ReactNode {
  const { tab = 'general' } = useSearch({ from: '/settings' })
  const navigate = useNavigate({ from: '/settings' })
  const settings = useRoute('GET /api/settings')
  return (
    <>
      <PageHeader title="Settings" about="How the console looks, which models it uses, and the secrets of your servers." />
      {settings.isPending && <Skeleton lines={6} />}
      {settings.isError && (
        <ErrorState title="The settings could not be fetched" error={settings.error} onRetry={() => void settings.refetch()} />
      )}
      {settings.data && (
        <Tabs
          label="Settings"
          selected={tab}
          onSelect={(id) => void navigate({ search: { tab: id } })}
          tabs={[
            { id: 'general', label: 'General', content: <General settings={settings.data} /> },
            { id: 'models', label: 'Models', content: <Models models={settings.data.models} /> },
            { id: 'secrets', label: 'Secrets', content: <Secrets /> },
            { id: 'limits', label: 'Limits', content: <Limits limits={settings.data.limits} /> },
          ]}
        />
      )}
    </>
  )
}

const THEMES = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

function General({ settings }: { settings: SettingsView }): ReactNode {
  const [preferences, change] = usePreferences()
  const link = useAction('POST /api/session/codes')
  const end = useAction('DELETE /api/session')
  const notify = useNotify()
  const copyLink = (): void =>
    link.mutate(
      {},
      {
        onSuccess: ({ code }) => {
          void navigator.clipboard.writeText(`${location.origin}/#code=${code}`)
          notify({ tone: 'fine', text: 'Copied. The link opens one more window, once, within 5 minutes.' })
        },
      },
    )
  return (
    <>
      <Section title="This browser">
        <div className={css.form}>
          <Field label="Colours">
            {(control) => <Select {...control} value={preferences.theme} choices={THEMES} onValue={(theme) => change({ theme })} />}
          </Field>
          <Switch
            label="Keys without Ctrl (press ? to list them)"
            isOn={preferences.hasSingleKeys}
            onToggle={(hasSingleKeys) => change({ hasSingleKeys })}
          />
          <div className={css.line}>
            <Button isBusy={link.isPending} onClick={copyLink}>
              Copy a link for another window
            </Button>
            <Button kind="danger" isBusy={end.isPending} onClick={() => end.mutate({}, { onSuccess: () => location.reload() })}>
              Sign out
            </Button>
          </div>
          {link.isError && <ErrorState title="No link was made" error={link.error} />}
        </div>
      </Section>
      <Section title="This host">
        <Facts>
          <Fact name="Version">{settings.version}</Fact>
          <Fact name="Stored in">{foreignName(settings.folder)}</Fact>
          <Fact name="Project">{foreignName(settings.project)}</Fact>
          <Fact name="Preset">
            {settings.preset} (<Link to="/policy">change</Link>)
          </Fact>
        </Facts>
      </Section>
    </>
  )
}

function Limits({ limits }: { limits: SettingsView['limits'] }): ReactNode {
  const rows = Object.entries(limits).map(([name, value]) => ({ name, value }))
  return (
    <Section title="Limits of the console">
      <p className={css.muted}>Set by the program that opened the console.</p>
      <Table
        label="Limits"
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { id: 'name', head: 'Limit', cell: ({ name }) => <code>{name}</code> },
          {
            id: 'value',
            head: 'Value',
            isNumber: true,
            cell: ({ value }) => (typeof value === 'number' ? value.toLocaleString('en') : JSON.stringify(value)),
          },
        ]}
      />
    </Section>
  )
}
