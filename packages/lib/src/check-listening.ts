import { once } from 'node:events'
import { createServer } from 'node:net'
import { SetupError } from './errors.ts'
import { explainListening } from './system-error.ts'

interface Address {
  host: string
  port: number
}

/** Throws `SetupError` if no server can listen at the address; one that listens at `current` makes way for it. */
export async function checkListening({ host, port }: Address, current: Address): Promise<void> {
  const server = createServer()
  try {
    // The port of the running server is free once that has closed, at whatever address.
    server.listen({ host, port: port === current.port ? 0 : port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    const reason = error instanceof Error ? explainListening(error) : undefined
    if (reason === undefined) throw error
    throw new SetupError(reason, { cause: error })
  } finally {
    server.close()
  }
}
