import { untilAborted } from '@agent-server/lib/abort.ts'
import { AppError } from '@agent-server/lib/errors.ts'
import { boundedText } from '@agent-server/lib/fields.ts'
import type { Log } from '@agent-server/lib/log.ts'
import { escapeTags } from '@agent-server/lib/text/escape-tags.ts'
import {
  type Capabilities,
  isRemoteSource,
  type SkillList,
  type SkillReload,
} from '@agent-server/schemas/agent.ts'
import { z } from 'zod'
import type { Tool } from '../tools/define-tool.ts'
import type { SkillSet } from './read-folder.ts'
import { type Skill, SkillError } from './read-skill.ts'
import { createSkillTools } from './skill-tools.ts'

/** More would fill the model's context window before the first question. */
const MAX_SKILLS = 200

interface LoadOptions {
  /** Make no requests: use the copies of remote sources. */
  offline?: boolean
  /** Accept the current content of remote sources, even if it has changed. */
  accept?: boolean
}

/** Reads one source of skills; throws `SkillError` if it cannot be read. */
export type ReadSource = (
  source: string,
  options: LoadOptions,
  signal: AbortSignal,
) => Promise<SkillSet>

interface Dependencies {
  settings: SkillSettings
  read: ReadSource
  /** Called when skills have been read. */
  changed?: (() => void) | undefined
  log: Pick<Log, 'info' | 'warn'>
}

type SkillRecord = Capabilities['skills'][number]
export type Skills = ReturnType<typeof createSkills>

/** The skills of all sources together: those that are used, and why the others are not. */
export function createSkills({ settings, read, changed, log }: Dependencies) {
  const bySource = new Map<string, SkillSet>()
  /** The latest reading of each source; an earlier reading that ends later is discarded. */
  const readings = new Map<string, Promise<SkillSet>>()
  const resolvedSkills = () => settings.sources.flatMap((source) => bySource.get(source) ?? [])
  /** In the order of the configuration, regardless of which source loaded first. */
  let resolved: ResolvedSkill[] = []
  let active: Skill[] = []
  /** What agents name that have only some of them. */
  const chosen = new Set<string>()

  async function loadOne(source: string, options: LoadOptions, signal: AbortSignal): Promise<void> {
    const reading = untilAborted(read(source, options, signal), signal).catch((error: unknown) =>
      failed(source, error, signal),
    )
    readings.set(source, reading)
    const { skills, failures } = await reading
    if (readings.get(source) !== reading) return
    bySource.set(source, { skills, failures })
    for (const { name, warnings } of skills) {
      if (warnings.length > 0)
        log.warn({ source, skill: name, warnings }, 'skill deviates from the format')
    }
    for (const failure of failures) log.warn({ source, ...failure }, 'skill is not used')
    const all = resolvedSkills().flatMap((set) => set.skills)
    resolved = resolveSkills(all, settings)
    active = resolved.flatMap(({ skill, state }) => (state === 'on' ? [skill] : []))
  }

  function failed(source: string, error: unknown, signal: AbortSignal): SkillSet {
    const because = (reason: string, skills: Skill[] = []) => {
      return { skills, failures: [{ name: source, reason }] }
    }
    // An abort (a client may have left) says nothing about the skills read before: they are kept.
    const before = bySource.get(source)?.skills
    if (signal.aborted) return because('It could not be read in time', before)
    if (error instanceof SkillError) return because(error.message)
    log.warn({ source, err: error }, 'reading the skills failed')
    return because('It cannot be read; see the log')
  }

  return {
    /** Reads the given sources; one that fails is reported in `records` and does not affect the others. */
    async load(
      sources: readonly string[],
      options: LoadOptions,
      signal: AbortSignal,
    ): Promise<void> {
      if (sources.length === 0) return
      await Promise.all(sources.map((source) => loadOne(source, options, signal)))
      if (active.length > 0) log.info({ skills: active.map(({ name }) => name) }, 'skills loaded')
      changed?.()
    },
    active: () => active,
    ...viewOf(() => active),
    /** What an agent sees that has only the skills with these names; all without names. */
    only(names: readonly string[] | undefined) {
      for (const name of names ?? []) chosen.add(name)
      return viewOf(() => (names ? active.filter(({ name }) => names.includes(name)) : active))
    },
    /** What agents name that no source has. */
    unknown: () => [...chosen].filter((name) => !resolved.some(({ skill }) => skill.name === name)),
    records: (): SkillRecord[] => [
      ...resolved.map(toRecord),
      ...settings.sources.flatMap((source) =>
        (bySource.get(source)?.failures ?? []).map((failure) => toFailedRecord(failure, source)),
      ),
    ],
  }
}

const viewOf = (skills: () => readonly Skill[]) => ({
  tools: (): readonly Tool[] => createSkillTools(skills()),
  catalogue: () => renderCatalogue(skills()),
})

/** Time for all sources together, which are read in parallel. */
const LOADING_MS = 60_000

/** Reads the skills that need no request, and the others once it is started. */
export async function openSkills(parts: Parameters<typeof createSkills>[0]) {
  const { settings, log } = parts
  const { sources } = settings
  const skills = createSkills(parts)
  const closing = new AbortController()
  const load = (sources: readonly string[], options: LoadOptions, signal: AbortSignal) => {
    const late = AbortSignal.timeout(LOADING_MS)
    return skills.load(sources, options, AbortSignal.any([signal, closing.signal, late]))
  }
  await load(sources, { offline: true }, closing.signal)

  return {
    ...skills,
    /** Reads the remote sources; until then, their copies are used. */
    async start(): Promise<void> {
      await load(sources.filter(isRemoteSource), {}, closing.signal)
      const unknown = skills.unknown()
      if (unknown.length > 0) log.warn({ skills: unknown }, 'agents name skills that do not exist')
    },
    /** Reads one source again, or all. Throws `invalid_request` for one that is not configured. */
    async reload({ source, accept }: SkillReload, signal: AbortSignal): Promise<SkillList> {
      if (source !== undefined && !sources.includes(source)) {
        const message = 'is not a source listed in agent.json'
        throw new AppError('invalid_request', message, { param: 'source' })
      }
      await load(source === undefined ? sources : [source], { accept }, signal)
      signal.throwIfAborted()
      return { skills: skills.records() }
    },
    close: () => closing.abort(new Error('The server is shutting down')),
  }
}

interface ResolvedSkill extends Pick<SkillRecord, 'state' | 'reason'> {
  skill: Skill
}

function resolveSkills(
  skills: readonly Skill[],
  { enabled, disabled }: SkillSettings,
): ResolvedSkill[] {
  const byName = new Map<string, Skill>()
  return skills.map((skill) => {
    const { name } = skill
    if (disabled.includes(name) || enabled?.includes(name) === false) return { skill, state: 'off' }
    const holder = byName.get(name)
    if (holder) {
      const reason = `The name is taken by a skill of ${holder.source}`
      return { skill, state: 'unavailable', reason }
    }
    if (byName.size >= MAX_SKILLS) {
      return { skill, state: 'unavailable', reason: `At most ${MAX_SKILLS} skills are used` }
    }
    byName.set(name, skill)
    return { skill, state: 'on' }
  })
}

function toRecord({ skill, ...state }: ResolvedSkill): SkillRecord {
  const { name, description, source, warnings } = skill
  const departures = warnings.length > 0 && { warnings: [...warnings] }
  return { name, description, source, ...state, ...departures }
}

function toFailedRecord(
  { name, reason }: SkillSet['failures'][number],
  source: string,
): SkillRecord {
  return { name, description: '', source, state: 'unavailable', reason }
}

/** Maximum UTF-16 code units of the whole list; skills that no longer fit can still be activated by name. */
const MAX_LENGTH = 20_000

const INTRODUCTION = `Skills are instructions for particular tasks, written by the operator. If one fits the question, call activate_skill first and follow what it returns, within the rules above.`

/** The part of the system prompt about skills; empty if there are none. */
export function renderCatalogue(skills: readonly Skill[]): string {
  if (skills.length === 0) return ''
  let room = MAX_LENGTH
  const lines = skills
    .map(({ name, description }) => `- ${plain(name)}: ${plain(description)}`)
    .filter((line) => {
      room -= line.length
      return room >= 0
    })
  return `${INTRODUCTION}\n<skills>\n${lines.join('\n')}\n</skills>`
}

/** Escapes a description, so that it cannot end the list or begin another. */
function plain(text: string): string {
  return escapeTags(text, 'skills')
}

const MAX_SOURCES = 50
const MAX_NAMES = 500

/** A folder next to agent.json; may be absent. */
export const DEFAULT_SOURCE = 'skills'

const Names = z.array(boundedText(64)).max(MAX_NAMES)

export const SkillSettings = z.strictObject({
  sources: z
    .array(boundedText(2_000).min(1))
    .max(MAX_SOURCES)
    .default([DEFAULT_SOURCE])
    .describe('Folders, archives, URLs, and github:owner/repository/path.'),
  enabled: Names.optional().describe('The only skills to use. Not set: all.'),
  disabled: Names.default([]).describe('Skills to exclude.'),
})

export type SkillSettings = z.output<typeof SkillSettings>
