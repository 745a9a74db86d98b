export interface SkillCopy {
  /** Of the files alone: distinguishes this content from every other. */
  digest: string
  bytes: Uint8Array
}

/** What was accepted of each remote source of skills, with a copy of it. */
export interface SkillCopies {
  /** The digest of what was accepted last; nothing where nothing was. */
  accepted(source: string): Promise<string | undefined>
  /** The copy that is kept; nothing where there is none. */
  read(source: string): Promise<SkillCopy | undefined>
  /**
   * Accepts this copy in the place of the one with the digest `known`, or of none. False, and nothing is changed,
   * where that is not what was accepted last.
   */
  keep(source: string, copy: SkillCopy, known: string | undefined): Promise<boolean>
}
