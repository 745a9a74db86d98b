import { dirname, resolve } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import { createGuardedFetch } from '../lib/outbound/guarded-fetch.ts'
import { createOutboundPolicy } from '../lib/outbound/outbound-policy.ts'
import type { SkillList, SkillReload } from '../schemas/skill.ts'
import { createSkills, type LoadOptions, type Skills } from '../services/skills/create-skills.ts'
import { createSourceReader } from '../services/skills/read-source.ts'
import { createRemoteSkills } from '../services/skills/remote-skills.ts'
import type { SkillSettings } from '../services/skills/settings.ts'
import { isRemoteSource } from '../services/skills/source-kind.ts'
import type { SkillCopies } from '../stores/skill-copies.ts'

/** Of one answer; a whole repository may be in it. */
const MAXIMUM_DOWNLOAD_BYTES = 64_000_000
const IDLE_MILLISECONDS = 15_000
/** For all sources, which are read side by side. */
const LOADING_MILLISECONDS = 60_000

interface Parts {
  config: Config
  settings: SkillSettings
  copies: SkillCopies
  log: FastifyBaseLogger
}

export interface ComposedSkills extends Skills {
  /** Begins to ask remote sources, and waits for none. */
  start(): void
  /** Reads sources again: those that are named, or all. Throws `invalid_request` for one that is not configured. */
  reload(request: SkillReload, signal: AbortSignal): Promise<SkillList>
  close(): Promise<void>
}

/** The skills of the agent; paths are relative to the agent configuration. */
export async function composeSkills({
  config,
  settings,
  copies,
  log,
}: Parts): Promise<ComposedSkills> {
  const base = dirname(resolve(config.AGENT_CONFIG))
  const outbound = createGuardedFetch(createOutboundPolicy(config.OUTBOUND_ALLOW ?? []), {
    maximumBytes: MAXIMUM_DOWNLOAD_BYTES,
    idleMilliseconds: IDLE_MILLISECONDS,
  })
  const read = createSourceReader({
    resolve: (source) => resolve(base, source),
    remote: createRemoteSkills(copies),
    fetch: outbound.fetch,
  })
  const { sources } = settings
  const skills = createSkills({ settings, read, log })
  const closing = new AbortController()
  const load = (wanted: readonly string[], options: LoadOptions, signal: AbortSignal) => {
    const late = AbortSignal.timeout(LOADING_MILLISECONDS)
    return skills.load(wanted, options, AbortSignal.any([signal, closing.signal, late]))
  }
  await load(sources, { offline: true }, closing.signal)

  return {
    ...skills,
    start: () => void load(sources.filter(isRemoteSource), {}, closing.signal),
    async reload({ source, accept }, signal) {
      if (source !== undefined && !sources.includes(source)) {
        const message = 'agent.json does not name this source'
        throw new AppError('invalid_request', message, { param: 'source' })
      }
      await load(source === undefined ? sources : [source], { accept }, signal)
      signal.throwIfAborted()
      return { skills: skills.records() }
    },
    async close() {
      closing.abort(new Error('The server is being stopped'))
      await outbound.close()
    },
  }
}
