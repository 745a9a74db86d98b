/** Whether suites run in their long form, as in CI. */
export const isLong = process.env.TEST_LONG === '1'

/** All cases in the long form, else the first of them. */
export function someOf<Case>(cases: readonly Case[], count: number): readonly Case[] {
  return isLong ? cases : cases.slice(0, count)
}
