import { refusal } from '@agent-server/schemas/invalid-request.ts'
import { type Caller, MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { AgentRequest, AttachedText } from './agent-event.ts'

/** UTF-16 code units of a file in base64. */
export const MAX_FILE = 30_000_000

/** UTF-16 code units of a file's name. */
const MAX_NAME = 120

/** A file in a message of a request, not yet read. */
export type SentFile = NewFile | StoredFile

interface NewFile {
  /** Where its content stands in the request, for a refusal. */
  field: string
  name: string
  mediaType?: string | undefined
  /** Text needs no reading. */
  content: Buffer | string
}

/** A document, which was uploaded before. */
interface StoredFile {
  /** Where its id stands in the request. */
  field: string
  documentId: string
}

/** Reads the files of a request. Throws `invalid_request` for one that cannot be read, with its field. */
export type ReadFiles = (
  files: readonly SentFile[],
  caller: Caller,
  signal: AbortSignal,
) => Promise<readonly AttachedText[]>

/** Adds the text of the files that came with a request. Throws what reading throws. */
export async function attachFiles(
  request: AgentRequest,
  files: readonly SentFile[],
  readFiles: ReadFiles,
  signal: AbortSignal,
): Promise<AgentRequest> {
  if (files.length === 0) return request
  const texts = await readFiles(files, request.caller ?? MASTER, signal)
  return { ...request, files: texts.map(({ name, text }) => ({ name: fileName(name), text })) }
}

/** Takes the place of a file in the text of a message. */
export const fileMark = (name: string | null | undefined) => `[file: ${fileName(name)}]`

/** On one line, and without what could look like a tag. */
export function fileName(name: string | null | undefined): string {
  const line = (name ?? '')
    .replaceAll(/[\s<>]+/g, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed()
  return line || 'file'
}

interface FileData {
  field: string
  name: string | null | undefined
  mediaType?: string | null | undefined
  /** Base64 or a data URL. */
  data: string
}

const DATA_URL = /^data:([^,]{0,200}),/i
const BASE64_PARAMETER = /;\s*base64$/i
const BASE64 = /^[\w+/-]+$/

/** A file from what a client sends of it. Throws AppError `invalid_request`. */
export function toSentFile({ field, name, mediaType, data }: FileData): NewFile {
  const [head, parameters] = DATA_URL.exec(data) ?? []
  const body = head === undefined ? data : data.slice(head.length)
  const isBase64 = parameters === undefined || BASE64_PARAMETER.test(parameters)
  const declared = parameters?.split(';')[0]?.trim()
  return {
    field,
    name: fileName(name),
    mediaType: declared || mediaType || undefined,
    content: isBase64 ? fromBase64(body, field) : fromPercents(body, field),
  }
}

function fromBase64(text: string, field: string): Buffer {
  const digits = text.replaceAll(/\s+/g, '').replace(/={1,2}$/, '')
  if (!BASE64.test(digits) || digits.length % 4 === 1) {
    throw refusal(field, 'must be the file in base64, or a data URL')
  }
  return Buffer.from(digits, 'base64')
}

const PERCENT = 0x25

/** Each escape is a byte, not always of UTF-8. */
function fromPercents(text: string, field: string): Buffer {
  if (/%(?![\da-f]{2})/i.test(text)) throw refusal(field, 'is a data URL with a broken escape')
  const bytes = Buffer.from(text)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const isEscape = byte === PERCENT
    bytes[length++] = isEscape
      ? Number.parseInt(bytes.toString('latin1', at + 1, at + 3), 16)
      : byte
    if (isEscape) at += 2
  }
  return bytes.subarray(0, length)
}
