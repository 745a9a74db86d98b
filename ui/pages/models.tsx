import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type {
  ModelTest,
  ModelTestRequest,
  ProviderModels,
  Setting,
} from '../../packages/client/src/agent-server.ts'
import { EmbeddingChange } from '../admin/embedding-change.tsx'
import { LocalModels } from '../admin/local-models.tsx'
import { TestResult } from '../admin/model-test.tsx'
import { PRESETS, type Preset, presetOf, SERVERLESS } from '../admin/presets.ts'
import { SaveBar, SettingField } from '../admin/setting-field.tsx'
import { changesOf, type Draft, useSettings } from '../admin/settings-draft.ts'
import { Tiles } from '../admin/tiles.tsx'
import { useWork } from '../admin/work.tsx'
import { client } from '../api.ts'
import { counted, formatDay } from '../format.ts'
import { Button, Form } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'

interface Role {
  kind: ModelTestRequest['kind']
  title: string
  hint: string
  /** Model, address and key, then what belongs to them. */
  names: readonly [string, string, string, ...string[]]
}

const ROLES: readonly Role[] = [
  {
    kind: 'chat',
    title: 'Chat',
    hint: 'Writes the answers. The model extractive quotes the documents and needs no key.',
    names: [
      'CHAT_MODEL',
      'CHAT_BASE_URL',
      'CHAT_API_KEY',
      'CHAT_API',
      'CHAT_REASONING_EFFORT',
      'CHAT_CONTEXT_TOKENS',
    ],
  },
  {
    kind: 'embedding',
    title: 'Embedding',
    hint: 'Used for vector search. The model builtin comes with the server and supports English; none searches by keywords only. When you set the first model, existing documents are embedded in the background. To change from one model to another, use the steps below.',
    names: ['EMBEDDING_MODEL', 'EMBEDDING_BASE_URL', 'EMBEDDING_API_KEY'],
  },
  {
    kind: 'reranking',
    title: 'Reranking',
    hint: 'Improves the order of search results. Optional.',
    names: ['RERANK_MODEL', 'RERANK_BASE_URL', 'RERANK_API_KEY'],
  },
]

/** The models in use: chosen, tested while typing, and saved. */
export function ModelsPage() {
  const { settings, draft, failure, note, save, saveChanges } = useSettings()
  const all = settings.value?.settings ?? []
  return (
    <>
      <h1>Models</h1>
      <p class="hint">
        Tests call a model the way chat and search do, with the values entered here, saved or not.
      </p>
      <Form class="stack" onSubmit={save}>
        {all.length === 0 && failure.value === '' && <Skeleton rows={8} />}
        {all.length > 0 &&
          ROLES.map((role) => (
            <RoleForm key={role.kind} role={role} all={all} draft={draft}>
              {role.kind === 'embedding' && <EmbeddingChange all={all} onSave={saveChanges} />}
            </RoleForm>
          ))}
        <SaveBar draft={draft} failure={failure.value} note={note.value} />
      </Form>
    </>
  )
}

function RoleForm({
  role: { kind, title, hint, names },
  all,
  draft,
  children,
}: {
  children: ComponentChildren
  role: Role
  all: readonly Setting[]
  draft: Signal<Draft>
}) {
  const test = useWork<ModelTest>()
  const list = useWork<ProviderModels>()
  const [model, url, key] = names
  const request = () => ({ kind, ...changesOf(draft.value) })
  const listId = `models-${kind}`
  const sourceOf = (name: string) => all.find((one) => one.name === name)?.source
  const presets = [
    ...SERVERLESS[kind],
    ...PRESETS.filter((one) => one.onlyFor !== 'chat' || kind === 'chat'),
  ]
  const current = (name: string) =>
    (name in draft.value ? draft.value[name] : all.find((one) => one.name === name)?.value) ?? ''
  const isOther = useSignal(false)
  const preset = isOther.value ? undefined : presetOf(presets, current(model), current(url))
  const isSet = isOther.value || current(model) + current(url) !== ''
  // A model without a server needs no address and no key; what is set is shown all the same.
  const isNeeded = (name: string) =>
    preset?.model === undefined ||
    name === model ||
    sourceOf(name) !== 'default' ||
    draft.value[name] !== undefined
  const take = (preset: Preset) => {
    isOther.value = false
    const isKeyless = sourceOf(key) === 'default'
    const before = presetOf(presets, current(model), current(url))
    draft.value = {
      ...draft.value,
      // No other server has a model that is built in.
      ...(before?.model && { [model]: null }),
      ...(preset.model && { [model]: preset.model }),
      ...(preset.url && { [url]: preset.url }),
      ...(preset.key && isKeyless && { [key]: preset.key }),
    }
  }
  return (
    <section class="panel stack" aria-labelledby={`role-${kind}`}>
      <h2 id={`role-${kind}`}>{title}</h2>
      <p class="hint">{hint}</p>
      <Tiles
        title={title}
        presets={presets}
        chosen={preset ?? (isSet ? 'other' : undefined)}
        isFixed={({ model: own }) => sourceOf(own ? model : url) === 'environment'}
        onChoose={take}
        onOther={() => (isOther.value = true)}
      />
      {kind === 'chat' && (
        <LocalModels onChoose={(values) => (draft.value = { ...draft.value, ...values })} />
      )}
      {names.filter(isNeeded).map((name) => {
        const setting = all.find((one) => one.name === name)
        const suggestions = name === model ? { suggestions: listId } : {}
        return setting && <SettingField key={name} {...{ setting, draft }} {...suggestions} />
      })}
      <datalist id={listId}>
        {list.result.value?.models.map((name) => (
          <option key={name} value={name} label={closingOf(list.result.value, name)} />
        ))}
      </datalist>
      <div class="row">
        <Button
          icon="test"
          about={title}
          disabled={test.isBusy.value}
          onClick={() => {
            list.failure.value = ''
            void test.run(() => client.admin.models.test(request()))
          }}
        >
          Test
        </Button>
        <Button
          icon="list"
          about={`for ${title}`}
          disabled={list.isBusy.value}
          onClick={() => {
            test.failure.value = ''
            void list.run(() => client.admin.models.offer(request()))
          }}
        >
          List models
        </Button>
        {(test.isBusy.value || list.isBusy.value) && (
          <Status tone="busy">Waiting for the model</Status>
        )}
        {list.result.value && (
          <span class="hint" role="status">
            {counted(list.result.value.models.length, 'model')} found, and suggested in {model}.
          </span>
        )}
      </div>
      {list.result.value && <Closings closings={list.result.value.closings} />}
      <ErrorNote message={test.failure.value || list.failure.value} />
      {test.result.value && <TestResult test={test.result.value} />}
      {children}
    </section>
  )
}

/** Beside a suggested name. */
function closingOf(offer: ProviderModels | undefined, name: string): string | undefined {
  const day = offer?.closings[name]
  return day && `${name} (closes on ${formatDay(day)})`
}

function Closings({ closings }: Pick<ProviderModels, 'closings'>) {
  const entries = Object.entries(closings).toSorted(([, one], [, other]) =>
    one.localeCompare(other),
  )
  if (entries.length === 0) return null
  return (
    <details>
      <summary>{counted(entries.length, 'model')} to be closed by the provider</summary>
      <ul>
        {entries.map(([name, day]) => (
          <li key={name}>
            <code>{name}</code> on {formatDay(day)}
          </li>
        ))}
      </ul>
    </details>
  )
}
