import { MAXIMUM_SKILL_BYTES, MAXIMUM_SKILL_FILES, SkillError } from './skill.ts'

/** Of all skills of one archive together. */
export const MAXIMUM_UNPACKED_BYTES = 4 * MAXIMUM_SKILL_BYTES
const MAXIMUM_UNPACKED_FILES = 4 * MAXIMUM_SKILL_FILES

export type Files = Map<string, Uint8Array>

/** Takes the files of an archive as long as there is room. */
export interface Unpacking {
  files: Files
  /** Throws `SkillError` where a file of this size would be one too many or too large. */
  reserve(path: string, size: number): void
}

export function startUnpacking(): Unpacking {
  const files: Files = new Map()
  const reserved = new Set<string>()
  let room = MAXIMUM_UNPACKED_BYTES
  return {
    files,
    reserve(path, size) {
      if (reserved.has(path)) throw new SkillError('The archive holds a path twice')
      reserved.add(path)
      room -= size
      if (room >= 0 && reserved.size <= MAXIMUM_UNPACKED_FILES) return
      throw new SkillError(
        `Unpacked, there are more than ${MAXIMUM_UNPACKED_FILES} files or ${MAXIMUM_UNPACKED_BYTES} bytes`,
      )
    },
  }
}
