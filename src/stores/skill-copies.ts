export interface SkillCopy {
  /** The digest of only the files: distinguishes this content from every other. */
  digest: string
  bytes: Uint8Array
}

/** What was accepted from each remote source of skills, with a copy of it. */
export interface SkillCopies {
  /** The digest of what was accepted last; undefined if nothing was. */
  accepted(source: string): Promise<string | undefined>
  /** The stored copy; undefined if there is none. */
  read(source: string): Promise<SkillCopy | undefined>
  /**
   * Accepts this copy in place of the one with the digest `known`, or of none. Returns false, without a change, if that
   * is not what was accepted last.
   */
  keep(source: string, copy: SkillCopy, known: string | undefined): Promise<boolean>
}
