import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { chatModelsOf, type LocalServer, settingsFor } from '../admin/local-models.tsx'
import { begin } from '../admin/server-state.ts'
import { useWork } from '../admin/work.tsx'
import { client } from '../api.ts'
import { leaveConversation } from '../chat/answering.ts'
import { draftOf } from '../chat/draft.ts'
import { Button, bound, Field } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { href } from '../route.ts'
import { SAMPLE, SAMPLE_QUESTIONS } from './sample-document.ts'

/** It takes well below one. */
const SAMPLE_WAIT_SECONDS = 20

/** What there is of each step. */
export interface Progress {
  documents: number
  hasSample: boolean
  /** The chat model; undefined while documents are only quoted. */
  model: string | undefined
  hasAsked: boolean
}

/** From an empty server to an answer. */
export function FirstSteps({ state, onDone }: { state: Progress; onDone: () => void }) {
  const { documents, hasSample, model, hasAsked } = state
  return (
    <section class="panel wide stack" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol class="first-steps">
        <Step title="Add a document" isDone={documents > 0}>
          {documents === 0 && <AddDocument onDone={onDone} />}
        </Step>
        <Step title="Connect a chat model" isDone={model !== undefined}>
          {model === undefined ? <ConnectModel /> : <p>{model} writes the answers.</p>}
        </Step>
        <Step title="Ask a question" isDone={hasAsked}>
          {(documents > 0 || !hasAsked) && <Ask isReady={documents > 0} hasSample={hasSample} />}
        </Step>
      </ol>
    </section>
  )
}

interface StepProps {
  title: string
  isDone: boolean
  children: ComponentChildren
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li class={isDone ? 'done' : ''}>
      <h3>
        {title} {isDone && <Status tone="good">Done</Status>}
      </h3>
      {children}
    </li>
  )
}

function AddDocument({ onDone }: { onDone: () => void }) {
  const sample = useWork<unknown>()
  const addSample = async () => {
    const { id, ...document } = SAMPLE
    await client.documents.replace(id, document, { wait: SAMPLE_WAIT_SECONDS })
    onDone()
  }
  return (
    <>
      <p>
        Add PDF, Office, HTML, Markdown or text files, tables, images, or a web address. The sample
        is one page about a fictional library.
      </p>
      <div class="row">
        <a class="button primary" href={href('documents')}>
          <Icon name="addFile" />
          Add documents
        </a>
        <Button
          icon="paste"
          disabled={sample.isBusy.value}
          onClick={() => void sample.run(addSample)}
        >
          Use a sample
        </Button>
        {sample.isBusy.value && <Status tone="busy">Adding the sample</Status>}
      </div>
      <ErrorNote message={sample.failure.value} />
    </>
  )
}

function ConnectModel() {
  const search = useWork<LocalServer[]>()
  const look = () => search.run(() => Promise.resolve(client.admin.models.local()))
  useEffect(() => void look(), [])
  const servers = search.result.value ?? []
  return (
    <>
      <p>
        So far, answers are sentences quoted from your documents. A chat model writes answers in its
        own words and calls tools.
      </p>
      {servers.map((server) => (
        <FoundServer key={server.baseUrl} server={server} />
      ))}
      {search.result.value && servers.length === 0 && (
        <p>No Ollama or LM Studio is running on the server’s machine.</p>
      )}
      <ErrorNote message={search.failure.value} />
      <div class="row">
        <Button icon="search" disabled={search.isBusy.value} onClick={() => void look()}>
          Look for Ollama and LM Studio
        </Button>
        <a class="button quiet" href={href('models')}>
          <Icon name="models" />
          Connect another model
        </a>
        {search.isBusy.value && <Status tone="busy">Looking for Ollama and LM Studio</Status>}
      </div>
    </>
  )
}

function FoundServer({ server }: { server: LocalServer }) {
  const { name } = server
  const chatModels = chatModelsOf(server)
  const model = useSignal(chatModels[0] ?? '')
  const saving = useWork<unknown>()
  const use = async () => {
    const { digest } = await client.admin.settings.get()
    await client.admin.settings.save({ basedOn: digest, set: settingsFor(server, model.value) })
    await begin('restart')
  }
  if (chatModels.length === 0) {
    return (
      <p>
        {name} is running but has no chat model yet
        {name === 'Ollama' && (
          <>
            . Get one with <code>ollama pull qwen3.5:4b</code>
          </>
        )}
        .
      </p>
    )
  }
  return (
    <>
      <div class="row">
        <Field label={`${name} is running. Model`}>
          <select {...bound(model)}>
            {chatModels.map((model) => (
              <option key={model}>{model}</option>
            ))}
          </select>
        </Field>
        <Button
          icon="retry"
          class="primary"
          disabled={saving.isBusy.value}
          onClick={() => void saving.run(use)}
        >
          Use this model and restart
        </Button>
      </div>
      <ErrorNote message={saving.failure.value} />
    </>
  )
}

function Ask({ isReady, hasSample }: { isReady: boolean; hasSample: boolean }) {
  if (!isReady) return <p>Add a document first.</p>
  const ask = (question: string) => {
    leaveConversation()
    draftOf().value = question
    location.hash = href('chat')
  }
  return (
    <>
      <p>Every statement in an answer cites the passage that it comes from.</p>
      <div class="row">
        {hasSample ? (
          SAMPLE_QUESTIONS.map((question) => (
            <Button icon="ask" key={question} onClick={() => ask(question)}>
              {question}
            </Button>
          ))
        ) : (
          <a class="button primary" href={href('chat')}>
            <Icon name="chat" />
            Ask about your documents
          </a>
        )}
      </div>
    </>
  )
}
