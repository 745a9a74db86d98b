import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { Screen } from '../routes/screen.ts'
import { createBundle } from '../services/screen/bundle.ts'
import { openSessions } from '../services/screen/sessions.ts'

/** The screen in the browser; undefined if it is switched off. `sources` is the folder `ui/`. */
export async function openScreen(
  config: Pick<Config, 'UI' | 'DATA_DIR' | 'SERVER_API_KEY'>,
  sources: string,
  log: FastifyBaseLogger,
): Promise<Screen | undefined> {
  if (config.UI === 'off') return undefined
  const sessions = await openSessions({
    serverApiKey: config.SERVER_API_KEY,
    file: join(config.DATA_DIR, 'screen-sessions.json'),
    onUnwritable: (err) =>
      log.warn({ err }, 'sessions of the screen are not kept: they end with this process'),
  })
  return { sessions, bundle: createBundle(sources) }
}
