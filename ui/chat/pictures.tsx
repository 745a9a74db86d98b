import type { Signal } from '@preact/signals'
import { client } from '../api.ts'
import type { ChosenFile } from '../documents/uploads.ts'
import { DataPicture } from '../parts/data-picture.tsx'
import { conversationId } from './conversation.ts'
import { type Picture, picturesOf } from './draft.ts'
import { RemoveButton } from './file-chips.tsx'
import { attach } from './files.ts'

const KIND = /^image\/(?:png|jpeg|gif|webp)$/
/** Pictures of one question, together within the default size of a request. */
const MAX_PICTURES = 10
const MAX_BYTES = 7_000_000

/** Higher than those that an earlier page of this tab has given. */
let lastId = Date.now()

/** Adds pictures to the question if the model sees and they are not too large, and all else to the conversation. */
export async function add(chosen: readonly ChosenFile[]): Promise<void> {
  const isShown = await chooseShown(chosen)
  const files = chosen.filter((one) => !isShown(one))
  const shown = await Promise.all(chosen.filter(isShown).map(toPicture))
  const pictures = picturesOf(conversationId.value)
  pictures.value = [...pictures.value, ...shown]
  if (files.length > 0 || chosen.length === 0) await attach(files)
}

async function chooseShown(chosen: readonly ChosenFile[]) {
  const pictures = chosen.filter(({ file }) => KIND.test(file.type))
  if (pictures.length === 0 || !(await seesPictures())) return () => false
  const before = picturesOf(conversationId.value).value
  let bytes = before.reduce((sum, { url }) => sum + url.length * 0.75, 0)
  const fitting = new Set<ChosenFile>()
  for (const one of pictures.slice(0, MAX_PICTURES - before.length)) {
    bytes += one.file.size
    if (bytes <= MAX_BYTES) fitting.add(one)
  }
  return (one: ChosenFile) => fitting.has(one)
}

/** Asked each time: a model may be found out not to see. */
async function seesPictures(): Promise<boolean> {
  try {
    return (await client.agent.get()).profile.images
  } catch {
    // Uploading it as a file reports the problem.
    return false
  }
}

async function toPicture({ file }: ChosenFile): Promise<Picture> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.addEventListener('load', () => resolve(String(reader.result)))
  reader.addEventListener('error', () => reject(reader.error))
  reader.readAsDataURL(file)
  lastId += 1
  return { id: lastId, name: file.name, url: await promise }
}

export function PictureChips({ pictures }: { pictures: Signal<readonly Picture[]> }) {
  if (pictures.value.length === 0) return null
  return (
    <section class="files" aria-labelledby="pictures-title">
      <h2 id="pictures-title" class="hint">
        Shown to the model with your question
      </h2>
      <ul>
        {pictures.value.map(({ id, name, url }) => (
          <li key={id} class="chip">
            <DataPicture url={url} alt="" />
            <span class="file-name">{name}</span>
            <RemoveButton
              name={name}
              onRemove={() => (pictures.value = pictures.value.filter((one) => one.id !== id))}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
