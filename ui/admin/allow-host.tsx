import { client } from '../api.ts'
import { Button } from '../parts/controls.tsx'
import { ErrorNote } from '../parts/notes.tsx'
import { readServerState } from './server-state.ts'
import { useWork } from './work.tsx'

/** Offers to allow a host that may not be called yet; trials after that may call it at once. */
export function AllowHost({ host, onAllowed }: { host: string; onAllowed: () => void }) {
  const allowing = useWork<void>(host)
  return (
    <div class="stack">
      <div class="row">
        <Button
          icon="allow"
          disabled={allowing.isBusy.value}
          onClick={() => void allowing.run(() => allow(host).then(onAllowed))}
        >
          Allow {host}
        </Button>
        <span class="hint">
          Adds the host to <code>OUTBOUND_ALLOW</code>. Tests can call it immediately, the running
          agent after a restart.
        </span>
      </div>
      <ErrorNote message={allowing.failure.value} />
    </div>
  )
}

async function allow(host: string): Promise<void> {
  const { digest, settings } = await client.admin.settings.get()
  const { value = '' } = settings.find(({ name }) => name === 'OUTBOUND_ALLOW') ?? {}
  const hosts = value.split(',').flatMap((one) => one.trim() || [])
  if (hosts.includes(host)) return
  const set = { OUTBOUND_ALLOW: [...hosts, host].join(',') }
  await client.admin.settings.save({ basedOn: digest, set })
  await readServerState()
}
