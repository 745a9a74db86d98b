/** Whether suites run in their long form, as in CI. */
export const isLong = process.env.TEST_LONG === '1'

/** The tag of tests that the short form leaves out. */
export const ONLY_LONG = 'only-long' as const

/** Options of a test that does more in the long form. CI's long run does these and no others. */
export const long = { tags: ['long' as const] }

/** Options of a test that the long form alone has; `runIf` and `skipIf` win over them, and ask `isLong` too. */
export const onlyLong = { tags: ['long' as const, ONLY_LONG] }

/** The first of the cases, and in the long form the rest of them; given to a test with the options `long`. */
export function someOf<Case>(cases: readonly Case[], count: number): readonly Case[] {
  return isLong ? cases.slice(count) : cases.slice(0, count)
}
