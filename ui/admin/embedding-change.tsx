import { useSignal } from '@preact/signals'
import type {
  ModelTest,
  Readiness,
  Setting,
  SettingsPatch,
} from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { formatNumber } from '../format.ts'
import { Button, Field } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { usePolled } from '../poll.ts'
import { TestResult } from './model-test.tsx'
import { BUILT_IN, BUILT_IN_MULTILINGUAL, PRESETS } from './presets.ts'
import { begin, serverState, transition } from './server-state.ts'
import { useWork } from './work.tsx'

const POLL_MS = 3_000

/** What the change is made with, and where it ends. */
const MOVES = {
  EMBEDDING_MODEL_NEXT: 'EMBEDDING_MODEL',
  EMBEDDING_BASE_URL_NEXT: 'EMBEDDING_BASE_URL',
  EMBEDDING_API_KEY_NEXT: 'EMBEDDING_API_KEY',
}
const NAMES = Object.keys(MOVES)

interface Change {
  all: readonly Setting[]
  /** Saves, and reloads the state. */
  onSave: (changes: Omit<SettingsPatch, 'basedOn'>) => Promise<boolean>
}

/** Switches from one embedding model to another: documents are embedded again while the old vectors serve. */
export function EmbeddingChange({ all, onSave }: Change) {
  const { value: readiness } = usePolled(() => client.admin.readiness(), POLL_MS)
  const saved = NAMES.filter((name) => all.find((one) => one.name === name)?.source === 'file')
  const next = all.find(({ name }) => name === 'EMBEDDING_MODEL_NEXT')?.value
  // The next change begins when the last restart is over.
  const isBusy = transition.value !== ''
  const settle = async (changes: Omit<SettingsPatch, 'basedOn'>) => {
    if (await onSave(changes)) await begin('restart')
  }
  return (
    <details class="settings" open={next !== undefined}>
      <summary>Change the embedding model of existing documents</summary>
      <div class="stack part-form">
        {next === undefined ? (
          <Choice onBegin={(set) => void settle({ set })} />
        ) : (
          <>
            <Progress next={next} reEmbedding={readiness.value?.reEmbedding} />
            <div class="row">
              {readiness.value?.reEmbedding?.state === 'ready' && (
                <Button
                  icon="retry"
                  class="primary"
                  disabled={isBusy}
                  onClick={() => {
                    const move = Object.entries(MOVES).filter(([name]) => saved.includes(name))
                    void settle({ move: Object.fromEntries(move) })
                  }}
                >
                  Switch to this model and restart
                </Button>
              )}
              <Button icon="cancel" disabled={isBusy} onClick={() => void settle({ clear: saved })}>
                Cancel the change and restart
              </Button>
            </div>
          </>
        )}
      </div>
    </details>
  )
}

function Choice({ onBegin }: { onBegin: (set: Record<string, string>) => void }) {
  const typed = useSignal<Record<string, string>>({})
  const test = useWork<ModelTest>()
  const filled = () => Object.entries(typed.value).filter(([, value]) => value !== '')
  const change = (name: string, value: string) => {
    typed.value = { ...typed.value, [name]: value }
  }
  const presets = [BUILT_IN, BUILT_IN_MULTILINGUAL, ...PRESETS]
  const fields = [
    ['EMBEDDING_MODEL', 'New model'],
    ['EMBEDDING_BASE_URL', 'Base URL, if different'],
    ['EMBEDDING_API_KEY', 'API key, if different'],
  ] as const
  return (
    <>
      <p class="hint">
        The server restarts and embeds all documents in the background. Search uses the old vectors
        until you switch, so both models are called in the meantime.
      </p>
      <div class="settings-fields">
        <Field label="New server">
          <select
            value=""
            onChange={({ currentTarget }) => {
              const preset = presets.find(({ name }) => name === currentTarget.value)
              if (preset?.model) typed.value = { EMBEDDING_MODEL: preset.model }
              else if (preset?.url) change('EMBEDDING_BASE_URL', preset.url)
            }}
          >
            <option value="">Choose</option>
            {presets.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
        {fields.map(([name, label]) => (
          <Field key={name} label={label}>
            <input
              {...(name === 'EMBEDDING_API_KEY'
                ? { type: 'password' as const }
                : { type: 'text' as const })}
              autocomplete="off"
              value={typed.value[name] ?? ''}
              onInput={({ currentTarget }) => change(name, currentTarget.value.trim())}
            />
          </Field>
        ))}
      </div>
      <div class="row">
        <Button
          icon="test"
          disabled={test.isBusy.value || !typed.value.EMBEDDING_MODEL}
          onClick={() =>
            void test.run(() =>
              client.admin.models.test({ kind: 'embedding', set: Object.fromEntries(filled()) }),
            )
          }
        >
          Test the new model
        </Button>
        <Button
          icon="start"
          class="primary"
          disabled={!test.result.value?.ok}
          onClick={() =>
            onBegin(Object.fromEntries(filled().map(([name, value]) => [`${name}_NEXT`, value])))
          }
        >
          Start the change and restart
        </Button>
        {test.isBusy.value && <Status tone="busy">Waiting for the model</Status>}
      </div>
      <ErrorNote message={test.failure.value} />
      {test.result.value && <TestResult test={test.result.value} />}
    </>
  )
}

function Progress({ next, reEmbedding }: { next: string; reEmbedding: Readiness['reEmbedding'] }) {
  if (serverState.value?.restart.settings.includes('EMBEDDING_MODEL_NEXT'))
    return <p>The change to {next} begins with a restart.</p>
  if (!reEmbedding) return <Status tone="busy">Waiting for the server</Status>
  const { state, done, total, reason } = reEmbedding
  return (
    <>
      <label class="field">
        <span class="label">
          {state === 'ready' ? 'All passages have been embedded with' : 'Embedding passages with'}{' '}
          {next}
        </span>
        <progress value={done} max={Math.max(total, 1)} />
        <span class="hint">
          {formatNumber(done)} of {formatNumber(total)}
        </span>
      </label>
      {reason && <ErrorNote message={`Retried automatically: ${reason}`} />}
    </>
  )
}
