import { hash } from 'node:crypto'
import { z } from 'zod'
import { attachmentToText, MAX_WITHIN, type ReadWithin } from '../within.ts'

/** What of a PDF is used here. */
interface Holder {
  getAttachments(): Promise<unknown>
  getAttachmentContent(id: string): Promise<unknown>
}

const Named = z.object({ filename: z.string() })

/** Collects the files within a PDF, those of the document and those of annotations, each once. */
export function createAttachments(pdf: Holder) {
  const names = new Map<string, string>()
  const add = (id: string, file: unknown) => {
    const name = Named.safeParse(file).data?.filename ?? id
    if (names.size < MAX_WITHIN) names.set(id, name)
  }
  return {
    add,
    async addAll(): Promise<void> {
      // What is wrong with them is no reason to refuse the document.
      const all = await pdf.getAttachments().catch(() => undefined)
      if (!(all instanceof Map)) return
      for (const [id, file] of all) add(String(id), file)
    },
    /** Their texts, each under its name. */
    async read(read: ReadWithin): Promise<string> {
      const contents = new Set<string>()
      const texts: string[] = []
      for (const [id, name] of names) {
        const content = await pdf.getAttachmentContent(id).catch(() => undefined)
        const bytes = content instanceof Uint8Array ? Buffer.from(content) : Buffer.alloc(0)
        // An annotation may show a file that the document has, too.
        const key = `${name} ${hash('sha256', bytes)}`
        if (contents.has(key)) continue
        contents.add(key)
        texts.push(await attachmentToText({ name, mediaType: '', bytes }, texts.length + 1, read))
      }
      return texts.join('')
    },
  }
}
