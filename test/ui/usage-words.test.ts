import { describe, expect, it } from 'vitest'
import { costWords, leftWords } from '../../ui/activity/usage-words.ts'

describe('What something has cost', () => {
  it.each([
    [{ cost: 12.5 }, '€12.50'],
    [{ cost: 0.00007 }, '€0.00007'],
    [{ cost: 0 }, '€0.00'],
    [{ cost: 1, unpricedCalls: 1_200 }, '€1.00 and 1,200 unpriced'],
    [{ unpricedCalls: 3 }, 'no price'],
    [{}, 'no price'],
  ])('is told, and never as nothing where it is unknown: %j', (amounts, words) => {
    expect(costWords(amounts, 'EUR')).toBe(words)
  })
})

describe('What is left for today', () => {
  it.each([
    [
      { of: 'person' as const, id: 'user:ada', tokensPerDay: 1_000, tokensLeft: 0 },
      'You have 0 of 1,000 tokens left today, until midnight UTC.',
    ],
    [
      {
        of: 'group' as const,
        id: 'sales',
        tokensPerDay: 10,
        tokensLeft: 5,
        costPerDay: 2,
        costLeft: 1,
      },
      'The group sales has 5 of 10 tokens, and $1.00 of $2.00 left today, until midnight UTC.',
    ],
  ])('is told of each limit', (limit, words) => {
    expect(leftWords(limit, 'USD')).toBe(words)
  })
})
