import { addTerms, createAnalyser, shareOfTerms } from '@agent-server/search'
import { describe, expect, it } from 'vitest'
import { spellPeriods } from '../../src/retrieval/periods.ts'

describe('The periods of a question', () => {
  it.each([
    ['capex in FY2018?', 'capex in FY 2018?'],
    ['fy2019-fy2021 average', 'fy 2019-fy 2021 average'],
    ['FY18, FY\u201999', 'FY 2018, FY 1999'],
    ['CY2020', 'CY 2020'],
    ['FY2023Q1 guidance', 'FY 2023 Q1 guidance'],
    ['Q3FY22', 'Q3 FY 2022'],
    ['Q2\u201923 and Q22024', 'Q2 2023 and Q2 2024'],
    ['2Q23, 1H2024', 'Q2 2023, H1 2024'],
  ])('are written with their years as words: %s', (question, spelt) => {
    expect(spellPeriods(question)).toBe(spelt)
  })

  it.each([
    'the year 2018',
    'FY 2018 and Q2 2018',
    'in 2022 Q2, or in Q4',
    'PPR9087, FY123, FY20180, Q5\u201923',
    'H264, Q223, A4Q21',
    'What is an FY?',
  ])('are the only thing that is changed: %s', (question) => {
    expect(spellPeriods(question)).toBe(question)
  })
})

describe('A passage scores by what was typed', () => {
  const { query: analyse } = createAnalyser('english')
  const shareOf = (question: string, passage: string) => {
    const own = new Set(analyse(passage).terms)
    const asked = addTerms(analyse(question), analyse(spellPeriods(question)), 0.5)
    return shareOfTerms(asked, (term) => own.has(term))
  }

  it.each(['FY18 budget', '2Q23 revenue', 'Q22024', 'FY2023Q1 guidance', 'price of part 3H22'])(
    'and has all of it, where it is written so: %s',
    (question) => {
      expect(shareOf(question, `${question} and more`)).toBe(1)
    },
  )

  it('or also with the year, and less with another one', () => {
    expect(shareOf('FY18 budget', 'FY17 budget')).toBeLessThan(0.6)
    expect(shareOf('FY18 budget', 'The budget of 2018')).toBeGreaterThan(0.6)
  })
})
