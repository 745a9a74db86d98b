import { LEFTOVERS } from './leftovers.ts'
import { type ChosenFile, MAX_FILES } from './uploads.ts'

/** Everything that was dropped, folders gone through; more than `MAX_FILES` are not looked for. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<ChosenFile[]> {
  // Before the first `await`: after it the browser has cleared the items.
  const entries = Array.from(items, (item) => item.webkitGetAsEntry()).filter((one) => one !== null)
  if (entries.length === 0) return chosenFiles(files)
  const found: ChosenFile[] = []
  for (const entry of entries) await walk(entry, found)
  return found
}

export function chosenFiles(files: Iterable<File>): ChosenFile[] {
  return Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file })).filter(
    ({ path }) => !LEFTOVERS.test(path),
  )
}

async function walk(entry: FileSystemEntry, found: ChosenFile[]): Promise<void> {
  if (found.length > MAX_FILES || LEFTOVERS.test(entry.fullPath)) return
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject))
    found.push({ path: entry.fullPath.slice(1), file })
  } else {
    const reader = (entry as FileSystemDirectoryEntry).createReader()
    for (;;) {
      // It returns a hundred at a time, until there are none.
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      )
      if (some.length === 0) return
      for (const one of some) await walk(one, found)
    }
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}
