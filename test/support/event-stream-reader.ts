/** One block of a server-sent event stream; a comment line is a block of its own. */
export interface StreamBlock {
  /** `message` where the block names none; `comment` for a comment. */
  event: string
  data: string
}

/**
 * The blocks of a stream as they arrive, read by the letter of
 * https://html.spec.whatwg.org/multipage/server-sent-events.html. Throws on what that does not know, and
 * on a stream that ends inside a block.
 */
export async function* readBlocks(response: Response): AsyncGenerator<StreamBlock> {
  if (!response.body) throw new Error('The answer has no body')
  let waiting = ''
  for await (const text of response.body.pipeThrough(new TextDecoderStream('utf-8', FATAL))) {
    waiting += text
    const blocks = waiting.split('\n\n')
    waiting = blocks.pop() ?? ''
    yield* blocks.map(toBlock)
  }
  if (waiting !== '') throw new Error(`The stream ends inside a block: ${waiting}`)
}

const FATAL = { fatal: true }

/** All blocks of a stream but its comments. */
export async function readAllBlocks(response: Response): Promise<StreamBlock[]> {
  const blocks = await Array.fromAsync(readBlocks(response))
  return blocks.filter(({ event }) => event !== 'comment')
}

function toBlock(text: string): StreamBlock {
  if (text.startsWith(':')) return { event: 'comment', data: text.slice(1).trim() }
  const block: StreamBlock = { event: 'message', data: '' }
  const lines = text.split('\n')
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6))
  const names = lines.filter((line) => line.startsWith('event: ')).map((line) => line.slice(7))
  if (data.length === 0 || names.length > 1 || data.length + names.length < lines.length) {
    throw new Error(`Not a server-sent event: ${text}`)
  }
  return { event: names[0] ?? block.event, data: data.join('\n') }
}
