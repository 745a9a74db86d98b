export type ToolDigests = ReadonlyMap<string, string>

/** Which tool definitions of MCP servers were accepted, by all servers on the store. */
export interface AcceptedTools {
  /** What was accepted of a connection; undefined if it, or its URL, was never seen. */
  accepted(connection: string, url: string): Promise<ToolDigests | undefined>
  /**
   * What was accepted of a connection. If it, or its URL, is seen for the first time, that is `tools`; while it has fewer
   * than `mostNew`, those of names that were never seen as well.
   */
  see(connection: string, url: string, tools: ToolDigests, mostNew?: number): Promise<ToolDigests>
  /** Accepts these definitions. A tool that is temporarily missing stays accepted. */
  accept(connection: string, url: string, tools: ToolDigests): Promise<void>
}

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
   * Accepts this copy in place of the one with the digest `expected`, or of none. Returns false, without a change, if
   * something else was accepted last.
   */
  keep(source: string, copy: SkillCopy, expected: string | undefined): Promise<boolean>
}

/** Everything that was accepted, to be copied to another store. */
export interface Accepted {
  connections: { name: string; url: string }[]
  tools: { connection: string; name: string; digest: string }[]
  /** With the digests of their sources. */
  copies: (SkillCopy & { source: string })[]
}
