import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { KnownPerson, UsageReport } from '../../packages/client/src/agent-server.ts'
import { fieldAt, readFields, withField } from '../admin/agent-fields.ts'
import { useWork } from '../admin/work.tsx'
import { client } from '../api.ts'
import { principalName } from '../parts/access-list.tsx'
import { Button, Field, Form } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { LimitFields, limitsIn, otherFailure } from './limit-fields.tsx'
import { type Budgets, type DayLimits, limitsOf, limitWords, todayWords } from './usage-words.ts'

const PAGE = 100
const MAX_ROWS = 10_000
const MAX_GROUP = 200

interface LimitsView {
  budgets: Budgets
  /** What each has used today. */
  people: UsageReport
  groups: UsageReport
}

/** Whose limits a dialog changes; a group has no name yet while it is new. */
type Subject =
  | { kind: 'everybody'; limits: DayLimits }
  | { kind: 'group'; name: string; limits: DayLimits & { shared?: boolean } }
  | { kind: 'person'; name: string; id: string; limits: DayLimits }

/** What people and groups may use in a day, beside what they have used, and where that is changed. */
export function LimitsOfPeople() {
  const limits = useWork<LimitsView>()
  const changing = useSignal<Subject | undefined>(undefined)
  const saves = useSignal(0)
  useEffect(() => void limits.run(readLimits), [saves.value])
  const { value } = limits.result
  return (
    <section class="stack" aria-labelledby="limits">
      <h2 id="limits">Limits for a day</h2>
      <p class="hint">
        A day ends at midnight UTC. For each person, their own limit counts; without one, the
        highest of their groups; without that, the one for everybody. Limits of keys are set on the
        page Keys.
      </p>
      <ErrorNote message={limits.failure.value} />
      {!value && limits.failure.value === '' && <Skeleton rows={3} />}
      {value && (
        <>
          <Groups known={value} onChange={(subject) => (changing.value = subject)} />
          <People
            known={value}
            saves={saves.value}
            onChange={(subject) => (changing.value = subject)}
          />
        </>
      )}
      {changing.value && (
        <LimitsDialog
          subject={changing.value}
          onClose={(isSaved) => {
            changing.value = undefined
            if (isSaved) saves.value += 1
          }}
        />
      )}
    </section>
  )
}

async function readLimits(signal: AbortSignal): Promise<LimitsView> {
  const today = new Date().toISOString().slice(0, 10)
  const used = (by: 'person' | 'group') =>
    client.admin.usage({ by, since: today, until: today, limit: MAX_ROWS }, { signal })
  const [file, people, groups] = await Promise.all([
    client.admin.agent.get({ signal }),
    used('person'),
    used('group'),
  ])
  // The server has checked it.
  const budgets = (fieldAt(readFields(file.text), ['budgets']) ?? {}) as Budgets
  return { budgets, people, groups }
}

function usedBy({ rows }: UsageReport, by: 'person' | 'group', id: string) {
  const row = rows.find((each) => each[by] === id)
  return { tokens: (row?.inputTokens ?? 0) + (row?.outputTokens ?? 0), cost: row?.cost }
}

interface Place {
  known: LimitsView
  onChange: (subject: Subject) => void
}

function Groups({ known, onChange }: Place) {
  const { people: everybody = {}, groups = {} } = known.budgets
  const { currency } = known.groups
  return (
    <>
      <ul class="limits" aria-label="Limits of everybody and of groups">
        <Entry
          name="Everybody"
          words={limitWords(everybody, currency) || 'no limit'}
          note="for each person"
          onChange={() => onChange({ kind: 'everybody', limits: everybody })}
        />
        {Object.entries(groups).map(([name, limits]) => {
          const used = usedBy(known.groups, 'group', name)
          return (
            <Entry
              key={name}
              name={`Group ${name}`}
              words={
                limits.shared
                  ? todayWords(used, limits, currency)
                  : `${limitWords(limits, currency) || 'no limit'} for each member`
              }
              note={
                limits.shared
                  ? 'shared by all members'
                  : `together, they have used ${todayWords(used, {}, currency)}`
              }
              onChange={() => onChange({ kind: 'group', name, limits })}
            />
          )
        })}
      </ul>
      <div>
        <Button
          icon="add"
          onClick={() => onChange({ kind: 'group', name: '', limits: { shared: false } })}
        >
          Limit a group
        </Button>
      </div>
    </>
  )
}

function People({ known, saves, onChange }: Place & { saves: number }) {
  const people = useSignal<readonly KnownPerson[]>([])
  const cursor = useSignal<string | undefined>(undefined)
  const work = useWork<void>()
  const read = (after?: string) =>
    work.run(async () => {
      const page = await client.admin.people.list({ limit: PAGE }).page(after)
      people.value = after === undefined ? page.items : [...people.value, ...page.items]
      cursor.value = page.nextCursor
    })
  useEffect(() => void read(), [saves])
  return (
    <>
      <ErrorNote message={work.failure.value} />
      <ul class="limits" aria-label="Limits of people">
        {people.value.map((person) => {
          const limits = limitsOf(person, known.budgets)
          const own = limitWords(person, known.people.currency)
          const name = person.name ?? principalName(person.id)
          return (
            <Entry
              key={person.id}
              name={name}
              words={todayWords(
                usedBy(known.people, 'person', person.id),
                limits,
                known.people.currency,
              )}
              note={own === '' ? undefined : `own limit: ${own}`}
              onChange={() => onChange({ kind: 'person', id: person.id, name, limits: person })}
            />
          )
        })}
      </ul>
      {people.value.length === 0 && !work.isBusy.value && work.failure.value === '' && (
        <p class="hint">Nobody has signed in yet.</p>
      )}
      {cursor.value !== undefined && (
        <div>
          <Button icon="next" disabled={work.isBusy.value} onClick={() => void read(cursor.value)}>
            Show more people
          </Button>
        </div>
      )}
    </>
  )
}

function Entry({
  name,
  words,
  note,
  onChange,
}: {
  name: string
  words: string
  note: string | undefined
  onChange: () => void
}) {
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <p>{words}</p>
        {note !== undefined && <p class="hint">{note}</p>}
      </div>
      <Button icon="edit" class="quiet" about={`the limit of ${name}`} onClick={onChange}>
        Change
      </Button>
    </li>
  )
}

function LimitsDialog({
  subject,
  onClose,
}: {
  subject: Subject
  onClose: (isSaved: boolean) => void
}) {
  const work = useWork<true>()
  const save = async (form: HTMLFormElement) => {
    await work.run(() => saveLimits(subject, new FormData(form)))
    if (work.result.value) onClose(true)
  }
  return (
    <Dialog title={titleOf(subject)} onClose={() => onClose(false)}>
      <Form class="stack" onSubmit={save}>
        {subject.kind === 'group' && subject.name === '' && (
          <Field label="Group, as the issuer names it">
            <input name="group" required maxLength={MAX_GROUP} autocomplete="off" />
          </Field>
        )}
        <LimitFields limits={subject.limits} work={work} />
        {subject.kind === 'group' && (
          <label class="check">
            <input type="checkbox" name="shared" defaultChecked={subject.limits.shared ?? false} />
            <span>All members share it; otherwise each has it</span>
          </label>
        )}
        <p class="hint">
          Money counts for models that have a price in agent.json. Changes apply from the next call
          of a model.
        </p>
        <ErrorNote message={otherFailure(work)} />
        <div class="dialog-foot">
          <Button icon="cancel" onClick={() => onClose(false)}>
            Cancel
          </Button>
          <Button icon="save" type="submit" class="primary" disabled={work.isBusy.value}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function titleOf(subject: Subject): string {
  if (subject.kind === 'everybody') return 'Limit for each person'
  if (subject.name === '') return 'Limit for a group'
  return subject.kind === 'group'
    ? `Limit for the group ${subject.name}`
    : `Limit for ${subject.name}`
}

async function saveLimits(subject: Subject, form: FormData): Promise<true> {
  const limits = limitsIn(form)
  if (subject.kind === 'person') {
    await client.admin.people.update(subject.id, limits)
    return true
  }
  const own = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null))
  const { path, value } = budgetOf(subject, own, form)
  const file = await client.admin.agent.get()
  const text = withField(file.text || '{}', ['budgets', ...path], value)
  await client.admin.agent.save({ text, basedOn: file.digest })
  return true
}

/** Where `agent.json` has it, and what; a group without a limit is taken out. */
function budgetOf(
  subject: Exclude<Subject, { kind: 'person' }>,
  limits: Record<string, number | null>,
  form: FormData,
) {
  if (subject.kind === 'everybody') return { path: ['people'], value: limits }
  const path = ['groups', subject.name || String(form.get('group') ?? '').trim()]
  if (Object.keys(limits).length === 0) return { path, value: undefined }
  return { path, value: { ...limits, ...(form.has('shared') && { shared: true }) } }
}
