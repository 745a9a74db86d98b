import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { AgentCheck, AgentVersions } from '../../packages/client/src/agent-server.ts'
import { Mistakes } from '../admin/agent-card.tsx'
import { agentEditor as editor } from '../admin/agent-editor.ts'
import { AgentForms } from '../admin/agent-forms.tsx'
import { CitedPassage, DraftPanel } from '../admin/draft-panel.tsx'
import { diffLines } from '../admin/line-diff.ts'
import { useLoadedAgent } from '../admin/loaded-agent.ts'
import { attempt, client } from '../api.ts'
import { formatDate } from '../format.ts'
import { Button, bound, Field } from '../parts/controls.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'

const CHECK_MS = 500

/** The agent as cards, with the text behind them, and a chat to try what is not saved yet. */
export function AgentPage() {
  const { file, text, found, failure, checkFailure, note, isChanged } = editor
  const isSaving = useSignal(false)
  const isDiscarding = useSignal(false)
  const loaded = useLoadedAgent()
  const question = useRef<HTMLTextAreaElement>(null)
  useEffect(() => void editor.open(), [])
  useEffect(() => {
    const timer = setTimeout(() => void editor.check(), CHECK_MS)
    return () => clearTimeout(timer)
  }, [text.value])
  const close = () => {
    isSaving.value = false
  }
  return (
    <>
      <div class="page-head">
        <h1>Agent</h1>
        <div class="row">
          <Button icon="chat" class="only-narrow" onClick={() => question.current?.focus()}>
            Try the draft
          </Button>
          <Button
            icon="cancel"
            disabled={!isChanged.value}
            onClick={() => (isDiscarding.value = true)}
          >
            Discard
          </Button>
          <Button
            icon="save"
            class="primary"
            disabled={!isChanged.value || !found.value?.valid}
            onClick={() => (isSaving.value = true)}
          >
            Save
          </Button>
        </div>
      </div>
      <ErrorNote message={failure.value || checkFailure.value} />
      <p role="status">{note.value}</p>
      <div class="agent-layout">
        <div class="agent-cards">
          <AgentForms editor={editor} loaded={loaded} />
          <Advanced />
          {file.value?.found === false && (
            <p class="hint">
              {file.value.path} does not exist, so the agent has all tools and the server’s own
              prompt. Saving creates the file.
            </p>
          )}
        </div>
        <DraftPanel editor={editor} loaded={loaded} field={question} />
        <CitedPassage />
      </div>
      {isDiscarding.value && (
        <Confirm
          title="Discard your changes?"
          action="Discard"
          onConfirm={() => {
            isDiscarding.value = false
            void editor.discard()
          }}
          onClose={() => (isDiscarding.value = false)}
        >
          <p>The cards show the saved configuration again.</p>
        </Confirm>
      )}
      {isSaving.value && file.value && (
        <SaveDialog
          before={file.value.text}
          after={text.value}
          onSave={() => {
            close()
            void editor.save()
          }}
          onClose={close}
        />
      )}
    </>
  )
}

/** The fields that have a card of their own. */
const CARDS = ['prompt', 'tools', 'skills', 'mcpServers', 'sandbox']

const hasNoCard = ({ field }: AgentCheck['mistakes'][number]) =>
  !CARDS.includes(field.split('.')[0] ?? '')

/** What few people change: limits, the configuration as text, and its earlier versions. */
function Advanced() {
  const { file, text, found, isChanged } = editor
  /** An earlier version that is to replace unsaved changes. */
  const target = useSignal<string | undefined>(undefined)
  const take = (earlier: string) => {
    text.value = earlier
    target.value = undefined
    window.scrollTo(0, 0)
  }
  const offer = (earlier: string) => {
    if (isChanged.value) target.value = earlier
    else take(earlier)
  }
  return (
    <section class="panel agent-card">
      <details>
        <summary>
          <h2>Advanced</h2>
          <span class="hint">Limits, JSON, earlier versions</span>
        </summary>
        <div class="stack">
          <Limits />
          <TextField
            label={file.value?.path ?? 'agent.json'}
            text={text}
            isRead={file.value !== undefined}
          />
          {file.value && !editor.fields.value && (
            <p class="hint">The cards can be used again once this is valid JSON.</p>
          )}
          <Versions digest={file.value?.digest} onTake={offer} />
          {target.value !== undefined && (
            <Confirm
              title="Replace your changes?"
              action="Replace"
              icon="undo"
              onConfirm={() => take(target.value ?? '')}
              onClose={() => (target.value = undefined)}
            >
              <p>The earlier version takes the place of what you have not saved yet.</p>
            </Confirm>
          )}
        </div>
      </details>
      <Mistakes title="agent.json" mistakes={found.value?.mistakes.filter(hasNoCard) ?? []} />
    </section>
  )
}

const LIMITS = [
  ['rounds', 'Model calls', 8],
  ['toolCalls', 'Tool calls', 64],
  ['seconds', 'Seconds', 300],
  ['tokens', 'Tokens', 1_000_000],
] as const

function Limits() {
  return (
    <div class="settings-fields">
      {LIMITS.map(([name, label, initial]) => (
        <Field key={name} label={`${label} for one question`}>
          <input
            type="number"
            min={0}
            placeholder={String(initial)}
            readOnly={!editor.fields.value}
            value={String(editor.field('limits', name) ?? '')}
            onInput={({ currentTarget: { value } }) =>
              editor.set(['limits', name], value === '' ? undefined : Number(value))
            }
          />
        </Field>
      ))}
    </div>
  )
}

/** What was written before the file is read would be lost, so it takes nothing until then. */
function TextField({
  label,
  text,
  isRead,
}: {
  label: string
  text: Signal<string>
  isRead: boolean
}) {
  return (
    <Field label={label}>
      <textarea
        class="code-field"
        rows={18}
        spellcheck={false}
        readOnly={!isRead}
        {...bound(text)}
      />
    </Field>
  )
}

function Versions({
  digest,
  onTake,
}: {
  digest: string | undefined
  onTake: (text: string) => void
}) {
  const versions = useSignal<AgentVersions['versions']>([])
  const failure = useSignal('')
  const read = () =>
    attempt(failure, async () => {
      versions.value = await client.admin.agent.versions()
    })
  useEffect(() => void read(), [digest])
  const take = (version: string) =>
    attempt(failure, async () => {
      onTake((await client.admin.agent.version(version)).text)
    })
  if (versions.value.length === 0) return <ErrorNote message={failure.value} />
  return (
    <section class="stack" aria-labelledby="versions">
      <h3 id="versions">Earlier versions</h3>
      <ErrorNote message={failure.value} />
      <ul class="sources">
        {versions.value.map(({ digest: version, replacedAt }) => (
          <li key={version + replacedAt}>
            <span>Until {formatDate(replacedAt)}</span>
            <Button
              icon="undo"
              about={`the version until ${formatDate(replacedAt)}`}
              class="quiet"
              onClick={() => void take(version)}
            >
              Restore
            </Button>
          </li>
        ))}
      </ul>
      <p class="hint">This fills the field above. Nothing changes until you choose Save.</p>
    </section>
  )
}

const MARKS = { same: ' ', removed: '−', added: '+' } as const

function SaveDialog({
  before,
  after,
  onSave,
  onClose,
}: {
  before: string
  after: string
  onSave: () => void
  onClose: () => void
}) {
  return (
    <Dialog title="Save these changes?" onClose={onClose} wide>
      <pre class="code diff">
        {diffLines(before, after).map(({ kind, text }, index) => (
          <span key={index} class={kind}>
            {MARKS[kind]} {text}
            {'\n'}
          </span>
        ))}
      </pre>
      <p class="hint">The previous version is kept. Changes apply to the next question.</p>
      <div class="dialog-foot">
        <Button icon="cancel" onClick={onClose}>
          Cancel
        </Button>
        <Button icon="save" class="primary" onClick={onSave}>
          Save
        </Button>
      </div>
    </Dialog>
  )
}
