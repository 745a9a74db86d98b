import type { LocalModelServers } from '../../packages/client/src/agent-server.ts'
import { client } from '../api.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote, Status } from '../parts/notes.tsx'
import { useWork } from './work.tsx'

export type LocalServer = LocalModelServers['servers'][number]

/** Models for search, not for chat. */
const NOT_FOR_CHAT = /embed|rerank|minilm|\bbge\b|\be5\b/i

export const chatModelsOf = ({ models }: LocalServer) =>
  models.filter((model) => !NOT_FOR_CHAT.test(model))

/** The settings with which a model of a server on this machine answers. */
export const settingsFor = ({ baseUrl }: LocalServer, model: string) => ({
  CHAT_MODEL: model,
  CHAT_BASE_URL: baseUrl,
  CHAT_API_KEY: 'none',
})

/** Looks for model servers on the server’s machine, and fills in a model that one has. */
export function LocalModels({ onChoose }: { onChoose: (values: Record<string, string>) => void }) {
  const search = useWork<LocalServer[]>()
  const look = () => search.run(() => Promise.resolve(client.admin.models.local()))
  const servers = search.result.value
  return (
    <>
      <div class="row">
        <Button icon="search" disabled={search.isBusy.value} onClick={() => void look()}>
          Look for Ollama and LM Studio
        </Button>
        {search.isBusy.value && <Status tone="busy">Looking for Ollama and LM Studio</Status>}
        {servers?.length === 0 && (
          <span class="hint" role="status">
            None is running on the server’s machine.
          </span>
        )}
      </div>
      <ErrorNote message={search.failure.value} />
      {servers?.map((server) => (
        <div key={server.baseUrl} class="row">
          <span>
            {server.name} is running{chatModelsOf(server).length === 0 && ', but has no chat model'}
          </span>
          {chatModelsOf(server).map((model) => (
            <Button key={model} icon="models" onClick={() => onChoose(settingsFor(server, model))}>
              {model}
            </Button>
          ))}
        </div>
      ))}
    </>
  )
}
