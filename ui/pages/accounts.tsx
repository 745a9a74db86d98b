import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { McpAccountList } from '../../packages/client/src/agent-server.ts'
import { attempt, client } from '../api.ts'
import { formatDate } from '../format.ts'
import { Button } from '../parts/controls.tsx'
import { Empty, ErrorNote } from '../parts/notes.tsx'
import { Skeleton } from '../parts/skeleton.tsx'

type Account = McpAccountList['accounts'][number]

/** The accounts at other servers with which the agent acts for whoever has signed in. */
export function AccountsPage() {
  const accounts = useSignal<readonly Account[] | undefined>(undefined)
  const failure = useSignal('')
  const read = () =>
    attempt(failure, async () => {
      const list = await client.agent.accounts.list()
      accounts.value = list.accounts
    })
  useEffect(() => void read(), [])
  const connect = (connection: string) =>
    attempt(failure, async () => {
      const { url } = await client.agent.accounts.connect(connection)
      location.assign(url)
    })
  const disconnect = (connection: string) =>
    attempt(failure, async () => {
      await client.agent.accounts.disconnect(connection)
      await read()
    })
  return (
    <>
      <div class="page-head">
        <h1>Accounts</h1>
      </div>
      <p class="hint">
        With your accounts at these servers, the agent uses their tools for you alone.
      </p>
      <ErrorNote message={failure.value} />
      {!accounts.value && failure.value === '' && <Skeleton rows={3} />}
      {accounts.value?.length === 0 && (
        <Empty title="No server needs an account of your own">
          <p>The agent’s connections are shared by everybody.</p>
        </Empty>
      )}
      <ul class="collections">
        {accounts.value?.map(({ connection, connectedAt }) => (
          <li key={connection}>
            <strong>{connection}</strong>
            {connectedAt === undefined ? (
              <Button icon="add" class="primary" onClick={() => void connect(connection)}>
                {`Connect ${connection}`}
              </Button>
            ) : (
              <>
                <span class="hint"> connected on {formatDate(connectedAt)} </span>
                <Button icon="delete" onClick={() => void disconnect(connection)}>
                  {`Disconnect ${connection}`}
                </Button>
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}
