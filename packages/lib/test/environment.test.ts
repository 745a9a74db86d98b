import { expandVariables, namesVariable, secretsIn } from '@agent-server/lib/environment.ts'
import { describe, expect, it } from 'vitest'

const ENVIRONMENT = { TOKEN: 'secret', EMPTY: '' }
const reference = (inside: string) => `$\{${inside}}`

describe('a reference to a variable', () => {
  it.each([
    [`Bearer ${reference('TOKEN')}`, 'Bearer secret'],
    [`${reference('TOKEN')}-${reference('TOKEN')}`, 'secret-secret'],
    [reference('MISSING:-otherwise'), 'otherwise'],
    [reference('EMPTY:-otherwise'), 'otherwise'],
    [reference('TOKEN:-otherwise'), 'secret'],
    ['$TOKEN', '$TOKEN'],
    ['no variable', 'no variable'],
  ])('is replaced: %s', (text, expanded) => {
    expect(expandVariables(text, ENVIRONMENT)).toBe(expanded)
  })

  it.each(['MISSING', 'EMPTY'])('fails with the name where there is no value: %s', (name) => {
    expect(() => expandVariables(reference(name), ENVIRONMENT)).toThrow(
      `The variable ${name} is not set`,
    )
  })

  it('is not expanded within a variable’s value', () => {
    const nested = { OUTER: reference('TOKEN'), TOKEN: 'secret' }
    expect(expandVariables(reference('OUTER'), nested)).toBe(reference('TOKEN'))
  })

  it('is read anew at each use', () => {
    const text = reference('TOKEN')
    expect([namesVariable(text), namesVariable(text), namesVariable('TOKEN')]).toEqual([
      true,
      true,
      false,
    ])
  })
})

describe('Secret values', () => {
  it('are those of secret variables and of all references in the configuration, longest first', () => {
    const environment = {
      CHAT_API_KEY: 'key-12345',
      CHAT_MODEL: 'a-model-name',
      CHAT_BASE_URL: 'https://user:word@models.example',
      WEBHOOK_SECRET: 'short',
      GITHUB_TOKEN: 'key-12345-and-more',
    }
    const { GITHUB_TOKEN: _, ...own } = environment
    expect(secretsIn(environment, Object.keys(own), ['GITHUB_TOKEN', 'NOT_SET'])).toEqual([
      'https://user:word@models.example',
      'key-12345-and-more',
      'key-12345',
    ])
  })
})
