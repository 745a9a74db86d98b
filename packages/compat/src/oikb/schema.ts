import { boundedText, Flag, filledText, jsonText, optional } from '@agent-server/lib/fields.ts'
import { parseJson } from '@agent-server/lib/text/json.ts'
import { DocumentAccess } from '@agent-server/schemas/access.ts'
import { CollectionName } from '@agent-server/schemas/collection.ts'
import { ErrorBody } from '@agent-server/schemas/error.ts'
import { DocumentForm } from '@agent-server/schemas/new-document.ts'
import { z } from 'zod'

// Shapes of what oikb 0.6 sends and reads: https://github.com/open-webui/oikb.

/** Files of one source, and of one answer that lists them. */
export const MAX_FILES = 50_000
/** JSON values of the largest manifest: each file is an object with four fields. */
export const MANIFEST_VALUES = 6 * MAX_FILES

const MAX_PATH = 1_000
const Directory = boundedText(MAX_PATH)
const FileName = filledText(MAX_PATH).describe('Name of the file.')

export const KnowledgeParams = z.object({
  id: CollectionName.describe('The knowledge base: the name of a collection.'),
})

const ManifestEntry = z.object({
  path: Directory.describe('The directory of the file; empty at the top.'),
  filename: FileName,
  checksum: boundedText(500).describe('A value that changes whenever the file does.'),
  size: optional(z.number()).describe('Has no effect.'),
})

export const Manifest = z
  .object({
    manifest: z.array(ManifestEntry).max(MAX_FILES).describe('Every file of the source.'),
  })
  .meta({
    id: 'SyncManifest',
    examples: [
      { manifest: [{ path: 'guide', filename: 'hours.md', checksum: '3f2a', size: 120 }] },
    ],
  })

const SyncPlace = z.object({
  path: z.string().describe('The directory of the file; empty at the top.'),
  filename: z.string().describe('Name of the file.'),
})

export const SyncDiff = z
  .object({
    added: z.array(SyncPlace).describe('Files to upload.'),
    modified: z
      .array(
        SyncPlace.extend({
          stale_file_id: z
            .string()
            .describe('Has no effect in `cleanup`: the next upload replaces the file.'),
        }),
      )
      .describe('Files to upload again.'),
    deleted: z
      .array(
        SyncPlace.extend({
          file_id: z.string().describe('Identifier of the document, for `cleanup`.'),
        }),
      )
      .describe('Files that are no longer in the manifest.'),
    unmodified_count: z.int().describe('Number of files that are up to date.'),
    mkdir: z.array(z.string()).describe('Directories that have no document yet.'),
    rmdir: z.array(z.string()).describe('Directories that are no longer in the manifest.'),
    directory_map: z.record(z.string(), z.string()).describe('The id of each directory.'),
  })
  .meta({ id: 'SyncDiff' })

export const Cleanup = z
  .object({
    file_ids: z.array(z.string().max(300)).max(MAX_FILES).describe('Documents to delete.'),
    dir_ids: optional(z.array(Directory).max(MAX_FILES)).describe(
      'Has no effect: a directory disappears with its last document.',
    ),
  })
  .meta({
    id: 'SyncCleanup',
    examples: [{ file_ids: ['handbook~guide-hours.md-9c41d7e2b60a4f18'] }],
  })

export const Removed = z
  .object({ removed: z.int().describe('Documents deleted.') })
  .meta({ id: 'SyncRemoved' })

export const NewDirectory = z
  .object({
    name: FileName.describe('Name of the directory.'),
    parent_id: optional(Directory).describe('The directory that it is in; none at the top.'),
  })
  .meta({ id: 'CreateSyncDirectory', examples: [{ name: 'guide' }] })

export const DirectoryCreated = z
  .object({
    id: z.string().describe('Identifier of the directory.'),
    name: z.string().describe('Name of the directory.'),
    parent_id: z.string().nullable().describe('The directory that it is in; null at the top.'),
  })
  .meta({ id: 'SyncDirectory' })

/** What the form field `metadata` says about the file after it. */
export const UploadFields = z.object({
  metadata: jsonText(10_000, 'must be a JSON object').pipe(
    z.object({
      knowledge_id: CollectionName,
      file_hash: boundedText(500),
      directory_id: optional(Directory),
      // oikb 0.6 sends none; programs that know who may read a file in its source add it.
      access: DocumentAccess,
    }),
  ),
})

export const UploadForm = z
  .object({
    metadata: z
      .string()
      .max(10_000)
      .describe(
        'JSON with `knowledge_id`, `file_hash` and `directory_id`, and `access` as in CreateDocument, which oikb itself does not send; sent before the file.',
      ),
    file: DocumentForm.shape.file,
  })
  .meta({
    id: 'SyncUpload',
    examples: [
      { metadata: '{"knowledge_id": "handbook", "file_hash": "3f2a"}', file: '%PDF-1.7 …' },
    ],
  })

export const ResetQuery = z.object({
  include_directories: z
    .union([Flag, z.enum(['True', 'False'])])
    .optional()
    .describe('Has no effect: directories disappear with their documents.'),
})

export const KnowledgeBase = z
  .object({
    id: z.string().describe('The name of the collection.'),
    name: z.string().describe('The name of the collection.'),
    description: z.string().describe('Always empty.'),
  })
  .meta({ id: 'SyncKnowledgeBase' })

export const SyncedFile = z
  .object({
    id: z.string().describe('Identifier of the document.'),
    filename: z.string().describe('Name of the file.'),
    meta: z
      .object({
        name: z.string().describe('Path and name in the source.'),
        size: z.int().describe('Size in bytes.'),
        file_hash: z.string().describe('The checksum with which it was uploaded.'),
      })
      .describe('Facts about the file.'),
  })
  .meta({ id: 'SyncedFile' })

export const Uploaded = SyncedFile.pick({ id: true, filename: true }).meta({ id: 'SyncUploaded' })

export const SyncedFiles = z
  .object({
    items: z.array(SyncedFile).describe(`The files; at most ${MAX_FILES.toLocaleString('en')}.`),
    total: z.int().describe('Number of files.'),
  })
  .meta({ id: 'SyncedFiles' })

/** Errors have a `detail`, which oikb shows, beside the common envelope. */
export const OIKB_ERROR = {
  schema: ErrorBody.extend({ detail: z.string().describe('The message of the error.') }).meta({
    id: 'SyncError',
  }),
  toErrorBody: (body: ErrorBody) => ({ detail: body.error.message, ...body }),
}

/** What the status line may hold. */
const MAX_REASON = 300

/** The message of an error for the status line, which is all that the program shows of most answers. */
export function reasonOf(body: string): string | undefined {
  const { detail } = OIKB_ERROR.schema.safeParse(parseJson(body)).data ?? {}
  return detail?.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_REASON)
}

export type Manifest = z.output<typeof Manifest>
export type SyncDiff = z.output<typeof SyncDiff>
export type Cleanup = z.output<typeof Cleanup>
export type SyncedFile = z.output<typeof SyncedFile>
export type Uploaded = z.output<typeof Uploaded>
export type SyncedFiles = z.output<typeof SyncedFiles>
