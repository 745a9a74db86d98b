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
  { DATA_DIR: directory }: Config,
  { agent }: { agent?: AgentStores },
): Promise<AgentStores> {
  if (agent) return agent
  const openLedger = fileLedgers(directory)
  return {
    artifacts: await createFileArtifactStore({ directory: join(directory, 'artifacts') }),
    openLedger,
    skillCopies: await createFileSkillCopies({ openLedger, directory: join(directory, 'skills') }),
  }
}
