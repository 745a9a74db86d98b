import { useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect } from 'preact/hooks'
import type { AuditEntry } from '../../packages/client/src/agent-server.ts'
import { addressOf, attempt, client } from '../api.ts'
import { formatDate } from '../format.ts'
import { principalName } from '../parts/access-list.tsx'
import { Button, bound, Field, Form } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, ErrorNote, Status, type Tone } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { href } from '../route.ts'

const PAGE = 50
const MAX_FILTER = 300
/** What is suggested: all that are no operations of the API, and two that are looked for often. */
const ACTIONS = ['signIn', 'signInFailed', 'signOut', 'read', 'createDocument', 'deleteDocument']

type Filters = Parameters<typeof client.admin.audit>[0] & object

/** Who did what, as the server keeps it. */
export function AuditLog() {
  const filters = useSignal<Filters>({})
  const entries = useSignal<readonly AuditEntry[] | undefined>(undefined)
  const cursor = useSignal<string | undefined>(undefined)
  const isBusy = useSignal(false)
  const failure = useSignal('')
  const read = async (after?: string) => {
    const { value: chosen } = filters
    isBusy.value = true
    await attempt(failure, async () => {
      const page = await client.admin.audit({ ...chosen, limit: PAGE }).page(after)
      if (chosen !== filters.value) return
      entries.value = after === undefined ? page.items : [...(entries.value ?? []), ...page.items]
      cursor.value = page.nextCursor
    })
    if (chosen === filters.value) isBusy.value = false
  }
  useEffect(() => void read(), [filters.value])
  return (
    <section class="stack events-place" aria-labelledby="audit">
      <div class="row spread">
        <h2 id="audit">Audit log</h2>
        <a
          class="button quiet"
          href={addressOf('/admin/audit/export', filters.value)}
          download="audit.ndjson"
        >
          <Icon name="download" />
          Export
        </a>
      </div>
      <FilterForm onFilter={(chosen) => (filters.value = chosen)} />
      <ErrorNote message={failure.value} />
      {!entries.value && failure.value === '' && <Skeleton rows={6} />}
      {entries.value?.length === 0 && (
        <Empty title="No entries">
          <p>Sign-ins, changes, exports and what people read are kept for AUDIT_DAYS.</p>
        </Empty>
      )}
      {entries.value && entries.value.length > 0 && (
        <ol class="events audit panel">
          {entries.value.map((entry) => (
            <li key={entry.number}>
              <Entry entry={entry} />
            </li>
          ))}
        </ol>
      )}
      {cursor.value !== undefined && (
        <div>
          <Button icon="next" disabled={isBusy.value} onClick={() => void read(cursor.value)}>
            {isBusy.value ? 'Reading' : 'Show more'}
          </Button>
        </div>
      )}
    </section>
  )
}

function FilterForm({ onFilter }: { onFilter: (filters: Filters) => void }) {
  const who = useSignal('')
  const action = useSignal('')
  const target = useSignal('')
  const since = useSignal('')
  const until = useSignal('')
  const apply = () => {
    const time = (local: string) => local && new Date(local).toISOString()
    const typed = {
      who: who.value.trim(),
      action: action.value.trim(),
      target: target.value.trim(),
      since: time(since.value),
      until: time(until.value),
    }
    onFilter(Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== '')))
  }
  return (
    <Form class="filters-row" onSubmit={apply}>
      <Field label="Who">
        <input type="search" maxLength={MAX_FILTER} placeholder="user:ada" {...bound(who)} />
      </Field>
      <Field label="Action">
        <input type="search" maxLength={64} list="audit-actions" {...bound(action)} />
        <datalist id="audit-actions">
          {ACTIONS.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </Field>
      <Field label="Target">
        <input
          type="search"
          maxLength={MAX_FILTER}
          placeholder="Id of a document, key …"
          {...bound(target)}
        />
      </Field>
      <Field label="From">
        <input type="datetime-local" {...bound(since)} />
      </Field>
      <Field label="Until">
        <input type="datetime-local" {...bound(until)} />
      </Field>
      <Button icon="search" type="submit">
        Filter
      </Button>
    </Form>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { at, who, action, status, address, targets } = entry
  return (
    <>
      <time class="hint" dateTime={at}>
        {formatDate(at)}
      </time>
      <Status tone={toneOf(entry)}>{status ?? 'Done'}</Status>
      <div class="event-text">
        <strong>{actionName(action)}</strong> <span class="hint">by</span> {whoName(who)}
        <div class="hint">
          {Object.entries(targets).map(([name, value], place) => (
            <Fragment key={name}>
              {place > 0 && '; '}
              {name}:{' '}
              {[value].flat().map((each, index) => (
                <Fragment key={each}>
                  {index > 0 && ', '}
                  <Target name={name} value={each} action={action} />
                </Fragment>
              ))}
            </Fragment>
          ))}
        </div>
      </div>
      <span class="hint">{address}</span>
    </>
  )
}

function toneOf({ action, status = 200 }: AuditEntry): Tone {
  return status >= 400 || action === 'signInFailed' ? 'bad' : 'good'
}

/** `deleteDocument` is `Delete document`. */
export const actionName = (action: string): string =>
  action
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase())

const NAMES: Readonly<Record<string, string>> = {
  master: 'the server key',
  stranger: 'somebody who was not let in',
  server: 'the server',
}

export const whoName = (who: string): string =>
  NAMES[who] ?? (who.startsWith('key:') ? `key ${who.slice(4)}` : principalName(who))

function Target({ name, value, action }: { name: string; value: string; action: string }) {
  const isDocument = name === 'documents' || name === 'documentId'
  const isId = name === 'id' && action.endsWith('Document') && action !== 'deleteDocument'
  return isDocument || isId ? <a href={href('documents', value)}>{value}</a> : value
}
