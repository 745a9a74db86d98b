import { describe, expect, it } from 'vitest'
import { chunk, DONE, streamReply, textReply } from '../../../../test/support/upstream-replies.ts'
import { startModel } from './model-for-test.ts'

const THOUGHT = 'Library hours: the notice says nine.\n</think>\n\nAt nine.'

describe('Thinking of which the prompt holds the first mark', () => {
  it.each(['deepseek-r1-distill', 'Qwen3-30B-A3B-Thinking-2507', 'qwq:32b'])(
    'is kept out of the very first answer of %s',
    async (model) => {
      const { upstream, ask } = await startModel({ model })
      upstream.script(textReply(THOUGHT), textReply(THOUGHT))
      for (const _turn of [1, 2]) {
        expect(await ask()).toMatchObject({
          text: 'At nine.',
          reasoning: 'Library hours: the notice says nine.\n',
        })
      }
    },
  )

  it('is not looked for where the server tells it apart, so that the answer streams', async () => {
    const { upstream, ask } = await startModel({ model: 'qwen3:8b' })
    upstream.script(
      streamReply(
        chunk({ reasoning: 'Hours.' }),
        chunk({ content: 'At ' }),
        chunk({ content: 'nine.' }, 'stop'),
        DONE,
      ),
    )
    expect(await ask()).toMatchObject({ text: 'At nine.', reasoning: 'Hours.' })
  })

  it('is not taken from a model that writes none', async () => {
    const { upstream, ask } = await startModel({ model: 'qwen3-coder' })
    upstream.script(textReply('At nine.'))
    expect(await ask()).toMatchObject({ text: 'At nine.', reasoning: '' })
  })
})
