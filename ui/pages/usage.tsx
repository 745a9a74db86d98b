import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { OwnUsage, UsageReport, UsageRow } from '../../packages/client/src/agent-server.ts'
import { LimitsOfPeople } from '../activity/day-limits.tsx'
import { costWords, remainingWords } from '../activity/usage-words.ts'
import { useWork } from '../admin/work.tsx'
import { addressOf, client } from '../api.ts'
import { formatDay, formatNumber } from '../format.ts'
import { principalName } from '../parts/access-list.tsx'
import { bound, Field } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { may, person } from '../session.ts'

type Filters = Parameters<typeof client.admin.usage>[0] & object

/** What models have cost: each person theirs, and who administers everybody's. */
export function UsagePage() {
  return (
    <>
      <h1>Usage</h1>
      {person.value && <Own />}
      {may('admin') && <Everybody />}
      {may('admin') && <LimitsOfPeople />}
    </>
  )
}

function Own() {
  const work = useWork<OwnUsage>()
  useEffect(() => void work.run(() => client.usage()), [])
  const own = work.result.value
  return (
    <section class="stack" aria-labelledby="own">
      <h2 id="own">Your usage</h2>
      <ErrorNote message={work.failure.value} />
      {!own && work.failure.value === '' && <Skeleton rows={2} />}
      {own && (
        <>
          <ul class="stack" aria-label="Limits for today">
            {own.limits.map((limit) => (
              <li key={`${limit.of} ${limit.id}`}>{remainingWords(limit, own.currency)}</li>
            ))}
          </ul>
          {own.limits.length === 0 && <p class="hint">Nothing limits what you may use.</p>}
          <Rows by="day" rows={own.days} currency={own.currency} />
        </>
      )}
    </section>
  )
}

const DIMENSIONS = ['day', 'person', 'group', 'key', 'agent', 'model'] as const
type Dimension = (typeof DIMENSIONS)[number]
const FILTERS = ['person', 'group', 'key', 'agent', 'model'] as const

function Everybody() {
  const by = useSignal<Dimension>('day')
  const since = useSignal('')
  const until = useSignal('')
  const of = useSignal<(typeof FILTERS)[number]>('person')
  const name = useSignal('')
  const filters: Filters = {
    by: by.value,
    since: since.value || undefined,
    until: until.value || undefined,
    ...(name.value.trim() !== '' && { [of.value]: name.value.trim() }),
  }
  const subject = JSON.stringify(filters)
  const work = useWork<UsageReport>(subject)
  useEffect(() => void work.run((signal) => client.admin.usage(filters, { signal })), [subject])
  const report = work.result.value
  return (
    <section class="stack" aria-labelledby="everybody">
      <div class="row spread">
        <h2 id="everybody">Who used what</h2>
        <a
          class="button quiet"
          href={addressOf('/admin/usage/export', filters)}
          download="usage.csv"
        >
          <Icon name="download" />
          CSV
        </a>
      </div>
      <div class="filters-row">
        <Field label="By">
          <select {...bound(by)}>
            {DIMENSIONS.map((name) => (
              <option key={name} value={name}>
                {LABELS[name]}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Only of">
          <select {...bound(of)}>
            {FILTERS.map((name) => (
              <option key={name} value={name}>
                {LABELS[name]}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Named">
          <input
            type="search"
            maxLength={300}
            placeholder="user:ada"
            value={name.value}
            onChange={({ currentTarget }) => (name.value = currentTarget.value)}
          />
        </Field>
        <Field label="From">
          <input type="date" {...bound(since)} />
        </Field>
        <Field label="Until">
          <input type="date" {...bound(until)} />
        </Field>
      </div>
      <ErrorNote message={work.failure.value} />
      {!report && work.failure.value === '' && <Skeleton rows={3} />}
      {report && <Rows by={by.value} {...report} />}
      {report?.hasMore && (
        <p class="hint">These are the first {report.rows.length} rows; the CSV has all of them.</p>
      )}
    </section>
  )
}

const LABELS: Record<Dimension, string> = {
  day: 'Day',
  person: 'Person',
  group: 'Group',
  key: 'Key',
  agent: 'Agent',
  model: 'Model',
}

interface UsageTable {
  by: Dimension
  rows: readonly UsageRow[]
  currency: string
  total?: UsageReport['total']
}

function Rows({ by, rows, currency, total }: UsageTable) {
  if (rows.length === 0) {
    return (
      <Empty title="No usage">
        <p>Calls of models are counted here, for USAGE_DAYS.</p>
      </Empty>
    )
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="table-place" aria-label={`Usage by ${by}`} tabIndex={0}>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">{LABELS[by]}</th>
            <th scope="col">Calls</th>
            <th scope="col">Sent</th>
            <th scope="col">Cached</th>
            <th scope="col">Received</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Figures key={row[by] ?? ''} name={nameOf(row, by)} of={row} currency={currency} />
          ))}
          {total && <Figures name="Total" of={total} currency={currency} />}
        </tbody>
      </table>
    </section>
  )
}

function Figures({
  name,
  of,
  currency,
}: {
  name: string
  of: UsageReport['total']
  currency: string
}) {
  const { calls, inputTokens, cachedTokens, outputTokens } = of
  return (
    <tr>
      <th scope="row">{name}</th>
      {[calls, inputTokens, cachedTokens, outputTokens].map((count, place) => (
        <td key={place}>{formatNumber(count)}</td>
      ))}
      <td>{costWords(of, currency)}</td>
    </tr>
  )
}

const NOBODY: Record<Dimension, string> = {
  day: '',
  person: 'Keys and the server',
  group: 'In no group',
  key: 'No key',
  agent: 'No agent',
  model: '',
}

/** What a row is of. */
function nameOf(row: UsageRow, by: Dimension): string {
  const value = row[by]
  if (value === undefined) return NOBODY[by]
  if (by === 'day') return formatDay(value)
  if (by === 'key') return row.keyName ?? value
  if (by !== 'person') return value
  return row.personName ?? (value === 'removed' ? 'Removed people' : principalName(value))
}
