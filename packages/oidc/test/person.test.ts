import { describe, expect, it } from 'vitest'
import { personOf } from '../src/person.ts'

const settings = { subjectClaim: 'sub', groupsClaim: 'groups', adminGroup: 'admins' }

describe('Who a token describes', () => {
  it('has the name that people know, and an address that identifies nobody', () => {
    const claims = { sub: '7c1e', name: 'Ada', preferred_username: 'ada', email: 'ada@example.org' }
    expect(personOf(claims, settings)).toEqual({
      person: { id: 'user:7c1e', name: 'Ada', groups: [], isAdministrator: false },
      email: 'ada@example.org',
    })
  })

  it('is shown in one line, whatever their name holds', () => {
    const name = `Ada\n\u202e<b>${'x'.repeat(300)}`
    const { person } = personOf({ sub: '1', name }, settings)
    expect(person.name).toMatch(/^Ada <b>x+$/)
    expect(person.name).toHaveLength(200)
  })

  it.each([
    ['a list', ['a', 'b', 'a'], ['a', 'b']],
    ['one name', 'a', ['a']],
    ['no claim', undefined, []],
    ['nothing in it', [], []],
  ])('has the groups of %s', (_case, groups, expected) => {
    expect(personOf({ sub: '1', groups }, settings).person.groups).toEqual(expected)
  })

  it('has groups of a claim with dots in its name, or within others', () => {
    const named = { ...settings, groupsClaim: 'https://example.org/groups' }
    const flat = { sub: '1', 'https://example.org/groups': ['a'] }
    expect(personOf(flat, named).person.groups).toEqual(['a'])
    const nested = { ...settings, groupsClaim: 'realm_access.roles' }
    const within = { sub: '1', realm_access: { roles: ['b'] } }
    expect(personOf(within, nested).person.groups).toEqual(['b'])
  })

  it('is no administrator where no group is one', () => {
    const { adminGroup: _, ...none } = settings
    const claims = { sub: '1', groups: ['admins', 'undefined'] }
    expect(personOf(claims, none).person.isAdministrator).toBe(false)
    expect(personOf(claims, settings).person.isAdministrator).toBe(true)
  })

  it('has none of an object’s own names as a claim', () => {
    expect(
      personOf({ sub: '1' }, { ...settings, groupsClaim: 'constructor' }).person.groups,
    ).toEqual([])
    const path = { ...settings, groupsClaim: 'a.constructor.name' }
    expect(personOf({ sub: '1', a: {} }, path).person.groups).toEqual([])
  })
})
