import { describe, expect, it } from 'vitest'
import {
  costWords,
  limitsOf,
  limitWords,
  remainingWords,
  todayWords,
} from '../../ui/activity/usage-words.ts'

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
    expect(remainingWords(limit, 'USD')).toBe(words)
  })
})

describe('What a person may use', () => {
  const budgets = {
    people: { tokensPerDay: 100, costPerDay: 1 },
    groups: {
      interns: { tokensPerDay: 50 },
      sales: { tokensPerDay: 70 },
      all: { tokensPerDay: 9_000, shared: true },
    },
  }
  it.each([
    [{ groups: [] }, { tokensPerDay: 100, costPerDay: 1 }],
    [{ groups: ['interns', 'sales', 'all', 'toString'] }, { tokensPerDay: 70, costPerDay: 1 }],
    [
      { groups: ['sales'], tokensPerDay: 5 },
      { tokensPerDay: 5, costPerDay: 1 },
    ],
  ])('is their own limit, the highest of their groups, or that of everybody: %j', (who, limits) => {
    expect(limitsOf(who, budgets)).toEqual(limits)
    expect(limitsOf(who, {})).toEqual({
      tokensPerDay: undefined,
      costPerDay: undefined,
      ...own(who),
    })
  })
})

const own = ({ groups: _, ...limits }: { groups: string[]; tokensPerDay?: number }) => limits

describe('What was used today', () => {
  const used = { tokens: 1_010, cost: 0.5 }
  it.each([
    [{}, '1,010 tokens and $0.50 today'],
    [{ tokensPerDay: 2_000 }, '1,010 of 2,000 tokens and $0.50 today'],
    [{ costPerDay: 2 }, '1,010 tokens and $0.50 of $2.00 today'],
  ])('stands beside the limits %j', (limits, words) => {
    expect(todayWords(used, limits, 'USD')).toBe(words)
  })

  it('has no money where no model has a price, unless that is limited', () => {
    const unpriced = { tokens: 5, cost: undefined }
    expect(todayWords(unpriced, {}, 'USD')).toBe('5 tokens today')
    expect(todayWords(unpriced, { costPerDay: 2 }, 'USD')).toBe('5 tokens and $0.00 of $2.00 today')
  })

  it('is no part of the limits themselves', () => {
    expect(limitWords({ tokensPerDay: 5, costPerDay: 2 }, 'USD')).toBe('5 tokens and $2.00')
    expect(limitWords({}, 'USD')).toBe('')
  })
})
