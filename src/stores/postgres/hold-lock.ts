import { LOCK } from './migrate.ts'
import { toStoreError, unavailable } from './postgres-error.ts'
import { openSession, type Session } from './session.ts'

interface Held {
  url: string
  /** Tells it from our other locks. */
  lock: number
}

/**
 * Does `work` while this process alone holds the lock, for as long as it takes: the lock is a connection's, and ends
 * with it, whatever ends it; `work` is then aborted. False, and nothing is done, where somebody else holds it.
 */
export async function holdLock(
  { url, lock }: Held,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted()
  const lost = new AbortController()
  const onLost = () => void lost.abort(unavailable('The connection that kept others out has ended'))
  const session = await open(url, onLost)
  try {
    if (!(await take(session, lock))) return false
    await work(AbortSignal.any([signal, lost.signal]))
    return true
  } finally {
    await session.close()
  }
}

async function open(url: string, onLost: () => undefined): Promise<Session> {
  try {
    return await openSession(url, onLost)
  } catch (error) {
    throw toStoreError(error)
  }
}

async function take(session: Session, lock: number): Promise<boolean> {
  try {
    const [row] = await session.run(`SELECT pg_try_advisory_lock(${LOCK}, ${lock}) AS taken`)
    return row?.taken === true
  } catch (error) {
    throw toStoreError(error)
  }
}
