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
  return `## Attachment: ${file.name}\n\n${await textWithin(file, number, read)}\n\n`
}

/** The text of a file within a file, or why there is none. */
export async function textWithin(
  file: SourceFile,
  number: number,
  read: ReadWithin,
): Promise<string> {
  const { mediaType, bytes } = file
  try {
    return (await read(file, number)).text
  } catch (error) {
    if (!(error instanceof ExtractionError) || error.code === 'extraction_timeout') throw error
    const kind = mediaType === '' ? '' : `${mediaType}, `
    return `(${kind}${bytes.length} bytes. ${error.message}.)`
  }
}
