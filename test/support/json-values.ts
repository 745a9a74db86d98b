import { readAllBlocks } from './event-stream-reader.ts'

/** Each JSON value of an answer: one, or one for each event of a stream but `[DONE]`. */
export async function valuesOf(response: Response, media: string): Promise<unknown[]> {
  if (media === 'application/json') return [await response.json()]
  if (media === 'application/x-ndjson') {
    const lines = (await response.text()).trim().split('\n')
    return lines.map((line) => JSON.parse(line))
  }
  if (media !== 'text/event-stream') return [await response.text()]
  const blocks = await readAllBlocks(response)
  return blocks.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data))
}
