import { expect, it } from 'vitest'
import { processorMs } from '../../../test/support/processor-time.ts'
import { withoutTerminalCodes } from '../src/terminal-codes.ts'

it.each([
  ['\u001b[31mred\u001b[0m and \u001b[1;4mbold', 'red and bold'],
  ['\u001b]0;a title\u0007text', 'text'],
  ['a\u001bThe b', 'a\u001bThe b'],
  ['\u009bData Oslo', '\u009bData Oslo'],
])('Of %j, the text is left', (written, text) => {
  expect(withoutTerminalCodes(written)).toBe(text)
})

it.each(['\u001b]aaaa', '\u001b]0;aaaa', '\u001b[0', '\u001b[    '])(
  'Many of %j take time that grows with them',
  (part) => {
    const text = part.repeat(200_000)
    const before = processorMs()
    withoutTerminalCodes(text)
    expect(processorMs() - before).toBeLessThan(1_000)
  },
)
