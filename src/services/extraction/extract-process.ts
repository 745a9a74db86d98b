import { Worker } from 'node:worker_threads'
import { extractFile } from './extract-file.ts'
import { cutText, ExtractionError, type FromReader, packText, type ToReader } from './extracted.ts'

// The whole of a process of its own, so that a file can take no more memory or time than it is given.
const watch = new Worker(new URL('./memory-watch-thread.ts', import.meta.url))
watch.unref()

let file: { name: string; mediaType: string; bytes: Buffer; filled: number } | undefined

process.on('message', (message: ToReader) => {
  if (message.kind === 'begin') {
    const { name, mediaType, size } = message
    watch.postMessage({ fileBytes: size })
    file = { name, mediaType, bytes: Buffer.allocUnsafeSlow(size), filled: 0 }
  } else if (message.kind === 'piece') {
    if (!file) return
    file.bytes.set(message.bytes, file.filled)
    file.filled += message.bytes.length
  } else void finish()
})
process.on('disconnect', () => process.exit())
answer({ kind: 'ready' })

async function finish(): Promise<void> {
  if (!file) return
  const { name, mediaType, bytes } = file
  file = undefined
  try {
    const { text, pageStarts } = await extractFile({ name, mediaType, bytes })
    for (const piece of cutText(text)) answer({ kind: 'text', text: packText(piece) })
    answer({ kind: 'extracted', pageStarts })
  } catch (error) {
    if (!(error instanceof ExtractionError)) throw error
    answer({ kind: 'refused', code: error.code, message: error.message })
  }
}

function answer(message: FromReader): void {
  process.send?.(message)
}
