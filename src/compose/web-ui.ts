import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { WebUi } from '../api/web-ui.ts'
import type { Config } from '../config.ts'
import { createBundle } from '../operator/web-ui/bundle.ts'
import { openSessions } from '../operator/web-ui/sessions.ts'

/** The web UI in the browser; undefined if it is switched off. `sources` is the folder `ui/`. */
export async function openWebUi(
  config: Pick<Config, 'UI' | 'DATA_DIR' | 'SERVER_API_KEY'>,
  sources: string,
  log: FastifyBaseLogger,
): Promise<WebUi | undefined> {
  if (config.UI === 'off') return undefined
  const sessions = await openSessions({
    serverApiKey: config.SERVER_API_KEY,
    file: join(config.DATA_DIR, 'web-ui-sessions.json'),
    onUnwritable: (err) =>
      log.warn({ err }, 'sessions of the web UI cannot be saved and end with this process'),
  })
  return { sessions, bundle: createBundle(sources) }
}
