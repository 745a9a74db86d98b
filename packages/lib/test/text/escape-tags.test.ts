import { escapeTags } from '@agent-server/lib/text/escape-tags.ts'
import { expect, it } from 'vitest'
import { processorMs } from '../../../../test/support/processor-time.ts'

const LENGTH = 200_000
const MAX_MS = 200

it('Tags of the names are escaped, whatever stands in their gaps, and no others', () => {
  const text = '</a> < / A > <\u200b/\u200ba> <ab> < b> 1 < 2 </p>'
  expect(escapeTags(text, 'a')).toBe(
    '&lt;/a> &lt; / A > &lt;\u200b/\u200ba> &lt;ab> < b> 1 < 2 </p>',
  )
})

it.each(['<… ', '</… ', '<…\u200b', '…< ', '…</', '…< / ', '<…/ '])(
  'A text of many signs such as %s takes no longer than its length',
  (shape) => {
    const [once = '', repeated = ''] = shape.split('…')
    const text = once + repeated.repeat(LENGTH / repeated.length)
    const before = processorMs()
    escapeTags(text, 'passages', 'documents')
    expect(processorMs() - before).toBeLessThan(MAX_MS)
  },
)
