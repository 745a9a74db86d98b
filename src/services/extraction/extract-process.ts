import { endWithParent } from '../../lib/end-with-parent.ts'
import { extractFile } from './extract-file.ts'
import { cutText, ExtractionError, type FromReader, packText, type ToReader } from './extracted.ts'

// The whole of a process of its own, so that a file can take no more memory or time than it is given. Beside
// the jobs of src/lib/job-process.ts: it reads many files, and neither file nor text passes as one message.

const MAX_CAUSE = 4_096
endWithParent()
let file: { name: string; mediaType: string; bytes: Buffer; filled: number } | undefined

process.on('message', (message: ToReader) => {
  if (message.kind === 'begin') {
    const { name, mediaType, size } = message
    file = { name, mediaType, bytes: Buffer.allocUnsafeSlow(size), filled: 0 }
  } else if (message.kind === 'piece') {
    if (!file) return
    file.bytes.set(message.bytes, file.filled)
    file.filled += message.bytes.length
  } else void finish()
})

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
    const { code, message, cause } = error
    const stack = cause instanceof Error ? (cause.stack ?? cause.message) : undefined
    answer({ kind: 'refused', code, message, cause: stack?.slice(0, MAX_CAUSE) })
  }
}

function answer(message: FromReader): void {
  process.send?.(message)
}
