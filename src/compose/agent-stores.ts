import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { ArtifactStore } from '../stores/artifact-store.ts'
import { createFileArtifactStore } from '../stores/files/file-artifact-store.ts'
import { fileLedgers } from '../stores/files/file-ledger.ts'
import { createFileSkillCopies } from '../stores/files/file-skill-copies.ts'
import type { OpenLedger } from '../stores/ledger.ts'
import type { SkillCopies } from '../stores/skill-copies.ts'

/** What the agent keeps beside documents. */
export interface AgentStores {
  artifacts: ArtifactStore
  openLedger: OpenLedger
  skillCopies: SkillCopies
}

/** Where servers share the authority, they share what their agents keep with it; otherwise it is in `DATA_DIR`. */
export async function openAgentStores(
  config: Config,
  { agent }: { agent?: AgentStores },
): Promise<AgentStores> {
  if (agent) return agent
  const directory = join(config.DATA_DIR, 'artifacts')
  return {
    artifacts: await createFileArtifactStore({ directory }),
    ...(await openAcceptedFiles(config)),
  }
}

/** What was accepted of MCP servers and remote skills, in `DATA_DIR`. */
export async function openAcceptedFiles({
  DATA_DIR: directory,
}: Config): Promise<Omit<AgentStores, 'artifacts'>> {
  const openLedger = fileLedgers(directory)
  const copies = { openLedger, directory: join(directory, 'skills') }
  return { openLedger, skillCopies: await createFileSkillCopies(copies) }
}
