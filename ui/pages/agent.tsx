import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { AgentCheck, AgentVersions } from '../../client/src/agent-server.ts'
import { agentEditor as editor } from '../admin/agent-editor.ts'
import { AgentForms } from '../admin/agent-forms.tsx'
import { diffLines } from '../admin/line-diff.ts'
import { client, messageOf } from '../api.ts'
import { formatDate } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/notes.tsx'

const CHECK_MS = 500

/** The agent configuration as text, checked while it is written; with what the model would be told. */
export function AgentPage() {
  const { file, text, found, failure, checkFailure, note, isChanged } = editor
  const isSaving = useSignal(false)
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
          <button type="button" disabled={!isChanged.value} onClick={() => void editor.read()}>
            Discard
          </button>
          <button
            type="button"
            class="primary"
            disabled={!isChanged.value || !found.value?.valid}
            onClick={() => {
              isSaving.value = true
            }}
          >
            Save
          </button>
        </div>
      </div>
      <ErrorNote message={failure.value || checkFailure.value} />
      <p role="status">{note.value}</p>
      <AgentForms editor={editor} />
      <TextField
        label={file.value?.path ?? 'agent.json'}
        text={text}
        isRead={file.value !== undefined}
      />
      <Mistakes check={found.value} />
      <Prompt check={found.value} />
      <Versions
        digest={file.value?.digest}
        onTake={(earlier) => {
          text.value = earlier
        }}
      />
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
    <label class="field">
      <span class="label">{label}</span>
      <textarea
        class="code-field"
        rows={18}
        spellcheck={false}
        readOnly={!isRead}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
      />
    </label>
  )
}

function Mistakes({ check }: { check: AgentCheck | undefined }) {
  if (!check || check.mistakes.length === 0) return null
  return (
    <ul class="error-note" aria-label="Mistakes">
      {check.mistakes.map(({ field, message }) => (
        <li key={`${field}${message}`}>
          <code>{field || 'agent.json'}</code> {message}
        </li>
      ))}
    </ul>
  )
}

/** The server's own rules stand first, whatever the configuration says. */
function Prompt({ check }: { check: AgentCheck | undefined }) {
  if (!check) return null
  return (
    <section class="panel" aria-labelledby="prompt">
      <h2 id="prompt">System message</h2>
      <details class="settings">
        <summary>The server’s own rules</summary>
        <pre class="code">{check.prompt.rules}</pre>
      </details>
      <details class="settings">
        <summary>Complete system message with this configuration</summary>
        <pre class="code">{check.prompt.assembled}</pre>
      </details>
    </section>
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
  useEffect(() => {
    client.admin.agent.versions().then(
      (found) => {
        versions.value = found
      },
      (error: unknown) => {
        failure.value = messageOf(error)
      },
    )
  }, [digest])
  const take = async (version: string) => {
    try {
      onTake((await client.admin.agent.version(version)).text)
      window.scrollTo(0, 0)
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  if (versions.value.length === 0) return <ErrorNote message={failure.value} />
  return (
    <section class="panel" aria-labelledby="versions">
      <h2 id="versions">Earlier versions</h2>
      <ErrorNote message={failure.value} />
      <ul class="sources">
        {versions.value.map(({ digest: version, replacedAt }) => (
          <li key={version + replacedAt}>
            <span>Until {formatDate(replacedAt)}</span>
            <button type="button" class="quiet" onClick={() => void take(version)}>
              Restore
              <span class="visually-hidden"> the version until {formatDate(replacedAt)}</span>
            </button>
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
      <p class="hint">The previous version is kept. Changes take effect after a restart.</p>
      <div class="dialog-foot">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={onSave}>
          Save
        </button>
      </div>
    </Dialog>
  )
}
