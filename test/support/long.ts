/** Whether suites run in their long form, as in CI. */
export const isLong = process.env.TEST_LONG === '1'

/** Options of a test that does more in the long form. CI's long run does these and no others. */
export const long = { tags: ['long' as const] }

/** Options of a test that the long form alone has; `runIf` and `skipIf` win over them, and ask `isLong` too. */
export const onlyLong = { tags: ['long' as const, 'only-long' as const] }

/** The first of the cases, and in the long form the rest of them; given to a test with the options `long`. */
export function someOf<Case>(cases: readonly Case[], count: number): readonly Case[] {
  return isLong ? cases.slice(count) : cases.slice(0, count)
}
