import { normalize, resolve, sep } from 'node:path'
import { z } from 'zod'
import { Access } from '../access.ts'
import { CollectionName } from '../collection.ts'

const MAX_FOLDERS = 16
/** It is stored in the metadata of each document, whose values are no longer. */
const MAX_PATH = 500

/** Ids of groups may contain commas. */
export const BETWEEN_FOLDERS = /,(?![^<]*>)/

/** A folder whose files the server keeps as documents. */
export interface FolderToWatch {
  /** As it is set, in its shortest form; relative paths are relative to the working directory. */
  path: string
  /** The collection of its documents; if absent, they are where they are put. */
  collection?: string | undefined
  /** Who may read its documents; if absent, whoever may read their collection. */
  access?: string[] | undefined
}

/** The folder of an entry such as `./inbox` or `handbook=/srv/handbook <group:hr|user:ada>`. */
export function toFolder(entry: string): FolderToWatch {
  const { place = '', readers } =
    /^(?<place>.*?)(?:<(?<readers>[^<>]*)>)?$/s.exec(entry)?.groups ?? {}
  const { collection, path = '' } = /^(?<collection>[^=]*)=(?<path>.+)$/s.exec(place)?.groups ?? {}
  const access = readers === undefined ? {} : { access: principalsIn(readers) }
  const isNamed = CollectionName.safeParse(collection).success
  return isNamed
    ? { path: shortest(path), collection, ...access }
    : { path: shortest(place), ...access }
}

function principalsIn(readers: string): string[] {
  const entries = readers.split('|').map((entry) => entry.trim())
  const { data } = Access.safeParse(readers.trim() === '' ? [] : entries)
  return data ?? entries
}

/** The folders of a value of WATCH_FOLDERS, right or wrong. */
export function foldersIn(value = ''): FolderToWatch[] {
  const entries = value.split(BETWEEN_FOLDERS).filter((entry) => entry.trim() !== '')
  return entries.map((entry) => toFolder(entry.trim()))
}

/** Whether the entries are few folders, none of them within another. */
export function areFolders(entries: readonly string[]): boolean {
  const folders = entries.map(toFolder)
  const paths = folders.map(({ path }) => path)
  const isGiven = (entry: string) => /^\s*[^\s<]/.test(entry) && !/=\s*(?:<|$)/.test(entry)
  const isReadable = ({ access }: FolderToWatch) => Access.optional().safeParse(access).success
  const isApart = (path: string, n: number) =>
    !paths.some((other, m) => m < n && overlap(path, other))
  return (
    entries.length <= MAX_FOLDERS &&
    entries.every(isGiven) &&
    folders.every(isReadable) &&
    paths.every(
      (path, n) => path.length <= MAX_PATH && !/[<>\p{Cc}]/u.test(path) && isApart(path, n),
    )
  )
}

/** Whether one of two paths is the other, or within it. */
export function overlap(one: string, other: string): boolean {
  const [shorter = '', longer = ''] = [inside(one), inside(other)].sort(
    (a, b) => a.length - b.length,
  )
  return longer.startsWith(shorter)
}

/** What the path of everything within begins with. */
function inside(path: string): string {
  const whole = resolve(path)
  return whole.endsWith(sep) ? whole : whole + sep
}

const shortest = (path: string) => normalize(path.trim()).replace(/(?<=[^\\/])[\\/]+$/, '')

const WatchedFolder = z
  .object({
    path: z.string().describe('Path of the folder, as in WATCH_FOLDERS.'),
    collection: z.string().optional().describe('The collection that its documents are put into.'),
    access: Access.optional().describe(
      'Who may read its documents, if WATCH_FOLDERS says so; otherwise whoever may read their collection.',
    ),
    state: z
      .enum(['starting', 'following', 'waiting', 'elsewhere', 'failed'])
      .describe(
        '`waiting`: many documents are queued, so no more are added for now. `elsewhere`: another server follows this folder. `failed`: nothing is added or deleted, see `problem`.',
      ),
    problem: z.string().optional().describe('Why nothing is added or deleted, and how to fix it.'),
    files: z.int().describe('Files found by the last scan.'),
    open: z.int().describe('New, changed and deleted files that have not been processed yet.'),
    lookedAt: z.iso.datetime().optional().describe('When all files were last scanned.'),
    refused: z
      .array(
        z.object({
          path: z.string().describe('Path of the file within the folder.'),
          reason: z.string().describe('Why it has no current document.'),
        }),
      )
      .describe('Files without a current document, and why; at most 20 of them.'),
    refusedCount: z.int().describe('Total number of such files.'),
  })
  .meta({ id: 'WatchedFolder' })

export const WatchedFolders = z
  .object({ folders: z.array(WatchedFolder).describe('The folders of WATCH_FOLDERS.') })
  .meta({ id: 'WatchedFolders' })

export type WatchedFolder = z.output<typeof WatchedFolder>
export type WatchedFolders = z.output<typeof WatchedFolders>
