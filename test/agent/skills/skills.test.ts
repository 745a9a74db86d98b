import { describe, expect, it } from 'vitest'
import type { SkillSet } from '../../../src/agent/skills/read-folder.ts'
import { type Skill, SkillError } from '../../../src/agent/skills/read-skill.ts'
import { createSkills, type ReadSource, SkillSettings } from '../../../src/agent/skills/skills.ts'
import { skillOf } from './skill-for-test.ts'

const { signal } = new AbortController()

async function load(found: Record<string, Skill[] | Error>, settings: object = {}) {
  const sources = Object.keys(found)
  const lines: string[] = []
  const read: ReadSource = async (source) => {
    const result = found[source]
    if (result instanceof Error) throw result
    return { skills: result ?? [], failures: [] }
  }
  const write = (fields: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`)
  const skills = createSkills({
    settings: SkillSettings.parse({ sources, ...settings }),
    read,
    log: { info: write, warn: write },
  })
  await skills.load(sources, {}, signal)
  const states = skills.records().map(({ name, state }) => [name, state])
  return { skills, lines, states, sources }
}

describe('the sources of skills', () => {
  it('lack what agents name that no skill is called', async () => {
    const { skills } = await load({ a: [skillOf('tides')] })
    skills.only(['tides', 'winds'])
    skills.only(undefined)
    expect(skills.unknown()).toEqual(['winds'])
  })

  it('are used in the order of the configuration; of equal names only the first', async () => {
    const { skills, states } = await load({
      one: [skillOf('a', { source: 'one' })],
      two: [skillOf('a', { source: 'two' }), skillOf('b', { source: 'two' })],
    })
    expect(states).toEqual([
      ['a', 'on'],
      ['a', 'unavailable'],
      ['b', 'on'],
    ])
    expect(skills.records()[1]?.reason).toBe('The name is taken by a skill of one')
  })

  it('fail alone, with the reason where it is foreseen and none of it otherwise', async () => {
    const { skills, lines } = await load({
      broken: new SkillError('There is no such folder'),
      worse: new TypeError('secret words'),
      good: [skillOf('a')],
    })
    expect(skills.records().map(({ name, reason }) => [name, reason])).toEqual([
      ['a', undefined],
      ['broken', 'There is no such folder'],
      ['worse', expect.stringContaining('the log')],
    ])
    expect(lines.some((line) => line.startsWith('reading the skills failed'))).toBe(true)
  })

  it('can be read again, and what they give then replaces what they gave', async () => {
    const found: Record<string, Skill[] | Error> = { one: [skillOf('a')], two: [skillOf('b')] }
    const { skills } = await load(found)
    found.one = [skillOf('c')]
    await skills.load(['one'], {}, signal)
    expect(skills.records().map(({ name }) => name)).toEqual(['c', 'b'])
    expect(skills.catalogue()).toMatch(/- c: .*\n- b: /)
  })
})

describe('the skills that are used', () => {
  const found = { one: [skillOf('a'), skillOf('b'), skillOf('c')] }

  it.each<[object, string[]]>([
    [{}, ['a', 'b', 'c']],
    [{ disabled: ['b'] }, ['a', 'c']],
    [{ enabled: ['b', 'c'] }, ['b', 'c']],
    [{ enabled: ['b', 'c'], disabled: ['c'] }, ['b']],
    [{ enabled: [] }, []],
  ])('are those of %j', async (settings, names) => {
    const { states, skills } = await load(found, settings)
    expect(states.filter(([, state]) => state === 'on').map(([name]) => name)).toEqual(names)
    expect(skills.tools().length).toBe(names.length > 0 ? 1 : 0)
  })

  it('keep their skills if reading them is aborted', async () => {
    const { skills, sources } = await load({ one: [skillOf('a')] })
    await skills.load(sources, {}, AbortSignal.abort(new Error('The client left')))
    expect(skills.records()).toMatchObject([
      { name: 'a', state: 'on' },
      { name: 'one', reason: 'It could not be read in time' },
    ])
    expect(skills.tools()).toHaveLength(1)
  })

  it('give what the reading that began last has found, though one before it ends later', async () => {
    const found = [Promise.withResolvers<SkillSet>(), Promise.withResolvers<SkillSet>()]
    const pending = [...found]
    const skills = createSkills({
      settings: SkillSettings.parse({ sources: ['one'] }),
      read: () => pending.shift()?.promise ?? Promise.reject(new Error('Read once too often')),
      log: { info: () => undefined, warn: () => undefined },
    })
    const loads = [skills.load(['one'], {}, signal), skills.load(['one'], {}, signal)]
    found[1]?.resolve({ skills: [skillOf('new')], failures: [] })
    await loads[1]
    found[0]?.resolve({ skills: [skillOf('old')], failures: [] })
    await loads[0]
    expect(skills.records()).toMatchObject([{ name: 'new' }])
  })

  it('are at most two hundred', async () => {
    const many = Array.from({ length: 205 }, (_, index) => skillOf(`skill-${index}`))
    const { states } = await load({ one: many })
    expect(states.filter(([, state]) => state === 'unavailable')).toHaveLength(5)
  })

  it('are logged once, unless there are none', async () => {
    const { skills, lines } = await load({ one: [skillOf('a')] })
    await skills.load([], {}, signal)
    expect(lines).toEqual(['skills loaded {"skills":["a"]}'])
  })

  it('are logged if they deviate from the format', async () => {
    const { lines } = await load({ one: [skillOf('a', { warnings: ['version: is not a field'] })] })
    expect(lines.find((line) => line.includes('deviates from the format'))).toContain('version')
  })
})
