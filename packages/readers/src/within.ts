import { type Extracted, ExtractionError, type SourceFile } from './extracted.ts'

/** Files within a file that are read. */
export const MAX_WITHIN = 100
/** A file may hold a file that holds a file, and so on. */
export const MAX_DEPTH = 8

/** Reads a file within a file; they are numbered from 1. */
export type ReadWithin = (file: SourceFile, number: number) => Promise<Extracted>

/** The text of a file within a file under its name, or why there is none. */
export async function attachmentToText(
  file: SourceFile,
  number: number,
  read: ReadWithin,
): Promise<string> {
  const { name, mediaType, bytes } = file
  const heading = `## Attachment: ${name}\n\n`
  try {
    const { text } = await read(file, number)
    return `${heading}${text}\n\n`
  } catch (error) {
    if (!(error instanceof ExtractionError) || error.code === 'extraction_timeout') throw error
    const kind = mediaType === '' ? '' : `${mediaType}, `
    return `${heading}(${kind}${bytes.length} bytes. ${error.message}.)\n\n`
  }
}
