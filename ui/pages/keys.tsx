import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ApiKey, ApiKeyCreated, UsageReport } from '../../packages/client/src/agent-server.ts'
import { LimitFields, limitsIn, otherFailure } from '../activity/limit-fields.tsx'
import { todayWords } from '../activity/usage-words.ts'
import { useWork } from '../admin/work.tsx'
import { client } from '../api.ts'
import { formatDate, formatNumber } from '../format.ts'
import { Button, Field, Form } from '../parts/controls.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'

const SCOPES = {
  query: 'Search and read documents',
  chat: 'Ask the agent',
  ingest: 'Add, change and delete documents',
  admin: 'Administer the server: settings, keys, evaluations, activity',
  'act-as': 'Speak for people, whose rights then count, with the header Agent-User',
} as const
type Scope = keyof typeof SCOPES
const SCOPE_NAMES: readonly Scope[] = ['query', 'chat', 'ingest', 'admin', 'act-as']

/** Keys that may do less than the server's own. */
export function KeysPage() {
  const keys = useWork<ApiKey[]>()
  const newKey = useSignal<ApiKeyCreated | undefined>(undefined)
  const costs = useSignal<ReadonlyMap<string, UsageReport>>(new Map())
  const load = () =>
    keys.run(async () => {
      const list = await client.admin.keys.list()
      costs.value = await costsOf(list)
      return list
    })
  useEffect(() => void load(), [])
  return (
    <>
      <h1>Keys</h1>
      <p class="hint">
        Create keys for programs that should not have the server key, which has full access and is
        the only one that opens this web UI. Activity shows the key of each request.
      </p>
      <NewKey
        onMade={(created) => {
          newKey.value = created
          void load()
        }}
      />
      <div role="status">{newKey.value && <SecretOfNewKey created={newKey.value} />}</div>
      <ErrorNote message={keys.failure.value} />
      {!keys.result.value && keys.failure.value === '' && <Skeleton rows={1} />}
      {keys.result.value?.length === 0 && (
        <Empty title="No other keys yet">
          <p>Everyone who uses this server has the server key.</p>
        </Empty>
      )}
      <ul class="stack" aria-label="Keys">
        {keys.result.value?.map((key) => (
          <KeyEntry
            key={key.id}
            entry={key}
            report={costs.value.get(key.id)}
            onRevoked={() => void load()}
          />
        ))}
      </ul>
    </>
  )
}

function SecretOfNewKey({ created: { name, secret } }: { created: ApiKeyCreated }) {
  return (
    <section class="panel stack" aria-labelledby="made">
      <h2 id="made">The key “{name}”</h2>
      <p>The key is shown only once. Copy it now.</p>
      <pre class="code">{secret}</pre>
      <div>
        <CopyButton text={secret} name="key" />
      </div>
    </section>
  )
}

function NewKey({ onMade }: { onMade: (created: ApiKeyCreated) => void }) {
  const work = useWork<ApiKeyCreated>()
  const make = async (form: HTMLFormElement) => {
    await work.run(() => client.admin.keys.create(requestIn(new FormData(form))))
    if (!work.result.value) return
    form.reset()
    onMade(work.result.value)
  }
  return (
    <Form class="panel stack" aria-labelledby="new-key" onSubmit={make}>
      <h2 id="new-key">New key</h2>
      <Field label="Name">
        <input name="name" required maxLength={100} autocomplete="off" placeholder="Website" />
      </Field>
      <fieldset class="check-list">
        <legend class="label">Permissions</legend>
        {SCOPE_NAMES.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" name="scopes" value={scope} defaultChecked={scope === 'query'} />
            <span>
              {scope}: {SCOPES[scope]}
            </span>
          </label>
        ))}
      </fieldset>
      <p class="hint">Empty fields set no limit.</p>
      <div class="settings-fields">
        <Field label="Collections, separated by commas">
          <input name="collections" autocomplete="off" />
        </Field>
        <Field label="Requests a minute">
          <input name="requestsPerMinute" type="number" min={1} />
        </Field>
        <LimitFields work={work} />
        <Field label="Valid until">
          <input name="expiresAt" type="datetime-local" />
        </Field>
      </div>
      <ErrorNote message={otherFailure(work)} />
      <div>
        <Button icon="add" type="submit" class="primary" disabled={work.isBusy.value}>
          Create key
        </Button>
      </div>
    </Form>
  )
}

/** The filled fields of the form. */
function requestIn(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const collections = text('collections')
    .split(/[\s,]+/)
    .filter(Boolean)
  const number = (name: string) => (text(name) === '' ? null : Number(text(name)))
  const until = text('expiresAt')
  return {
    name: text('name'),
    scopes: SCOPE_NAMES.filter((scope) => form.getAll('scopes').includes(scope)),
    collections: collections.length > 0 ? collections : null,
    requestsPerMinute: number('requestsPerMinute'),
    ...limitsIn(form),
    expiresAt: until === '' ? null : new Date(until).toISOString(),
  }
}

function KeyEntry({
  entry,
  report,
  onRevoked,
}: {
  entry: ApiKey
  report: UsageReport | undefined
  onRevoked: () => void
}) {
  const isAsking = useSignal(false)
  const work = useWork<void>()
  const revoke = async () => {
    isAsking.value = false
    await work.run(() => client.admin.keys.revoke(entry.id))
    if (work.failure.value === '') onRevoked()
  }
  return (
    <li class="panel stack">
      <div class="page-head">
        <h2>{entry.name}</h2>
        <Button
          icon="delete"
          disabled={work.isBusy.value}
          aria-label={`Revoke ${entry.name}`}
          onClick={() => (isAsking.value = true)}
        >
          Revoke
        </Button>
      </div>
      <p class="hint">{factsOf({ entry, report }).join(' · ')}</p>
      <ErrorNote message={work.failure.value} />
      {isAsking.value && (
        <Confirm
          title={`Revoke “${entry.name}”?`}
          action="Revoke"
          onConfirm={() => void revoke()}
          onClose={() => (isAsking.value = false)}
        >
          <p>Requests with this key, and with keys created with it, will be refused immediately.</p>
        </Confirm>
      )}
    </li>
  )
}

/** What keys have cost today, also by those who they let in; for keys whose costs are limited. */
async function costsOf(keys: readonly ApiKey[]) {
  const today = new Date().toISOString().slice(0, 10)
  const limited = keys.filter(({ costPerDay }) => costPerDay !== undefined)
  return new Map(
    await Promise.all(
      limited.map(async ({ id }) => {
        const report = await client.admin.usage({ key: id, since: today, until: today, limit: 1 })
        return [id, report] as const
      }),
    ),
  )
}

function factsOf({ entry, report }: { entry: ApiKey; report: UsageReport | undefined }): string[] {
  const { id, scopes, collections, requestsPerMinute } = entry
  const { expiresAt, lastUsedAt, createdBy, tokensToday: tokens } = entry
  const used = { tokens, cost: report?.total.cost }
  const currency = report?.currency ?? 'USD'
  return [
    scopes.join(', '),
    collections ? `only ${collections.join(', ')}` : 'all collections',
    ...(requestsPerMinute === undefined
      ? []
      : [`${formatNumber(requestsPerMinute)} requests a minute`]),
    todayWords(used, entry, currency),
    expiresAt === undefined ? 'does not expire' : `until ${formatDate(expiresAt)}`,
    lastUsedAt === undefined ? 'never used' : `last used ${formatDate(lastUsedAt)}`,
    ...(createdBy === undefined ? [] : [`created with ${createdBy}`]),
    `id ${id}`,
  ]
}
